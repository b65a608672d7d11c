"""Tensors of torch in host memory: tensors in, tensors out, without a copy. `SORTIE_REQUIRE=torch` makes it a failure that there is no torch."""

import os

import numpy as np
import pytest
import sortie
import tensors

if "torch" in os.environ.get("SORTIE_REQUIRE", "").split(","):
    import torch
else:
    torch = pytest.importorskip("torch", reason="torch is not installed")

INTEGERS = ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
SHAPES = [(1,), (1000,), (70_000,), (50, 100), (7, 3, 33), (0,), (4, 0)]


def comparable(a):
    """As a type that torch and NumPy sort."""
    if a.dtype == torch.uint64:
        return a.view(torch.int64) ^ torch.iinfo(torch.int64).min
    return a.double() if a.is_floating_point() else a.to(torch.int64)


def equal(a, b):
    """Whether tensors are equal, NaNs included."""
    a, b = comparable(a), comparable(b)
    return a.shape == b.shape and bool(torch.all((a == b) | ((a != a) & (b != b))))


def expected(a, axis, descending):
    """The stable order of torch, with NaNs last in both directions."""
    keys = comparable(a)
    if a.is_floating_point() and descending:
        keys = torch.where(keys != keys, -float("inf"), keys)
    indices = torch.sort(keys, dim=axis, descending=descending, stable=True).indices
    return torch.gather(a, axis, indices), indices


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS, "bool"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_every_type(name, shape, descending):
    torch.manual_seed(7)
    a = tensors.numbers(torch, name, shape, "cpu")
    before = a.clone()
    for axis in range(-1, len(shape)):
        want, indices = expected(a, axis, descending)
        found = sortie.sort(a, axis, descending=descending)
        assert isinstance(found, torch.Tensor) and found.dtype == a.dtype
        assert equal(found, want) and equal(a, before)
        found = sortie.argsort(a, axis, descending=descending)
        assert found.dtype == torch.int64 and torch.equal(found, indices)
        narrow = sortie.argsort(a, axis, descending=descending, dtype=torch.int32)
        assert narrow.dtype == torch.int32 and torch.equal(narrow.long(), indices)
        b = a.clone()
        address = b.data_ptr()
        assert sortie.sort_inplace(b, axis, descending=descending) is None
        assert equal(b, want) and b.data_ptr() == address
        assert sortie.is_sorted(want, axis, descending=descending)
    want = expected(a.reshape(-1), 0, descending)[0]
    assert equal(sortie.sort(a, axis=None, descending=descending), want)


def test_nothing_is_copied():
    """The memory of a large tensor is read and written where it lies."""
    a = torch.arange(1 << 22, 0, -1, dtype=torch.float32)
    sortie.sort_inplace(a, memory_limit=a.nbytes)
    assert sortie.last_report().scratch_peak <= a.nbytes
    assert torch.equal(a, torch.arange(1, (1 << 22) + 1, dtype=torch.float32))
    b = torch.arange(10).flip(0)
    shares = np.asarray(b)
    sortie.sort_inplace(b)
    assert shares.tolist() == list(range(10))


def test_strides_and_views():
    a = torch.rand(60, 40)
    for view in (a.T, a[::2, 1:7], a[:, 3], a.reshape(2, 30, 40).permute(2, 0, 1), a[5:].T[3:, ::3]):
        for axis in range(view.dim()):
            want = torch.sort(view, dim=axis).values
            assert torch.equal(sortie.sort(view, axis), want)
            assert torch.equal(sortie.argsort(view, axis), torch.argsort(view, dim=axis, stable=True))
    part = a[::2, 1:7]
    want = torch.sort(part, dim=0).values
    other = a[1::2].clone()
    sortie.sort_inplace(part, 0)
    assert torch.equal(a[::2, 1:7], want) and torch.equal(a[1::2], other)
    with pytest.raises(ValueError, match="share memory"):
        sortie.sort_inplace(torch.rand(3, 1).expand(3, 4), 0)
    assert sortie.sort(torch.rand(1).expand(4)).shape == (4,)


def test_bfloat16_is_no_integer():
    """The same bits as int16 have another order."""
    a = torch.tensor([1.0, -2.0, float("nan"), -1.0, 0.0], dtype=torch.bfloat16)
    assert sortie.sort(a).tolist()[:4] == [-2.0, -1.0, 0.0, 1.0]
    assert sortie.argsort(a, descending=True).tolist() == [0, 4, 3, 1, 2]
    assert sortie.argsort(a, nans="first").tolist() == [2, 1, 3, 4, 0]
    out = torch.empty(5, dtype=torch.bfloat16)
    assert sortie.sort(a, out=out) is out and out[0] == -2
    for wrong in (torch.empty(5, dtype=torch.int16), np.empty(5, np.int16)):
        with pytest.raises(ValueError, match="out has shape"):
            sortie.sort(a, out=wrong)
    two = sortie.sort(a[:2]), sortie.sort(a[3:])
    merged = sortie.merge(two)
    assert merged.dtype == torch.bfloat16 and merged.tolist() == [-2.0, -1.0, 0.0, 1.0]
    with pytest.raises(TypeError, match="cannot be merged"):
        sortie.merge([two[0], torch.zeros(2, dtype=torch.int16)])


