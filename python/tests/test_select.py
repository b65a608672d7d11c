"""quantile, median, partition, unique, searchsorted, rank, histogram, mode and merge_join, compared with NumPy, SciPy and pandas."""

import ml_dtypes
import numpy as np
import pytest
import sortie
from hypothesis import given, settings
from hypothesis import strategies as st
from test_numbers import FLOATS, INTEGERS, TIMES, arrays, nans, values

METHODS = [
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]
DISCRETE = ["inverted_cdf", "closest_observation", "lower", "higher", "nearest"]
NUMBERS = [np.dtype(dtype) for dtype in [*INTEGERS, *FLOATS[:3], *TIMES]]
SWAPPED = [dtype.newbyteorder() for dtype in NUMBERS if dtype.itemsize > 1]
numbers = arrays(dtypes=tuple(NUMBERS + SWAPPED))


def same(found, expected):
    assert np.shape(found) == np.shape(expected)
    assert np.asarray(found).dtype.newbyteorder("=") == np.asarray(expected).dtype.newbyteorder("=")
    assert np.array_equal(found, expected, equal_nan=np.asarray(expected).dtype.kind in "fcmM"), (found, expected)


@pytest.mark.parametrize("dtype", ["u1", "u4", "i2", "i8", "f2", "f4", "f8", ">f4", ">i4"])
@pytest.mark.parametrize("method", METHODS)
def test_quantiles_are_numpys(dtype, method):
    rng = np.random.default_rng(1)
    for shape in [(1,), (2,), (7,), (100,), (40_000,), (5, 30), (3, 4, 5)]:
        a = rng.integers(0, 100, shape).astype(dtype)
        for q in (0, 1, 0.5, 0.1, np.float64(0.3), np.float32(0.25), [0.25, 0.5, 0.99], np.linspace(0, 1, 30).reshape(5, 6)):
            for axis in (None, *range(-1, len(shape)), tuple(range(len(shape)))):
                for keepdims in (False, True):
                    expected = np.quantile(a, q, axis=axis, method=method, keepdims=keepdims)
                    found = sortie.quantile(a, q, axis, method=method, keepdims=keepdims)
                    assert np.shape(found) == np.shape(expected)
                    assert np.asarray(found).dtype == np.asarray(expected).dtype.newbyteorder("=")
                    # NumPy computes in the type of q.
                    is_coarse = np.asarray(expected).dtype.itemsize == 4 or isinstance(q, np.float32)
                    tolerance = 1e-3 if dtype == "f2" else 1e-5 if is_coarse else 1e-12
                    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype, far", [("i1", 100), ("i4", 2_000_000_000), ("i8", 2**62), ("f8", 1.7e308)])
def test_quantiles_of_numbers_far_apart_are_between_them(dtype, far):
    """The difference of these is beyond the greatest number of their type."""
    a = np.array([-far, far], dtype)
    assert sortie.quantile(a, 0.5) == sortie.median(a) == 0
    assert np.array_equal(sortie.quantile(a, [0.25, 0.75]), [-far / 2, far / 2])


@settings(max_examples=100, deadline=None)
@given(arrays(dtypes=tuple(NUMBERS[1:] + SWAPPED)), st.sampled_from(DISCRETE), st.floats(0, 1))
def test_quantiles_of_special_values(array, method, q):
    a, axis = array
    if a.size == 0:
        return
    with np.errstate(all="ignore"):
        same(sortie.quantile(a, q, axis, method=method), np.quantile(a, q, axis=axis, method=method))


@settings(max_examples=100, deadline=None)
@given(arrays(dtypes=tuple(np.dtype(dtype) for dtype in ["?", "u1", "i4", "f2", "f4", "f8", ">f8"])))
def test_medians_are_numpys(array):
    a, axis = array
    if a.size == 0:
        return
    with np.errstate(all="ignore"):
        for keepdims in (False, True):
            same(sortie.median(a, axis, keepdims=keepdims), np.median(a, axis, keepdims=keepdims))
            same(sortie.median(a, keepdims=keepdims), np.median(a, keepdims=keepdims))


def test_indices_of_quantiles_are_exact_for_shares_of_few_bits():
    elements = np.arange(70_000)
    with np.errstate(all="ignore"):
        assert np.isnan(np.quantile(elements, np.float16(0.5))), "NumPy has a result now; the guide says otherwise"
    assert sortie.quantile(elements, np.float16(0.5)) == 34_999.5
    assert sortie.quantile(elements, np.float32(0.25)) == 17_499.75


