"""top_k and arg_top_k, compared with NumPy's stable argsort."""

import numpy as np
import oracle
import pytest
import sortie
from hypothesis import given, settings
from hypothesis import strategies as st
from test_numbers import DTYPES, FLOATS, arrays, nans, values

orders = st.fixed_dictionaries({"largest": st.booleans(), "nans": st.sampled_from(["last", "first"])})


def first(a, k, axis):
    return np.take(a, np.arange(k), axis)


@settings(max_examples=200, deadline=None)
@given(arrays(), st.data(), orders)
def test_arg_top_k_begins_numpys_stable_argsort(array, data, order):
    a, axis = array
    k = data.draw(st.integers(0, a.shape[axis]))
    expected = first(
        oracle.argsort_along(a, axis, descending=order["largest"], nans_first=order["nans"] == "first"), k, axis
    )
    for dtype in (None, np.int32, np.uint32):
        found = sortie.arg_top_k(a, k, axis=axis, dtype=dtype, **order)
        assert found.dtype == (dtype or np.int64)
        assert np.array_equal(found, expected)
    found = sortie.arg_top_k(a, k, axis=axis, sorted=False, **order)
    assert np.array_equal(np.sort(found, axis), np.sort(expected, axis))
    before = a.copy()
    found = sortie.top_k(a, k, axis=axis, **order)
    assert oracle.same_bits(found, np.take_along_axis(a, expected, axis))
    assert oracle.same_bits(a, before)
    found = sortie.top_k(a, k, axis=axis, sorted=False, **order)
    oracle.assert_equal(sortie.sort(found, axis), sortie.sort(np.take_along_axis(a, expected, axis), axis))


@settings(max_examples=100, deadline=None)
@given(arrays(), st.data())
def test_without_an_axis_arrays_are_flattened(array, data):
    a, _ = array
    k = data.draw(st.integers(0, a.size))
    expected = sortie.argsort(a, axis=None, descending=True)[:k]
    assert np.array_equal(sortie.arg_top_k(a, k, axis=None), expected)
    assert oracle.same_bits(sortie.top_k(a, k, axis=None), a.reshape(-1)[expected])


@pytest.mark.parametrize("dtype", [np.dtype(dtype) for dtype in FLOATS], ids=str)
@pytest.mark.parametrize("order", ["numpy", "total", "arrow"])
def test_orders_of_floats(dtype, order):
    rng = np.random.default_rng(1)
    special = values(dtype, rng, 500)
    plain = rng.choice(nans(dtype)[[0, 4]], 500)
    numbers = rng.permutation(np.concatenate([np.linspace(-3, 3, 400).astype(dtype), nans(dtype)]))
    for a in (special, plain, numbers):
        for largest in (False, True):
            for places in ("last", "first")[: 2 - (order == "arrow")]:
                expected = sortie.argsort(a, descending=largest, order=order, nans=places)
                for k in (1, 5, 203, 400, len(a) - 1, len(a)):
                    found = sortie.arg_top_k(a, k, largest=largest, order=order, nans=places)
                    assert np.array_equal(found, expected[:k])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("threads", [1, 2, None])
def test_large_arrays(dtype, threads):
    a = values(dtype, np.random.default_rng(2), 600_000)
    if dtype.kind in "iu":
        a = np.random.default_rng(3).integers(0, 2**63, len(a), dtype=np.uint64).astype(dtype)
    for largest in (False, True):
        expected = oracle.argsort(a, descending=largest)
        for k in (10, 3000, 200_000):
            assert np.array_equal(sortie.arg_top_k(a, k, largest=largest, threads=threads), expected[:k])
            found = sortie.arg_top_k(a, k, largest=largest, threads=threads, sorted=False)
            assert np.array_equal(np.sort(found), np.sort(expected[:k]))


@pytest.mark.parametrize("shape, axis, k", [((3, 200_000), 1, 50), ((2000, 300), 0, 7), ((40, 300, 70), 1, 59), ((5000, 40), 1, 3), ((9, 70_000), -1, 0)])
@pytest.mark.parametrize("dtype", ["f4", ">i8", "U3"])
def test_many_lanes(shape, axis, k, dtype):
    a = np.random.default_rng(4).integers(-500, 500, shape).astype(dtype)
    expected = first(np.argsort(a, axis, kind="stable"), k, axis)
    assert np.array_equal(sortie.arg_top_k(a, k, axis=axis, largest=False), expected)
    assert np.array_equal(sortie.top_k(a, k, axis=axis, largest=False), np.take_along_axis(a, expected, axis))


