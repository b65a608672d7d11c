"""Sorts and argsorts of numbers: types x shapes x axes x strides x orders, compared with NumPy."""

import ml_dtypes
import numpy as np
import oracle
import pytest
import sortie
from hypothesis import given, settings
from hypothesis import strategies as st

INTEGERS = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8", ml_dtypes.bfloat16]
TIMES = ["M8[s]", "m8[ns]"]
COMPLEX = ["c8", "c16"]
DTYPES = [np.dtype(dtype) for dtype in [*INTEGERS, *FLOATS, *TIMES, *COMPLEX]]
SWAPPED = [dtype.newbyteorder() for dtype in DTYPES if dtype.itemsize > 1 and dtype.name != "bfloat16"]


def nans(dtype):
    """NaNs with different bits, and zeros of both signs."""
    width = {2: "u2", 4: "u4", 8: "u8"}[dtype.itemsize]
    quiet = np.array(np.nan, dtype).view(width)
    sign, one = np.array(-0.0, dtype).view(width), np.array(1, width)
    return np.array([quiet, quiet | sign, quiet | one, quiet | sign | one, 0, sign], width).view(dtype)


def values(dtype, rng, size):
    """Values with many ties, and with all that is special."""
    dtype = np.dtype(dtype)
    kind = dtype.kind if dtype.name != "bfloat16" else "f"
    native = dtype.newbyteorder("=") if dtype.name != "bfloat16" else dtype
    if kind == "b":
        pool = np.array([False, True])
    elif kind in "iu":
        limits = np.iinfo(native)
        pool = np.concatenate([np.array([limits.min, limits.max, 0, 1], native), rng.integers(0, 100, 8).astype(native)])
    elif kind in "mM":
        pool = np.array([np.iinfo("i8").min, np.iinfo("i8").min + 1, -1, 0, 1, np.iinfo("i8").max], "i8").view(native)
    elif kind == "c":
        part = np.dtype("f4" if native.itemsize == 8 else "f8")
        floats = np.concatenate([nans(part), np.array([-np.inf, -1.5, 1.5, np.inf], part)])
        pool = np.empty(len(floats) ** 2, native)
        pool.real, pool.imag = np.repeat(floats, len(floats)), np.tile(floats, len(floats))
    else:
        pool = np.concatenate([nans(native), np.array([-np.inf, -1.5, 0.25, 1.5, np.inf]).astype(native)])
    return rng.choice(pool, size).astype(dtype)