def test_infinite_elements_are_not_nan():
    a = np.array([-np.inf, 1.0, np.inf, np.inf])
    assert sortie.quantile(a, 1.0) == np.inf and sortie.quantile(a, 0.0) == -np.inf
    assert sortie.quantile(a, 2 / 3) == np.inf
    assert np.isnan(sortie.quantile(np.array([-np.inf, np.inf]), 0.25))


def test_integers_of_any_difference():
    for dtype in ("i1", "i2", "i4", "i8"):
        ends = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
        middle = 0 if dtype == "i8" else -0.5
        assert sortie.quantile(ends, 0.5) == middle and sortie.median(ends) == middle


@settings(max_examples=100, deadline=None)
@given(numbers, st.data())
def test_partitions_have_what_sorts_have(array, data):
    a, axis = array
    n = a.shape[axis]
    if n == 0:
        return
    kth = data.draw(st.lists(st.integers(-n, n - 1), max_size=5))
    before = a.copy()
    found = sortie.partition(a, kth, axis)
    assert a.tobytes() == before.tobytes() and found.dtype == a.dtype
    expected, found = np.sort(a, axis), np.moveaxis(found, axis, -1)
    assert np.array_equal(np.sort(found, -1), np.moveaxis(expected, axis, -1), equal_nan=a.dtype.kind in "fmM")
    for k in kth:
        at = np.moveaxis(expected, axis, -1)[..., k]
        assert np.array_equal(found[..., k], at, equal_nan=a.dtype.kind in "fmM")
        with np.errstate(invalid="ignore"):
            k %= n
            assert not (found[..., :k] > at[..., None]).any() and not (found[..., k:] < at[..., None]).any()


@settings(max_examples=150, deadline=None)
@given(arrays(), st.booleans(), st.tuples(st.booleans(), st.booleans(), st.booleans()))
def test_unique_is_numpys(array, equal_nan, returns):
    a, _ = array
    if a.dtype.name == "bfloat16":
        a = a.astype("f4")
    if a.dtype.kind == "c":
        # NumPy counts those with a NaN as one, and zeros of both signs, only if it sorts. Those of the other byte order it loses.
        a = np.nan_to_num(a).astype(a.dtype.newbyteorder("=")) + 0
    expected = np.unique(a, *returns, equal_nan=equal_nan)
    found = sortie.unique(a, *returns, equal_nan=equal_nan)
    assert isinstance(found, tuple) == any(returns)
    if not any(returns):
        found, expected = (found,), (expected,)
    if equal_nan:
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    else:
        # NumPy does not say in which order different NaNs are, and counts NaT as one in spite of the argument if it hashes.
        found, expected = found[0], expected[0]
        assert np.array_equal(found[found == found], expected[expected == expected])
        assert np.count_nonzero(found != found) == np.count_nonzero(a != a)