def test_out_pairs_segments_and_several_keys():
    a = torch.tensor([3, 1, 2, 9, 8, 7])
    out = torch.empty_like(a)
    assert sortie.sort(a, out=out) is out and out.tolist() == [1, 2, 3, 7, 8, 9]
    assert sortie.sort(a.numpy(), out=out) is out
    keys, values = torch.tensor([2, 1, 2]), torch.tensor([[0, 1], [2, 3], [4, 5]], dtype=torch.bfloat16)
    found = sortie.sort_pairs(keys, values, np.array(["b", "a", "c"]))
    assert found[0].tolist() == [1, 2, 2] and found[1].dtype == torch.bfloat16
    assert found[1].tolist() == [[2, 3], [0, 1], [4, 5]] and found[2].tolist() == ["a", "b", "c"]
    sortie.sort_pairs_inplace(keys, values)
    assert keys.tolist() == [1, 2, 2] and values.tolist() == [[2, 3], [0, 1], [4, 5]]
    with pytest.raises(ValueError, match="share memory"):
        sortie.sort_pairs_inplace(a, a)
    segments = sortie.sort_segments(a, torch.tensor([2, 4]))
    assert isinstance(segments, torch.Tensor) and segments.tolist() == [1, 3, 2, 7, 8, 9]
    assert sortie.sort_segments(a, 3, out=out) is out and out.tolist() == [1, 2, 3, 7, 8, 9]
    with pytest.raises(ValueError, match="add up to 2"):
        sortie.sort_segments(a, torch.tensor([2]))
    indices = sortie.argsort_segments(a, offsets=torch.tensor([0, 3, 6]), dtype=torch.int32)
    assert indices.dtype == torch.int32 and indices.tolist() == [1, 2, 0, 2, 1, 0]
    order = sortie.lexsort((torch.tensor([1, 0, 1]), torch.tensor([1.0, 1.0, 0.0])))
    assert isinstance(order, torch.Tensor) and order.tolist() == [2, 1, 0]
    assert sortie.merge([torch.tensor([1, 4]), torch.tensor([2])]).tolist() == [1, 2, 4]
    table = sortie.sort_by({"a": torch.tensor([2, 1]), "b": torch.tensor([0.5, 1.5], dtype=torch.bfloat16)}, "a")
    assert table["b"].dtype == torch.bfloat16 and table["b"].tolist() == [1.5, 0.5]
    assert "cpu" in sortie.explain(torch.rand(100_000))


def test_complex_numbers_and_lazy_conjugates():
    a = torch.tensor([2 + 1j, 1 - 1j, 1 + 1j], dtype=torch.complex64)
    assert sortie.sort(a).tolist() == [1 - 1j, 1 + 1j, 2 + 1j]
    assert sortie.sort(a.conj()).tolist() == [1 - 1j, 1 + 1j, 2 - 1j]
    assert sortie.argsort(a.imag).tolist() == [1, 0, 2]
    assert sortie.argsort(a.conj().imag).tolist() == [0, 2, 1]
    for lazy in (a.conj(), a.conj().imag):
        with pytest.raises(ValueError, match="conjugate or the negative"):
            sortie.sort_inplace(lazy)


def test_gradients():
    a = torch.rand(10, requires_grad=True)
    assert not sortie.sort(a).requires_grad
    assert torch.equal(sortie.sort(a), torch.sort(a.detach()).values)
    with pytest.raises(ValueError, match="requires grad"):
        sortie.sort_inplace(a)
    weight, data = torch.rand(10, requires_grad=True), torch.rand(10)
    product = (weight * data).sum()
    sortie.sort_inplace(data)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()
    with torch.inference_mode():
        data = torch.tensor([2, 1])
    sortie.sort_inplace(data)
    assert data.tolist() == [1, 2]