@st.composite
def arrays(draw, dtypes=tuple(DTYPES + SWAPPED), dimensions=3):
    """An array of any type, shape and strides, and one of its axes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.lists(st.integers(0, 7), min_size=1, max_size=dimensions))
    if draw(st.booleans()):
        shape[draw(st.integers(0, len(shape) - 1))] = draw(st.sampled_from([1, 30, 300]))
    a = values(draw(st.sampled_from(dtypes)), rng, [2 * n + 1 for n in shape])
    # Parts of a larger array, some of them backwards, with the axes in any order.
    steps = draw(st.tuples(*[st.sampled_from([1, 2, -1, -2]) for _ in shape]))
    a = a[tuple(slice(None, None, step) for step in steps)][tuple(slice(0, n) for n in shape)]
    a = a.transpose(draw(st.permutations(range(len(shape)))))
    if draw(st.booleans()):
        a = np.array(a, order=draw(st.sampled_from(["C", "F"])))
    return a, draw(st.integers(-a.ndim, a.ndim - 1))


orders = st.fixed_dictionaries({"descending": st.booleans(), "nans": st.sampled_from(["last", "first"])})


@settings(max_examples=200, deadline=None)
@given(arrays(), orders)
def test_argsort_is_numpys_stable_argsort(array, order):
    a, axis = array
    expected = oracle.argsort_along(a, axis, descending=order["descending"], nans_first=order["nans"] == "first")
    if order == {"descending": False, "nans": "last"} and a.dtype.name != "bfloat16":
        assert np.array_equal(expected, np.argsort(a, axis, kind="stable"))
    for dtype in (None, np.int32, np.uint32):
        found = sortie.argsort(a, axis, dtype=dtype, **order)
        assert found.dtype == (dtype or np.int64)
        assert np.array_equal(found, expected)


@settings(max_examples=200, deadline=None)
@given(arrays(), orders)
def test_a_stable_sort_is_numpys_bit_for_bit(array, order):
    a, axis = array
    indices = oracle.argsort_along(a, axis, descending=order["descending"], nans_first=order["nans"] == "first")
    expected = np.take_along_axis(a, indices, axis)
    before = a.copy()
    assert oracle.same_bits(sortie.sort(a, axis, stable=True, **order), expected)
    assert oracle.same_bits(a, before)
    out = np.empty(a.shape, a.dtype)
    assert sortie.sort(a, axis, stable=True, out=out, **order) is out
    assert oracle.same_bits(out, expected)
    sortie.sort_inplace(a, axis, stable=True, **order)
    assert oracle.same_bits(a, expected)


@settings(max_examples=100, deadline=None)
@given(arrays(), orders)
def test_other_sorts_give_equal_values(array, order):
    a, axis = array
    indices = oracle.argsort_along(a, axis, descending=order["descending"], nans_first=order["nans"] == "first")
    expected = np.take_along_axis(a, indices, axis)
    found = sortie.sort(a, axis, **order)
    assert found.dtype == a.dtype
    oracle.assert_equal(found, expected)
    assert sorted(x.tobytes() for x in found.reshape(-1)) == sorted(x.tobytes() for x in a.reshape(-1))
    assert sortie.is_sorted(found, axis, **order)
    assert sortie.is_sorted(a, axis, **order) == np.array_equal(indices, np.sort(indices, axis))


@settings(max_examples=100, deadline=None)
@given(arrays())
def test_without_an_axis_arrays_are_flattened(array):
    a, _ = array
    expected = np.take(a.reshape(-1), oracle.argsort_along(a.reshape(-1), 0))
    assert oracle.same_bits(sortie.sort(a, axis=None, stable=True), expected)
    assert np.array_equal(sortie.argsort(a, axis=None), oracle.argsort_along(a.reshape(-1), 0))
    assert sortie.is_sorted(a, axis=None) == np.array_equal(sortie.argsort(a, axis=None), np.arange(a.size))


@pytest.mark.parametrize("dtype", [np.dtype(dtype) for dtype in FLOATS], ids=str)
def test_total_order_and_arrow_order_of_floats(dtype):
    a = values(dtype, np.random.default_rng(1), 500)
    width = {2: "i2", 4: "i4", 8: "i8"}[dtype.itemsize]
    bits = a.view(width).astype(object)
    # IEEE totalOrder: sign and magnitude.
    magnitude = (1 << (8 * dtype.itemsize - 1)) - 1
    total = np.array([x if x >= 0 else -1 - (x & magnitude) for x in bits])
    for descending in (False, True):
        expected = np.argsort(-total if descending else total, kind="stable")
        assert np.array_equal(sortie.argsort(a, order="arrow", descending=descending), expected)
        assert oracle.same_bits(sortie.sort(a, order="arrow", descending=descending), a[expected])
    # Sortie's: NaNs last whatever the direction, positive ones first; -0.0 before 0.0.
    missing = np.isnan(a.astype("f8"))
    numbers = np.where(missing, 0, total)
    of_nans = np.where(missing, total, 0)
    for descending in (False, True):
        expected = np.lexsort((of_nans, of_nans < 0, -numbers if descending else numbers, missing))
        assert np.array_equal(sortie.argsort(a, order="total", descending=descending), expected)
        assert oracle.same_bits(sortie.sort(a, order="total", descending=descending), a[expected])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("threads", [1, 2, None])
def test_large_arrays(dtype, threads):
    a = values(dtype, np.random.default_rng(2), 300_000)
    if dtype.kind in "iu":
        a = np.random.default_rng(3).integers(0, 2**63, len(a), dtype=np.uint64).astype(dtype)
    expected = oracle.argsort(a)
    assert np.array_equal(sortie.argsort(a, threads=threads), expected)
    assert oracle.same_bits(sortie.sort(a, stable=True, threads=threads), a[expected])
    sortie.sort_inplace(a, threads=threads)
    assert sortie.is_sorted(a)


def test_many_rows_with_gaps():
    a = np.random.default_rng(4).random((2, 3000, 40)).astype(">f4")[:, :, ::2]
    oracle.assert_equal(sortie.sort(a, 1), np.sort(a, 1))
    assert np.array_equal(sortie.argsort(a, 1), np.argsort(a, 1, kind="stable"))
    expected = np.sort(a, 0)
    sortie.sort_inplace(a, 0)
    oracle.assert_equal(a, expected)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.5.0", reason="NumPy sorts descending from 2.5 on")
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.name != "bfloat16"], ids=str)
def test_numpys_own_descending(dtype):
    a = values(dtype, np.random.default_rng(5), 1000)
    assert np.array_equal(
        sortie.argsort(a, descending=True, stable=True), np.argsort(a, descending=True, stable=True)
    )
    assert oracle.same_bits(
        sortie.sort(a, descending=True, stable=True), np.sort(a, descending=True, stable=True)
    )


def test_layout_and_subclass_stay():
    a = np.asfortranarray(np.random.default_rng(6).random((5, 6)))
    assert sortie.sort(a).flags.f_contiguous
    class Mine(np.ndarray):
        pass

    assert type(sortie.sort(a.view(Mine))) is Mine