def test_text_records_and_lists():
    words = np.array(["pear", "apple", "plum", "apple", "fig"])
    for a in (words, words.astype("S"), *([words.astype("T")] if hasattr(np.dtypes, "StringDType") else [])):
        assert sortie.arg_top_k(a, 3, largest=False).tolist() == [1, 3, 4]
        found = sortie.top_k(a, 2)
        assert found.dtype == a.dtype and np.array_equal(found, a[[2, 0]])
    people = np.array([("Ada", 36), ("Bob", 25), ("Cid", 36)], dtype=[("name", "U8"), ("age", "i4")])
    assert sortie.arg_top_k(people, 2, order="age", largest=False).tolist() == [1, 0]
    assert sortie.top_k(people, 1)["name"].tolist() == ["Cid"]
    assert sortie.top_k([3, 1, 2], 2).tolist() == [3, 2]

    class Mine(np.ndarray):
        pass

    assert type(sortie.top_k(np.arange(5).view(Mine), 2)) is Mine


def test_arrow_data_and_series():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    a = pa.array(["b", None, "a", "c", "a"])
    for options in ({}, {"largest": False}, {"nulls": "first"}):
        order = {**options, "descending": options.get("largest", True)}
        order.pop("largest", None)
        expected = sortie.argsort(a, **order)[:3]
        assert np.array_equal(sortie.arg_top_k(a, 3, **options), expected)
        assert sortie.top_k(a, 3, **options) == a.take(pa.array(expected))
    chunked = pa.chunked_array([[3, 1], [2, None]])
    assert sortie.top_k(chunked, 2).type == chunked.type and sortie.top_k(chunked, 2).to_pylist() == [3, 2]
    pl = pytest.importorskip("polars", reason="polars is not installed")
    series = pl.Series("x", [1.5, None, 3.5, 2.5])
    found = sortie.top_k(series, 2)
    assert found.to_list() == [3.5, 2.5] and found.name == "x" and found.flags["SORTED_DESC"]
    # The first rows are not all.
    assert sortie.top_k(pl.Series([1, 2, 3]), 2, largest=False).to_list() == [1, 2]
    found = sortie.top_k(pl.Series([1, 2, 3, 4] * 1000), 2500, sorted=False)
    assert sorted(found.to_list()) == [2] * 500 + [3] * 1000 + [4] * 1000 and not found.flags["SORTED_DESC"]
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    for series in (pd.Series([1.0, 2.0, 3.0], list("abc")), pd.Series([1, 2, 3], list("abc"), dtype="Int64")):
        assert sortie.arg_top_k(series, 2).tolist() == [2, 1]
        assert sortie.top_k(series, 2).index.tolist() == ["c", "b"]
        assert sortie.top_k(series, 2, largest=False).index.tolist() == ["a", "b"]
    for call in (sortie.top_k, sortie.arg_top_k):
        with pytest.raises(ValueError, match="k is 6, but there are 5 elements; give at most 5"):
            call(a, 6)


def test_what_is_refused():
    for call in (sortie.top_k, sortie.arg_top_k):
        with pytest.raises(ValueError, match="k is 4, but there are 3 elements; give at most 3"):
            call(np.zeros((5, 3)), 4)
        with pytest.raises(ValueError, match="-1 is negative"):
            call(np.zeros(3), -1)
        with pytest.raises(ValueError, match="but there are 3 elements"):
            call(np.zeros(3), 2**70)
        with pytest.raises(np.exceptions.AxisError):
            call(np.zeros(3), 1, axis=1)
        with pytest.raises(TypeError, match="object"):
            call(np.array([None, 1], dtype=object), 0)
        with pytest.raises(MemoryError):
            call(np.random.default_rng(5).random(100_000), 1000, memory_limit=1000)


def test_little_scratch_memory_suffices():
    a = np.random.default_rng(6).random((20, 100_000), dtype=np.float32)
    expected = np.argsort(-a, kind="stable")[:, :10]
    assert np.array_equal(sortie.arg_top_k(a, 10, memory_limit=1 << 20), expected)
    assert 0 < sortie.last_report().scratch_peak <= 1 << 20