@pytest.mark.parametrize("name", ["uint8", "int64", "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("largest", [False, True])
def test_top_k_is_that_of_torch(name, largest):
    dtype = getattr(torch, name)
    for shape, axis, k in [((70_000,), 0, 100), ((30, 500), 1, 20), ((300, 40), 0, 300), ((0,), 0, 0)]:
        a = torch.randint(0, 200, shape).to(dtype)
        found, indices = (call(a, k, axis=axis, largest=largest) for call in (sortie.top_k, sortie.arg_top_k))
        assert found.dtype == dtype and torch.equal(found, torch.topk(a, k, axis, largest).values)
        stable = torch.sort(a, dim=axis, descending=largest, stable=True).indices
        assert torch.equal(indices, stable.narrow(axis, 0, k))
    if dtype.is_floating_point:
        a = torch.tensor([1.0, float("nan"), 2.0], dtype=dtype)
        assert sortie.arg_top_k(a, 1, largest=largest).tolist() == [2 if largest else 0]
        assert sortie.arg_top_k(a, 1, largest=True, nans="first").tolist() == torch.topk(a, 1).indices.tolist()


def test_tensors_of_other_classes():
    class Mine(torch.Tensor):
        pass

    a = torch.tensor([2, 1]).as_subclass(Mine)
    assert sortie.sort(a).tolist() == [1, 2]
    sortie.sort_inplace(a)
    assert a.tolist() == [1, 2]
    parameter = torch.nn.Parameter(torch.tensor([2.0, 1.0]))
    assert sortie.argsort(parameter).tolist() == [1, 0]


@pytest.mark.filterwarnings("ignore")
def test_what_is_refused_is_refused_in_one_line():
    for make, advice in [
        (lambda: torch.zeros(3, dtype=torch.float8_e5m2), "float32"),
        (lambda: torch.zeros(3, dtype=torch.complex32), "complex64"),
        (lambda: torch.zeros(3).to_sparse(), "to_dense"),
        (lambda: torch.quantize_per_tensor(torch.zeros(3), 1.0, 0, torch.qint8), "dequantize"),
        (lambda: torch.zeros(3, device="meta"), "no elements"),
    ]:
        a = make()
        for call in (sortie.sort, sortie.sort_inplace, sortie.argsort, sortie.is_sorted):
            with pytest.raises(TypeError, match=advice) as error:
                call(a)
            assert "\n" not in str(error.value)
    with pytest.raises(np.exceptions.AxisError):
        sortie.sort(torch.zeros(3), 1)
    with pytest.raises(TypeError, match="NumPy array or a tensor"):
        sortie.sort_inplace([2, 1])


def test_large_tensors_by_several_threads():
    a = torch.rand(1 << 20, dtype=torch.float64)
    want = torch.sort(a).values
    assert torch.equal(sortie.sort(a, threads=2), want)
    assert torch.equal(a[sortie.argsort(a)], want)
    half = a.to(torch.bfloat16)
    assert torch.equal(sortie.sort(half), torch.sort(half).values)


def test_tensors_beside_arrow_data_and_in_tables():
    keys, values = torch.tensor([2, 1, 1]), torch.tensor([0.5, 1.5, 2.5], dtype=torch.bfloat16)
    for column in (np.array([0, 2, 1]), np.array(["0", "2", "1"])):
        assert sortie.lexsort((column, keys)).tolist() == [2, 1, 0]
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    assert isinstance(sortie.lexsort((pa.array([0, None, 1]), keys), nulls="first"), torch.Tensor)
    assert sortie.lexsort((pa.array([0, None, 1]), keys), nulls="first").tolist() == [1, 2, 0]
    found = sortie.sort_pairs(pa.array([2, None, 1]), keys, values)
    assert found[0].to_pylist() == [1, 2, None] and found[1].tolist() == [1, 2, 1]
    assert found[2].dtype == torch.bfloat16 and found[2].tolist() == [2.5, 0.5, 1.5]
    found = sortie.sort_pairs(values, pa.array(["a", "b", "c"]), descending=True)
    assert found[0].tolist() == [2.5, 1.5, 0.5] and found[1].to_pylist() == ["c", "b", "a"]
    tables = [{"a": torch.tensor([1, 4]), "b": values[:2]}, {"a": torch.tensor([2]), "b": values[2:]}]
    found = sortie.merge(tables, by="a")
    assert found["a"].tolist() == [1, 2, 4] and found["b"].dtype == torch.bfloat16 and found["b"].tolist() == [0.5, 2.5, 1.5]
    with pytest.raises(TypeError, match="cannot be merged"):
        sortie.merge([torch.tensor([1]), pa.array([2])])
    assert sortie.is_sorted(values) and not sortie.is_sorted(keys)


def test_a_sorted_tensor_is_searched_before_its_nans():
    """As the guide says: searchsorted of torch compares with the NaNs, and goes on behind them."""
    x = sortie.sort(torch.tensor([2.0, float("nan"), 1.0, *[float("nan")] * 3]))
    numbers = x[: len(x) - int(x.isnan().sum())]
    assert torch.searchsorted(numbers, torch.tensor([1.0, 1.5, 2.0])).tolist() == [0, 1, 1]