def test_unique_of_text_and_lists():
    words = np.array([["pear", "apple"], ["plum", "apple"]])
    for a in (words, words.astype("S")):
        for one, other in zip(sortie.unique(a, True, True, True), np.unique(a, True, True, True), strict=True):
            same(one, other)
    assert sortie.unique([3, 1, 3]).tolist() == [1, 3]
    # Flags may be anything that is true or not, as NumPy's.
    assert [found.tolist() for found in sortie.unique([3, 1, 3], return_index=0, return_counts=1, equal_nan=None)] == [[1, 3], [1, 2]]
    assert sortie.unique([]).tolist() == []


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", ">f4", ">i8"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_is_numpys(dtype, side):
    rng = np.random.default_rng(2)
    for n in (0, 1, 2, 33, 1000, 50_000):
        a = np.sort(values(dtype, rng, n)) if n < 1000 else np.sort(rng.integers(0, 60_000, n).astype(dtype))
        for queries in (values(dtype, rng, 500), a, a[::-1], a[: n // 2], rng.permutation(a), values(dtype, rng, (3, 4, 5))):
            expected = np.searchsorted(a, queries, side)
            for threads in (1, 2, None):
                same(sortie.searchsorted(a, queries, side, threads=threads), expected)
        order = rng.permutation(n)
        same(sortie.searchsorted(a[order], a, side, sorter=np.argsort(a[order], kind="stable")), np.searchsorted(a, a, side))


def test_searchsorted_compares_unsigned_with_signed_integers_exactly():
    a = np.array([0, 2**53, 2**53 + 1, 2**53 + 2, 2**64 - 1], dtype=np.uint64)
    for side in ("left", "right"):
        for query in (-1, 0, 1, 2**53 + 1, 2**63 - 1):
            expected = sum(x < query or (side == "right" and x == query) for x in a.tolist())
            assert sortie.searchsorted(a, query, side) == expected, (query, side)
        signed = a[:-1].astype(np.int64) - 1
        for query in (0, 2**53 + 1, 2**63, 2**64 - 1):
            expected = sum(x < query or (side == "right" and x == query) for x in signed.tolist())
            assert sortie.searchsorted(signed, np.uint64(query), side) == expected, (query, side)
        same(sortie.searchsorted(a, [-5, 2**53 + 1], side), np.array([0, 2 if side == "left" else 3]))


def test_searchsorted_of_other_types():
    for a, v in (([1, 2, 3], 2.5), ([1.0, np.nan], np.nan), (np.array([1, 2**63], "u8"), np.array([-1, 5])), (["a", "c"], ["b", "d"])):
        for side in ("left", "right"):
            same(sortie.searchsorted(a, v, side), np.searchsorted(a, v, side))
    days = np.array(["2020-01-01", "2021-01-01"], "M8[D]")
    assert sortie.searchsorted(days, np.datetime64("2020-06-01")) == 1
    assert isinstance(sortie.searchsorted([1, 2], 1), np.integer)


def ranks(lane, method):
    """The ranks of a lane, as they are defined."""
    return [
        {
            "average": (lane < x).sum() + ((lane == x).sum() + 1) / 2,
            "min": (lane < x).sum() + 1,
            "max": (lane <= x).sum(),
            "dense": len(np.unique(lane[lane < x])) + 1,
            "ordinal": (lane < x).sum() + (lane[: i + 1] == x).sum(),
        }[method]
        for i, x in enumerate(lane)
    ]


@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
def test_ranks(method):
    rng = np.random.default_rng(3)
    for dtype in ("i4", "f8", "U2", ">f4"):
        for shape, axis in (((1,), None), ((50,), None), ((4, 9), None), ((4, 9), 0), ((4, 9), -1), ((3, 4, 5), 1)):
            a = rng.integers(0, 9, shape).astype(dtype)
            lanes = a.reshape(1, -1) if axis is None else np.moveaxis(a, axis, -1).reshape(-1, a.shape[axis])
            found = sortie.rank(a, method, axis=axis)
            lanes_found = found.reshape(1, -1) if axis is None else np.moveaxis(found, axis, -1).reshape(-1, a.shape[axis])
            assert found.shape == ((a.size,) if axis is None else a.shape)
            assert found.dtype == (float if method == "average" else np.int64)
            for lane, ranked in zip(lanes, lanes_found, strict=True):
                assert ranked.tolist() == ranks(lane, method)
        assert sortie.rank(np.empty((0, 3), dtype), method, axis=0).shape == (0, 3)


@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
@pytest.mark.parametrize("nan_policy", ["propagate", "omit"])
def test_ranks_are_scipys(method, nan_policy):
    stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
    rng = np.random.default_rng(4)
    for a in (rng.integers(0, 99, 1000), rng.choice([0.0, -0.0, 1.5, np.nan, np.inf], (30, 7)), rng.random((5, 6, 7)), nans(np.dtype("f4"))):
        for axis in (None, *range(a.ndim)):
            same(sortie.rank(a, method, axis=axis, nan_policy=nan_policy), stats.rankdata(a, method, axis=axis, nan_policy=nan_policy))


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", ">f8", ">i2"])
def test_histograms_are_numpys(dtype):
    rng = np.random.default_rng(7)
    few = (rng.normal(size=3001) * 30).astype("f8").clip(-100, 100)
    a = (abs(few) if np.dtype(dtype).kind == "u" else few).astype(dtype)
    for bins in (1, 7, 100, [0, 1.5, 2, 50], [-20, -3, -3, 0, 0.0, 7], np.arange(-50.5, 50), np.array([0, 20], "f4"), [3], "auto", np.linspace(0, 9, 3000)):
        for limits in (None, (0, 9)):
            for density in (None, True):
                expected, edges = np.histogram(a, bins, limits, density)
                counts, found = sortie.histogram(a, bins, limits, density, threads=2)
                same(found, edges)
                same(counts, expected)
    for special in ([], [0.0, -0.0], a.reshape(-1, 3001)[:, ::7]):
        special = np.asarray(special, dtype=dtype)
        same(sortie.histogram(special, 5)[0], np.histogram(special, 5)[0])
        same(sortie.histogram(special, [-1, 0, 1])[0], np.histogram(special, [-1, 0, 1])[0])


def test_histograms_of_nans_weights_and_other_types():
    a = np.array([0.0, np.nan, 1.0, np.inf, -np.inf, 3.0])
    for edges in ([0, 1, 3], [-np.inf, 0, np.inf], [np.inf, np.inf], [-0.0, 1]):
        same(sortie.histogram(a, edges)[0], np.histogram(a, edges)[0])
    same(sortie.histogram([1, 2, 3], 2, weights=[1, 2, 3])[0], np.histogram([1, 2, 3], 2, weights=[1, 2, 3])[0])
    with pytest.warns(RuntimeWarning):
        assert sortie.histogram([True, False, True], 2)[0].tolist() == [1, 2]
    with pytest.raises(ValueError, match="monotonically"):
        sortie.histogram(a, [3, 1])
    with pytest.raises(MemoryError):
        sortie.histogram(np.arange(10), np.arange(5000), memory_limit=1000)


def test_histograms_compare_exactly():
    a = np.array([2**53, 2**53 + 1, 2**63 - 1, -(2**63)])
    assert sortie.histogram(a, [-(2.0**63), 2.0**53, 2.0**53 + 2, 2.0**63])[0].tolist() == [1, 2, 1]
    assert sortie.histogram(a.view("u8"), [0.0, 2.0**53 + 2, 2.0**64])[0].tolist() == [2, 2]
    assert sortie.histogram(np.array([200], "u1"), [-5, 200, 300])[0].tolist() == [0, 1]
    assert sortie.histogram(np.array([0.1], "f4"), [0.0, 0.1, 1.0])[0].tolist() == [0, 1]
    assert sortie.histogram(np.array([0.7], "f4"), [0.0, 0.7, 1.0])[0].tolist() == [1, 0]


def test_bins_of_integers_beyond_2_53_lose_no_element():
    for a in ([0, 2**60 + 1], [2**53 + 3, 2**60], [-(2**63), 2**63 - 1]):
        a = np.array(a)
        for bins in (1, 10, 64):
            assert sortie.histogram(a, bins)[0].sum() == a.size
    assert sortie.histogram(np.array([0, 2**60 + 1, 2**60 + 2]), 3, (0, 2**60 + 1))[0].tolist() == [1, 0, 1]
    assert sortie.histogram(np.array([2.0**53 + 4]), np.array([0, 2**53 + 3]))[0].tolist() == [0]
    assert sortie.histogram(np.array([2**60], "f4"), np.array([0, 2**60 - 1]))[0].tolist() == [0]


def test_density_between_narrow_integers():
    assert sortie.histogram(np.array([0]), np.array([-128, 127], "i1"), density=True)[0].tolist() == [1 / 255]
    beyond = np.array([2**53, 2**53 + 1, 2**53 + 2])
    assert sortie.histogram(beyond[:2], beyond, density=True)[0].tolist() == [0.5, 0.5]
    assert sortie.histogram([1, 2], [])[0].size == 0


def test_joins_of_types_that_round_are_refused():
    for left, right in (([2**53 + 1], [2.0**53]), ([2.0**53], [2**53 + 1])):
        with pytest.raises(ValueError, match="rounds"):
            sortie.merge_join(left, right)
    with pytest.raises(TypeError, match="not joined"):
        sortie.merge_join([2, 10], ["10", "2"])
    assert sortie.merge_join([1, 2**53], [1.0])[1].tolist() == [0]
    assert [part.tolist() for part in sortie.merge_join([2**60], [])] == [[], []]
    with pytest.raises(ValueError, match="rounds"):
        sortie.merge_join([2**53, 2**53 + 1], np.array([2**53], complex))
    fine = np.array(["2020-01-01"], "M8[ns]")
    with pytest.raises(ValueError, match="one unit"):
        sortie.merge_join(fine, np.array(["2020-01-01", "9999-12-31"], "M8[D]"))
    assert sortie.merge_join(fine, np.array(["2020-01-01", "2020-01-02"], "M8[D]"))[1].tolist() == [0]
    for left, right in (([b"a"], ["a"]), (np.array([1], "m8[s]"), [1])):
        with pytest.raises(TypeError, match="not joined"):
            sortie.merge_join(left, right)


def test_joins_of_nulls_are_refused():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pl = pytest.importorskip("polars", reason="polars is not installed")
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    for keys in (pa.array([1, None]), pa.array(["a", None]), pl.Series([1, None]), pd.Series([1, None], dtype="Int64")):
        with pytest.raises(ValueError, match="nulls"):
            sortie.merge_join(keys, keys)
    assert sortie.merge_join(pa.array([1, 2]), pd.Series([2], dtype="Int64"))[0].tolist() == [1]


def test_modes():
    stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
    rng = np.random.default_rng(8)
    for a in (rng.integers(0, 9, 1000), rng.integers(0, 9, (30, 7)).astype("f4"), np.array([-0.0, 1.0, 0.0, 1.0])):
        assert sortie.mode(a) == tuple(stats.mode(a, axis=None))
    assert sortie.mode(["b", "a", "b"]) == ("b", 2)
    assert np.isnan(sortie.mode([np.nan, 1.0, np.nan])[0])
    with pytest.raises(ValueError, match="no mode"):
        sortie.mode([])


@pytest.mark.parametrize("dtype", ["i4", "u8", "f4", "f8", "U3", "M8[s]"])
def test_joins_are_those_of_pandas(dtype):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    rng = np.random.default_rng(9)
    for n, m, distinct in ((0, 5, 9), (5, 0, 9), (300, 200, 30), (50, 5000, 100_000), (1000, 1000, 1)):
        left, right = (np.sort(rng.integers(0, distinct, size).astype(dtype)) for size in (n, m))
        frames = [pd.DataFrame({"key": keys, name: np.arange(keys.size)}) for name, keys in (("i", left), ("j", right))]
        expected = frames[0].merge(frames[1], on="key").sort_values(["i", "j"]) if n and m else pd.DataFrame({"i": [], "j": []})
        found = sortie.merge_join(left, right)
        assert found[0].tolist() == expected["i"].tolist() and found[1].tolist() == expected["j"].tolist()
    assert [x.tolist() for x in sortie.merge_join([-0.0, np.nan], [0.0, np.nan, np.nan])] == [[0, 1, 1], [0, 1, 2]]
    for left, right, match in (([2, 1], [1], "left is not in"), ([1], [2, 1], "right is not in"), ([[1]], [1], "2 axes")):
        with pytest.raises(ValueError, match=match):
            sortie.merge_join(left, right)
    with pytest.raises(TypeError, match="masked"):
        sortie.merge_join(np.ma.array([1, 2], mask=[0, 1]), [1])


def test_large_arrays():
    rng = np.random.default_rng(5)
    q = np.linspace(0, 1, 101)
    for a in (rng.random(600_000, dtype=np.float32), rng.integers(0, 50, 300_000), rng.integers(0, 2**60, 300_000)):
        for threads in (1, 2):
            same(sortie.quantile(a, q, method="lower", threads=threads), np.quantile(a, q, method="lower"))
            same(sortie.median(a, threads=threads), np.median(a))
            for one, other in zip(sortie.unique(a, True, True, True, threads=threads), np.unique(a, True, True, True), strict=True):
                same(one, other)


def test_tensors_and_bfloat16():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    assert sortie.median(torch.tensor([3.0, 1.0, 2.0])) == 2
    a = np.arange(5).astype(ml_dtypes.bfloat16)
    assert sortie.partition(a[::-1], 1)[1] == 1


def test_limits_and_errors():
    a = np.random.default_rng(6).random(100_000)
    for call in (
        lambda: sortie.median(a, memory_limit=1000),
        lambda: sortie.quantile(a, 0.3, memory_limit=1000),
        lambda: sortie.unique(a, return_index=True, memory_limit=1000),
        lambda: sortie.rank(a, memory_limit=1000),
    ):
        with pytest.raises(MemoryError):
            call()
    sortie.median(a, memory_limit=1 << 20)
    assert 0 < sortie.last_report().scratch_peak <= 1 << 20
    for call, error, match in (
        (lambda: sortie.quantile(a, 1.1), ValueError, "range"),
        (lambda: sortie.quantile(a, [0.5, np.nan]), ValueError, "range"),
        (lambda: sortie.quantile(a, 0.5, method="best"), ValueError, "hazen"),
        (lambda: sortie.quantile([], 0.5), ValueError, "no elements"),
        (lambda: sortie.median([]), ValueError, "no elements"),
        (lambda: sortie.median(["a"]), TypeError, "no numbers"),
        (lambda: sortie.median(a, axis=1), np.exceptions.AxisError, "axis 1"),
        (lambda: sortie.partition(a, 100_000), ValueError, "100000 elements"),
        (lambda: sortie.searchsorted(a, 1, "middle"), ValueError, "'middle'"),
        (lambda: sortie.searchsorted(a.reshape(2, -1), 1), ValueError, "2 axes"),
        (lambda: sortie.rank(a, "first"), ValueError, "'first'"),
        (lambda: sortie.rank([np.nan], nan_policy="raise"), ValueError, "nan"),
        (lambda: sortie.rank(a, nan_policy="skip"), ValueError, "'skip'"),
        (lambda: sortie.unique(np.array([None], object)), TypeError, "object"),
        (lambda: sortie.median(np.ma.array([1, 2], mask=[0, 1])), TypeError, "masked"),
    ):
        with pytest.raises(error, match=match):
            call()
