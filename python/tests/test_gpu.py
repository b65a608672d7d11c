"""Arrays on GPUs, sorted where they lie. Skipped where there is no GPU, or no library with such arrays."""

import contextlib
import threading

import numpy as np
import pytest
import sortie
import tensors

if len(sortie.devices()) == 1:
    pytest.skip("this machine has no GPU that works", allow_module_level=True)

rng = np.random.default_rng(31)


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("this torch has no CUDA")
    return torch


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy", reason="CuPy is not installed")


TORCH = ["uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "bool"]


def equal(torch, a, b):
    """Whether tensors are equal, NaNs included."""
    a, b = a.double() if a.is_floating_point() else a, b.double() if b.is_floating_point() else b
    return a.shape == b.shape and bool(torch.all((a == b) | ((a != a) & (b != b))))


@pytest.mark.parametrize("name", TORCH)
@pytest.mark.parametrize("shape", [(1,), (1000,), (300_000,), (50, 1000), (7, 3, 33), (0,), (4, 0)], ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_torch(torch, name, shape, descending):
    a = tensors.numbers(torch, name, shape, "cuda")
    for axis in range(-1, len(shape)):
        # torch puts NaNs first in descending order.
        want = a.clone()
        if a.is_floating_point() and descending:
            want[want != want] = -float("inf")
        want, indices = torch.sort(want, dim=axis, descending=descending, stable=True)
        if a.is_floating_point() and descending:
            want = torch.where(want == -float("inf"), float("nan"), want).to(a.dtype)
        before = a.clone()
        found = sortie.sort(a, axis, descending=descending)
        assert found.dtype == a.dtype and found.device == a.device
        assert equal(torch, found, want) and equal(torch, a, before)
        assert torch.equal(sortie.argsort(a, axis, descending=descending), indices)
        assert torch.equal(sortie.argsort(a, axis, descending=descending, dtype=np.int32).long(), indices)
        b = a.clone()
        assert sortie.sort_inplace(b, axis, descending=descending) is None
        assert equal(torch, b, want)
    flat = sortie.sort(a, axis=None)
    assert equal(torch, flat, torch.sort(a.reshape(-1)).values)


@pytest.mark.parametrize("name", TORCH)
@pytest.mark.parametrize(
    "shape", [(1,), (1000,), (300_000,), (50, 1000), (7, 3, 33), (3, 20_000), (0,), (4, 0), (0, 4)], ids=str
)
@pytest.mark.parametrize("largest", [False, True])
def test_torch_top_k(torch, name, shape, largest):
    a = tensors.numbers(torch, name, shape, "cuda")
    for axis in [*range(-1, len(shape)), None]:
        for nans in ("last", "first"):
            for order in ("numpy", "total"):
                indices = sortie.argsort(a, axis, descending=largest, nans=nans, order=order)
                lanes = a.reshape(-1) if axis is None else a
                along = -1 if axis is None else axis
                for k in {0, 1, 7, 1000} & set(range(lanes.shape[along] + 1)):
                    want = indices.narrow(along, 0, k)
                    options = {"axis": axis, "largest": largest, "nans": nans, "order": order}
                    assert torch.equal(sortie.arg_top_k(a, k, **options), want)
                    assert torch.equal(sortie.arg_top_k(a, k, dtype=np.int32, **options).long(), want)
                    found = sortie.top_k(a, k, **options)
                    assert found.dtype == a.dtype and found.device == a.device
                    assert equal(torch, found, torch.take_along_dim(lanes, want, along))


def test_top_k_on_a_gpu_is_as_on_the_cpu(torch):
    values = torch.tensor([0.0, -0.0, float("nan"), 1.0, -float("nan"), -1.0]).repeat(20_000)
    for a in (values, values.reshape(100, -1), values.reshape(3, -1)):
        for k in (1, 5, 1000):
            found = sortie.arg_top_k(a.cuda(), k, nans="first")
            assert torch.equal(found.cpu(), sortie.arg_top_k(a, k, nans="first"))


@pytest.mark.parametrize("name", TORCH)
def test_torch_searchsorted(torch, name):
    for n, m in ((0, 5), (1, 5), (1000, 33), (5000, 300_000), (300_000, 300_000)):
        a = torch.sort(tensors.numbers(torch, name, (n,), "cuda")).values
        if a.is_floating_point():
            # torch searches for NaN as for a number.
            a = torch.sort(torch.nan_to_num(a)).values
        for v in (tensors.numbers(torch, name, (m,), "cuda"), tensors.numbers(torch, name, (m // 4, 4), "cuda"), a, a.flip(0)):
            v = torch.nan_to_num(v) if v.is_floating_point() else v
            for right in (False, True):
                # torch does not search bool.
                wide = (a.byte(), v.byte()) if name == "bool" else (a, v)
                found = sortie.searchsorted(a, v, "right" if right else "left")
                assert torch.equal(found, torch.searchsorted(*wide, right=right))
    a = torch.randint(0, 100, (1000,), device="cuda")
    order = sortie.argsort(a)
    assert torch.equal(sortie.searchsorted(a, a, sorter=order), torch.searchsorted(a[order], a))
    assert torch.equal(sortie.searchsorted(a[order].repeat_interleave(2)[::2], a[::3]), torch.searchsorted(a[order], a[::3]))


def test_searchsorted_on_a_gpu_is_numpys(torch, cupy):
    few = np.array([-1.0, 0.0, -0.0, 0.0, 2.0, -np.nan, np.nan])
    for a in (few, few.repeat(1000).astype("f4")):
        for v in (a, a[::-1].copy(), np.array([np.nan, -0.0, np.inf, 1.0, -np.nan], a.dtype)):
            for side in ("left", "right"):
                expected = np.searchsorted(a, v, side)
                found = sortie.searchsorted(torch.from_numpy(a).cuda(), torch.from_numpy(v).cuda(), side)
                assert np.array_equal(found.cpu().numpy(), expected)
                found = sortie.searchsorted(cupy.asarray(a), cupy.asarray(v), side)
                assert np.array_equal(cupy.asnumpy(found), expected)
    b = torch.rand(10, device="cuda")
    for v in (np.zeros(3), torch.zeros(3), b.double(), cupy.zeros(3, "f4")):
        with pytest.raises(TypeError):
            sortie.searchsorted(b, v)
    with pytest.raises(ValueError, match="2 axes"):
        sortie.searchsorted(b.reshape(2, 5), b)


@pytest.mark.parametrize("name", [name for name in TORCH if name != "bool"])
def test_torch_histogram(torch, name):
    for n in (0, 1, 5000, 300_000):
        a = tensors.numbers(torch, name, (n,), "cuda")
        # NumPy has no bfloat16.
        host = (a.float() if name == "bfloat16" else a).cpu().numpy()
        finite = host[np.isfinite(host)]
        low, high = (finite.min(), finite.max()) if finite.size else (0, 1)
        for bins in (1, 10, [low, high], np.linspace(float(low), float(high), 1001), np.linspace(float(low), float(high), 3001), [-1.5, 0, 0, 7.5]):
            limits = (float(low), float(high) + 1) if np.ndim(bins) == 0 else None
            expected, edges = sortie.histogram(host, bins, limits)
            counts, found = sortie.histogram(a, bins, limits)
            assert counts.tolist() == expected.tolist() and found.cpu().numpy().tolist() == edges.tolist()


def test_histograms_on_a_gpu_are_numpys(torch, cupy):
    a = np.random.default_rng(1).normal(size=(100, 301)).astype("f4")
    for array in (torch.from_numpy(a).cuda(), cupy.asarray(a), torch.from_numpy(a).cuda()[:, ::3], cupy.asarray(a)[::2]):
        host = array.cpu().numpy() if isinstance(array, torch.Tensor) else array.get()
        for density in (False, True):
            expected, edges = np.histogram(host, 50, density=density)
            counts, found = sortie.histogram(array, 50, density=density)
            assert np.allclose(counts.tolist(), expected, rtol=1e-12) and found.tolist() == edges.tolist()
    x = torch.tensor([0.0, -0.0, 1.0, float("nan")], device="cuda")
    assert sortie.histogram(x, torch.tensor([0.0, 1.0], device="cuda"))[0].tolist() == [3]
    assert sortie.histogram(x > 0.5, 2)[0].tolist() == [3, 1]
    assert sortie.histogram(x.byte(), [300, 400])[0].tolist() == [0]
    with pytest.raises(ValueError, match="NaN"):
        sortie.histogram(x, [0.0, float("nan"), 3.0])
    for arguments in ({"weights": x}, {"bins": "auto"}):
        with pytest.raises(TypeError, match="on a GPU"):
            sortie.histogram(x, **arguments)


@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
def test_ranks_on_a_gpu_are_those_of_the_cpu(torch, cupy, method):
    rng = np.random.default_rng(2)
    for a in (rng.integers(0, 9, 1000), rng.choice([0.0, -0.0, 1.5, np.nan, np.inf], (30, 7)), rng.random((5, 6, 7)), np.empty((0, 3), "f4")):
        for axis in (None, *range(a.ndim)):
            for policy in ("propagate", "omit"):
                expected = sortie.rank(a, method, axis=axis, nan_policy=policy)
                for array in (torch.from_numpy(a).cuda(), cupy.asarray(a)):
                    found = sortie.rank(array, method, axis=axis, nan_policy=policy)
                    found = found.cpu().numpy() if isinstance(found, torch.Tensor) else found.get()
                    assert found.dtype == expected.dtype and np.array_equal(found, expected, equal_nan=True)
    with pytest.raises(ValueError, match="nan"):
        sortie.rank(torch.tensor([float("nan")], device="cuda"), nan_policy="raise")


def test_joins_and_modes_on_a_gpu_are_those_of_the_cpu(torch, cupy):
    rng = np.random.default_rng(3)
    for n, m, distinct in ((0, 5, 9), (5, 0, 9), (300, 200, 30), (50, 5000, 900), (1000, 1000, 1)):
        left, right = (np.sort(rng.integers(0, distinct, size).astype("f4")) for size in (n, m))
        expected = [indices.tolist() for indices in sortie.merge_join(left, right)]
        for move in (lambda a: torch.from_numpy(a).cuda(), cupy.asarray):
            assert [indices.tolist() for indices in sortie.merge_join(move(left), move(right))] == expected
            if n > 0:
                assert [float(part) for part in sortie.mode(move(left))] == [float(part) for part in sortie.mode(left)]


@pytest.mark.parametrize("name", TORCH)
def test_unique_on_a_gpu_is_numpys(torch, name):
    numpys = name != "bfloat16"
    for n in (0, 1, 5, 8192, 8193, 300_000):
        for shape in ((n,), (n // 5, 5)):
            a = tensors.numbers(torch, name, shape, "cuda")
            few = (a if name == "bool" else torch.nan_to_num(a) if a.is_floating_point() else a % 50).reshape(shape)
            for values in (a, few, few[::2]):
                host = values.cpu() if numpys else values.cpu().float()
                expected = np.unique(host.numpy(), return_index=True, return_inverse=True, return_counts=True)
                found = sortie.unique(values, return_index=True, return_inverse=True, return_counts=True)
                assert found[0].dtype == values.dtype and found[2].shape == values.shape
                assert np.array_equal(found[0].cpu().float().numpy(), expected[0].astype("f4"), equal_nan=True)
                # NumPy's sort is unstable for some types, and says which index is first nevertheless.
                for ours, numpys_own in zip(found[1:], expected[1:]):
                    assert np.array_equal(ours.cpu().numpy(), numpys_own.reshape(ours.shape))
                keys, counts = sortie.unique(values, return_counts=True)
                assert torch.equal(counts, found[3]) and torch.equal(keys.nan_to_num(), found[0].nan_to_num())
                assert torch.equal(sortie.unique(values).nan_to_num(), found[0].nan_to_num())


def test_nans_on_a_gpu_are_distinct_if_asked(torch, cupy):
    a = np.array([2.0, np.nan, -0.0, 0.0, -np.nan, np.nan, 2.0])
    for equal_nan in (True, False):
        expected = np.unique(a, return_index=True, return_counts=True, equal_nan=equal_nan)
        for array, back in ((torch.from_numpy(a).cuda(), lambda x: x.cpu().numpy()), (cupy.asarray(a), cupy.asnumpy)):
            found = sortie.unique(array, return_index=True, return_counts=True, equal_nan=equal_nan)
            for ours, numpys in zip(found, expected):
                assert np.array_equal(back(ours), numpys, equal_nan=True)


def test_torch_arrays_with_gaps(torch):
    a = torch.rand(200, 300, device="cuda")[::2, ::3]
    want = torch.sort(a, 0).values
    assert torch.equal(sortie.sort(a, 0), want)
    sortie.sort_inplace(a, 0)
    assert torch.equal(a, want)


def test_torch_pairs_and_segments(torch):
    keys = torch.randint(0, 50, (10_000,), device="cuda")
    values = torch.arange(10_000, device="cuda")
    rows = torch.rand(10_000, 3, device="cuda")
    want, indices = torch.sort(keys, stable=True)
    for payloads in ((values,), (values, rows), (), (rows.half(),)):
        found = sortie.sort_pairs(keys, *payloads)
        assert torch.equal(found[0], want)
        assert all(torch.equal(a, b[indices]) for a, b in zip(found[1:], payloads))
    sortie.sort_pairs_inplace(keys, values)
    assert torch.equal(keys, want) and torch.equal(values, indices)
    floats = torch.tensor([0.0, -0.0, float("nan"), 1.0, -float("nan")], device="cuda")
    assert sortie.sort_pairs(floats, torch.arange(5, device="cuda"))[1].tolist() == [0, 1, 3, 2, 4]
    a = torch.rand(6000, device="cuda")
    assert torch.equal(sortie.sort_segments(a, 100), torch.sort(a.reshape(-1, 100)).values.reshape(-1))
    offsets = torch.tensor([0, 1000, 1000, 6000], device="cuda")
    want = torch.cat([torch.sort(part).values for part in (a[:1000], a[1000:])])
    assert torch.equal(sortie.sort_segments(a, offsets=offsets), want)


def test_torch_refuses_what_it_must(torch):
    a = torch.rand(10, device="cuda", requires_grad=True)
    with pytest.raises(ValueError, match="requires grad"):
        sortie.sort_inplace(a)
    assert not sortie.sort(a).requires_grad
    b = torch.rand(10, device="cuda")
    for call, error in [
        (lambda: sortie.sort(b, order="arrow"), ValueError),
        (lambda: sortie.sort(b, stable=True), ValueError),
        (lambda: sortie.sort(b, 1), ValueError),
        (lambda: sortie.sort(b.to(torch.complex64)), TypeError),
        (lambda: sortie.sort_pairs(b, torch.rand(9, device="cuda")), ValueError),
        (lambda: sortie.sort_pairs(b, np.zeros(10)), TypeError),
        (lambda: sortie.top_k(b, 11), ValueError),
        (lambda: sortie.arg_top_k(b, 3, order="arrow"), ValueError),
    ]:
        with pytest.raises(error):
            call()


def test_torch_streams_and_threads(torch):
    """Eight threads, each with a stream of its own, whose work is in order."""
    errors = []

    def work(seed):
        try:
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                generator = torch.Generator("cuda").manual_seed(seed)
                for _ in range(20):
                    a = torch.rand(100_000, device="cuda", generator=generator)
                    b = a.clone()
                    sortie.sort_inplace(a)
                    indices = sortie.argsort(b)
                    assert torch.equal(a, b[indices]) and torch.equal(a, torch.sort(b).values)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not errors


def test_torch_does_not_wait(torch):
    a = torch.rand(10_000, device="cuda")
    sortie.sort_inplace(a)
    torch.cuda.synchronize()
    a.uniform_()
    torch.cuda._sleep(200_000_000)
    sortie.sort_inplace(a)
    assert not torch.cuda.current_stream().query()
    torch.cuda.synchronize()
    assert torch.equal(a, torch.sort(a).values)


def test_torch_graphs(torch):
    a = torch.rand(100_000, device="cuda")
    rows = torch.rand(1000, 100, device="cuda")
    # The kernels are compiled and loaded before the capture.
    sortie.sort_inplace(a)
    sortie.sort_inplace(rows)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        sortie.sort_inplace(a)
        sortie.sort_inplace(rows)
    for _ in range(3):
        a.uniform_()
        rows.uniform_()
        want, want_rows = torch.sort(a).values, torch.sort(rows).values
        graph.replay()
        assert torch.equal(a, want) and torch.equal(rows, want_rows)


def test_torch_scratch_comes_from_its_pool(torch):
    a = torch.rand(1 << 22, device="cuda")
    sortie.sort_inplace(a)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    a.uniform_()
    sortie.sort_inplace(a)
    torch.cuda.synchronize()
    assert torch.cuda.max_memory_allocated() > before


@contextlib.contextmanager
def room(torch, bytes):
    """Lets torch have only so many bytes more of the GPU."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    total = torch.cuda.mem_get_info()[1]
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + bytes) / total)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def phases():
    return [(phase.name, phase.engine) for phase in sortie.last_report().phases]


NETWORK = [("network, as the scratch does not fit", "cuda")]


@pytest.mark.parametrize("name", TORCH)
@pytest.mark.parametrize("descending", [False, True])
def test_torch_without_room_for_the_scratch(torch, name, descending):
    """A tensor of 71 GB on a GPU of 80 GB raised torch's OutOfMemoryError, though a network needs no scratch."""
    host = tensors.numbers(torch, name, (40_000_003,), "cuda").cpu()
    # No tensor may lie in a larger block that torch keeps, whose rest would be room.
    torch.cuda.empty_cache()
    a, before = host.cuda(), host.cuda()
    want = sortie.sort(a, descending=descending)
    assert phases() == []
    with room(torch, 4 << 20):
        sortie.sort_inplace(a, descending=descending)
        # Narrow keys need little scratch, which may fit.
        assert phases() == NETWORK or (a.element_size() < 4 and phases() == [])
        # The indices have no room, and no other way.
        with pytest.raises(torch.OutOfMemoryError):
            sortie.argsort(before)
        with pytest.raises(torch.OutOfMemoryError):
            sortie.sort(before)
    assert equal(torch, a, want)
    sortie.sort_inplace(before, descending=descending)
    assert phases() == [] and equal(torch, before, want)


@pytest.mark.parametrize("dtype, columns", [("int32", 1), ("int64", 1), ("int64", 2), ("int16", 1)])
def test_torch_pairs_without_room_for_the_scratch(torch, dtype, columns):
    keys = torch.randint(0, 1 << 40, (10_000_000,), device="cuda")
    places = torch.arange(len(keys), device="cuda")
    values = places.to(getattr(torch, dtype)).repeat(columns, 1).T.contiguous()
    found, moved = keys.clone(), values.clone()
    # A network moves whole words, and does not keep the order of equal keys.
    alone = [None, True, False] if dtype == "int16" else [None, True]
    with room(torch, 4 << 20):
        for stable in alone:
            with pytest.raises(torch.OutOfMemoryError):
                sortie.sort_pairs_inplace(found, moved, stable=stable)
    assert torch.equal(found, keys) and torch.equal(moved, values)
    if dtype == "int16":
        return
    with room(torch, 4 << 20):
        sortie.sort_pairs_inplace(found, moved, stable=False)
        assert phases() == NETWORK
    assert torch.equal(found, torch.sort(keys).values)
    assert torch.equal(keys[moved[:, 0].long()], found) and torch.equal(moved[:, 0], moved[:, -1])


def test_cupy_without_room_for_the_scratch(cupy):
    a = cupy.random.default_rng(5).random(20_000_000, dtype="f4")
    want = cupy.sort(a)
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + (4 << 20))
    try:
        sortie.sort_inplace(a)
        assert phases() == NETWORK
        with pytest.raises(cupy.cuda.memory.OutOfMemoryError):
            sortie.argsort(a)
    finally:
        pool.set_limit(size=0)
    assert bool((a == want).all())


def test_torch_learns_of_a_sort_in_place(torch):
    data, weight = torch.rand(1000, device="cuda"), torch.rand(1000, device="cuda", requires_grad=True)
    product = (weight * data).sum()
    sortie.sort_inplace(data)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


@pytest.mark.parametrize("name", TORCH)
def test_torch_on_the_gpu_as_on_the_host(torch, name):
    a = tensors.numbers(torch, name, (300_000,), "cuda")
    assert equal(torch, sortie.sort(a).cpu(), sortie.sort(a.cpu()))
    assert torch.equal(sortie.argsort(a).cpu(), sortie.argsort(a.cpu()))


def test_torch_second_device(torch):
    if torch.cuda.device_count() < 2:
        pytest.skip("this machine has one GPU")
    a = torch.rand(100_000, device="cuda:1")
    want = torch.sort(a).values
    assert torch.equal(sortie.sort(a), want)
    sortie.sort_inplace(a)
    assert torch.equal(a, want)


@pytest.mark.parametrize("dtype", ["u1", "u4", "i8", "f2", "f4", "f8", "?"])
@pytest.mark.parametrize("shape", [(1000,), (40, 500), (3, 4, 50)], ids=str)
def test_cupy(cupy, dtype, shape):
    host = (rng.integers(-100, 100, shape) / 4).astype(dtype)
    if host.dtype.kind == "f":
        host[host == 3] = np.nan
    a = cupy.asarray(host)
    for axis in range(len(shape)):
        np.testing.assert_array_equal(cupy.asnumpy(sortie.sort(a, axis)), np.sort(host, axis))
        indices = sortie.argsort(a, axis)
        assert isinstance(indices, cupy.ndarray)
        assert np.array_equal(cupy.asnumpy(indices), np.argsort(host, axis, kind="stable"))
        b = a.copy()
        sortie.sort_inplace(b, axis)
        np.testing.assert_array_equal(cupy.asnumpy(b), np.sort(host, axis))
    with cupy.cuda.Stream(non_blocking=True) as stream:
        b = a * 1 if host.dtype.kind != "b" else a.copy()
        found = sortie.sort(b)
        stream.synchronize()
        np.testing.assert_array_equal(cupy.asnumpy(found), np.sort(host))


def test_cupy_pairs(cupy):
    keys, values = rng.integers(0, 9, 1000), rng.random((1000, 2))
    found = sortie.sort_pairs(cupy.asarray(keys), cupy.asarray(values), cupy.arange(1000))
    indices = np.argsort(keys, kind="stable")
    assert np.array_equal(cupy.asnumpy(found[1]), values[indices])
    assert np.array_equal(cupy.asnumpy(found[2]), indices)


NUMBERS = ["uint8", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64"]
METHODS = [
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "linear",
    "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
]  # fmt: skip


def numbers_of(name, n):
    """Numbers of a type, from all of its range or from a few, with infinite ones."""
    dtype = np.dtype(name)
    if dtype.kind == "f":
        a = rng.choice([rng.normal(size=n), rng.integers(-3, 3, n)]).astype(dtype)
        a[n // 2 : n // 2 + n // 50] = np.inf
        return a
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, n, dtype=dtype, endpoint=True)


def same(found, expected):
    """Whether an array of another library has the type, the shape and the elements of one of NumPy."""
    found = found.cpu().numpy() if hasattr(found, "cpu") else found.get()
    return found.dtype == expected.dtype and np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("n", [1, 2, 1001, 5_000_000])
def test_quantiles_on_a_gpu_are_those_of_the_cpu(torch, cupy, name, n):
    host = numbers_of(name, n)
    with_nan = host.copy()
    if host.dtype.kind == "f":
        with_nan[n // 3] = np.nan
    for a in [host, with_nan]:
        for there in [torch.from_numpy(a).cuda(), cupy.asarray(a)]:
            assert same(sortie.median(there), np.asarray(sortie.median(a)))
            for method in METHODS if n < 10_000 else ["linear", "lower"]:
                for q in [0.3, 1, [0.5, 0.25, 0.999], np.float32([[0.1, 1]]), []]:
                    expected = np.asarray(sortie.quantile(a, q, method=method))
                    assert same(sortie.quantile(there, q, method=method), expected), (method, q)


def test_quantiles_on_a_gpu_along_an_axis(torch, cupy):
    host = rng.normal(size=(4, 50, 6))
    host[1, 2, 3] = np.nan
    for there in [torch.from_numpy(host).cuda(), cupy.asarray(host)]:
        for axis in [0, 1, -1, None, (0, 1, 2)]:
            for keepdims in [False, True]:
                options = {"axis": axis, "keepdims": keepdims}
                assert same(sortie.median(there, **options), np.asarray(sortie.median(host, **options)))
                for q in [0.25, [0.1, 0.9]]:
                    assert same(sortie.quantile(there, q, **options), np.asarray(sortie.quantile(host, q, **options)))
        assert same(sortie.median(there[:, ::2, 0]), np.asarray(np.median(host[:, ::2, 0])))
        with pytest.raises(ValueError, match="one axis or all"):
            sortie.median(there, (0, 1))
        with pytest.raises(ValueError, match="no elements"):
            sortie.quantile(there[:0], 0.5)


def test_a_median_can_be_captured(torch):
    a = torch.rand(5_000_000, device="cuda")
    sortie.median(a)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = sortie.median(a)
    for _ in range(3):
        a.copy_(torch.rand(a.shape, device="cuda"))
        graph.replay()
        assert float(found) == np.median(a.cpu().numpy())


def test_numba():
    cuda = pytest.importorskip("numba.cuda", reason="Numba is not installed")
    if not cuda.is_available():
        pytest.skip("this Numba has no CUDA")
    host = rng.integers(0, 1000, (20, 300))
    a = cuda.to_device(host)
    assert np.array_equal(sortie.sort(a).copy_to_host(), np.sort(host))
    assert np.array_equal(sortie.argsort(a, dtype=np.int32).copy_to_host(), np.argsort(host, kind="stable"))
    sortie.sort_inplace(a)
    assert np.array_equal(a.copy_to_host(), np.sort(host))
    flat, sought = np.sort(host, axis=None), host[0]
    keys, counts = sortie.unique(cuda.to_device(flat), return_counts=True)
    for ours, numpys in zip((keys, counts), np.unique(flat, return_counts=True)):
        assert np.array_equal(ours.copy_to_host(), numpys)
    with pytest.raises(TypeError):
        sortie.unique(cuda.to_device(flat), return_inverse=True)
    found = sortie.searchsorted(cuda.to_device(flat), cuda.to_device(sought))
    assert np.array_equal(found.copy_to_host(), np.searchsorted(flat, sought))
    assert float(sortie.median(a).copy_to_host()) == np.median(host)
    found = sortie.quantile(a, [0.1, 0.5], method="hazen").copy_to_host()
    assert np.array_equal(found, np.quantile(host, [0.1, 0.5], method="hazen"))
    with pytest.raises(ValueError, match="last axis"):
        sortie.sort(a, 0)


def test_jax():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    if jax.default_backend() != "gpu":
        pytest.skip("this JAX has no GPU")
    host = rng.random((20, 300)).astype("f4")
    a = jax.numpy.asarray(host)
    found = sortie.sort(a)
    assert isinstance(found, jax.Array)
    assert np.array_equal(np.asarray(found), np.sort(host)) and np.array_equal(np.asarray(a), host)
    with pytest.raises(ValueError, match="read-only"):
        sortie.sort_inplace(a)


@pytest.mark.parametrize("engine", ["cuda", "cuda:0", "hybrid"])
def test_host_arrays_on_a_gpu(engine):
    a = rng.random(1_000_000)
    assert np.array_equal(sortie.sort(a, engine=engine), np.sort(a))
    assert np.array_equal(sortie.argsort(a, engine=engine), np.argsort(a, kind="stable"))
    assert "cuda" in sortie.explain(a, engine=engine)
