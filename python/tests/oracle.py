"""The order of NumPy, for comparison: also descending, which NumPy has from 2.5 on."""

import numpy as np


def argsort(lane, *, descending=False, nans_first=False):
    """The stable indices of a one-dimensional array."""
    missing, keys = parts(lane, descending)
    rank = ~missing if nans_first else missing
    return np.lexsort((*reversed(keys), rank))


def parts(lane, descending):
    """Which elements are NaN or NaT, and numbers that order the others, most significant first."""
    if lane.dtype.kind == "c":
        real, imaginary = np.isnan(lane.real), np.isnan(lane.imag)
        # R + Rj, R + nanj, nan + Rj, nan + nanj
        rank = real * 2 + imaginary
        keys = [ranks(np.where(real, 0, lane.real), descending), ranks(np.where(imaginary, 0, lane.imag), descending)]
        return rank, keys
    if lane.dtype.kind in "mM":
        missing = np.isnat(lane)
        return missing, [ranks(np.where(missing, 0, lane.view("i8") if lane.dtype.isnative else lane.astype("i8")), descending)]
    if lane.dtype.kind == "f" or lane.dtype.name == "bfloat16":
        lane = lane.astype("f8")
        missing = np.isnan(lane)
        return missing, [ranks(np.where(missing, 0, lane), descending)]
    return np.zeros(len(lane), bool), [ranks(lane, descending)]


def ranks(values, descending):
    """Equal numbers for equal values."""
    numbers = np.unique(values, return_inverse=True)[1].reshape(-1)
    return -numbers if descending else numbers


def argsort_along(a, axis, **options):
    """The same along an axis."""
    if a.size == 0:
        return np.zeros(a.shape, np.int64)
    moved = np.moveaxis(a, axis, -1)
    lanes = moved.reshape(-1, moved.shape[-1])
    indices = np.array([argsort(lane, **options) for lane in lanes]).reshape(moved.shape)
    return np.moveaxis(indices, -1, axis)


def same_bits(a, b):
    """Whether arrays are equal bit for bit."""
    assert a.dtype == b.dtype, (a.dtype, b.dtype)
    assert a.shape == b.shape, (a.shape, b.shape)
    return np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


def assert_equal(found, expected):
    """Whether arrays are equal, as NumPy compares them. It does not know NaNs of bfloat16."""
    assert found.dtype == expected.dtype
    if found.dtype.name == "bfloat16":
        found, expected = found.astype("f4"), expected.astype("f4")
    np.testing.assert_array_equal(found, expected)
