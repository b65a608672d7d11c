"""Pairs, segments, lexsort, merge: several arrays, or many in one."""

import numpy as np
import oracle
import pytest
import sortie
from hypothesis import given, settings
from hypothesis import strategies as st
from test_numbers import COMPLEX, DTYPES, SWAPPED, orders, values

KEYS = st.sampled_from(DTYPES + SWAPPED)
VALUES = ["?", "i4", "f8", "c16", "S3", "V12", "O", "U5", "i4,f8"]


@st.composite
def columns(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.sampled_from([0, 1, 2, 17, 300]))
    keys = values(draw(KEYS), rng, 2 * n)[:: draw(st.sampled_from([1, 2]))][:n]
    payloads = []
    for dtype in draw(st.lists(st.sampled_from(VALUES), max_size=3)):
        shape = (n, *draw(st.sampled_from([(), (2,), (0,)])))
        payload = np.zeros(shape, dtype)
        if dtype == "i4,f8":
            payload["f0"] = np.arange(payload.size).reshape(shape)
        else:
            payload[...] = np.arange(payload.size).reshape(shape).astype("U5" if dtype in ("S3", "U5", "V12") else dtype)
        payloads.append(payload)
    return keys, payloads


@settings(max_examples=100, deadline=None)
@given(columns(), orders)
def test_values_follow_their_keys(arrays, order):
    keys, payloads = arrays
    indices = oracle.argsort(keys, descending=order["descending"], nans_first=order["nans"] == "first")
    before = keys.copy()
    found = sortie.sort_pairs(keys, *payloads, **order)
    assert oracle.same_bits(keys, before)
    sortie.sort_pairs_inplace(keys, *(copies := [payload.copy() for payload in payloads]), **order)
    for sorted_, in_place, original in zip(found, [keys, *copies], [before, *payloads]):
        oracle.assert_equal(sorted_, original[indices])
        oracle.assert_equal(in_place, original[indices])
    assert oracle.same_bits(found[0], before[indices]) and oracle.same_bits(keys, before[indices])


def test_pairs_of_strings_and_of_many():
    rng = np.random.default_rng(1)
    keys, value = rng.random(200_000), np.arange(200_000)
    assert np.array_equal(sortie.sort_pairs(keys, value)[1], np.argsort(keys))
    keys = rng.choice(["a", "b", "c"], 1000)
    assert np.array_equal(sortie.sort_pairs(keys, value[:1000])[1], np.argsort(keys, kind="stable"))
    if hasattr(np.dtypes, "StringDType"):
        texts = np.array(["x" * i for i in range(50)], np.dtypes.StringDType())
        keys = rng.permutation(50)
        assert sortie.sort_pairs(keys, texts)[1].tolist() == texts[np.argsort(keys)].tolist()


@st.composite
def segmented(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lengths = draw(st.lists(st.integers(0, 40), min_size=1, max_size=12))
    first, rest = draw(st.sampled_from([(0, 0), (2, 3)]))
    offsets = first + np.cumsum([0, *lengths])
    a = values(draw(KEYS), rng, first + sum(lengths) + rest)
    return a, offsets, lengths if first + rest == 0 else None


@settings(max_examples=100, deadline=None)
@given(segmented(), orders)
def test_segments(batch, order):
    a, offsets, lengths = batch
    options = {"descending": order["descending"], "nans_first": order["nans"] == "first"}
    expected, indices = a.copy(), np.zeros(len(a), int)
    for start, end in zip(offsets, offsets[1:]):
        indices[start:end] = oracle.argsort(a[start:end], **options)
        expected[start:end] = a[start:end][indices[start:end]]
    assert np.array_equal(sortie.argsort_segments(a, offsets=offsets, **order), indices)
    assert np.array_equal(sortie.argsort_segments(a, offsets=offsets, dtype=np.uint32, **order), indices)
    assert oracle.same_bits(sortie.sort_segments(a, offsets=offsets, stable=True, **order), expected)
    oracle.assert_equal(sortie.sort_segments(a, offsets=offsets.astype("u2"), **order), expected)
    if lengths is not None:
        assert np.array_equal(sortie.argsort_segments(a, lengths, **order), indices)
        sortie.sort_segments(a, np.array(lengths), stable=True, out=a, **order)
        assert oracle.same_bits(a, expected)


def test_segments_of_one_length_and_of_strings():
    a = np.random.default_rng(2).random(100_000)
    assert np.array_equal(sortie.sort_segments(a, 100), np.sort(a.reshape(-1, 100)).ravel())
    words = np.random.default_rng(3).choice(["b", "a", "ccc"], 60)
    assert np.array_equal(sortie.sort_segments(words, 6), np.sort(words.reshape(-1, 6)).ravel())
    indices = np.argsort(words.reshape(-1, 6), kind="stable").ravel()
    assert np.array_equal(sortie.argsort_segments(words, 6), indices)
    if hasattr(np.dtypes, "StringDType"):
        texts = words.astype(np.dtypes.StringDType())
        assert np.array_equal(sortie.argsort_segments(texts, 6), indices)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 2**32),
    st.lists(KEYS.filter(lambda dtype: dtype.name != "bfloat16"), min_size=1, max_size=4),
    st.sampled_from([(), (0,), (50,), (300,), (6, 7)]),
    st.data(),
)
def test_lexsort_is_numpys(seed, dtypes, shape, data):
    rng = np.random.default_rng(seed)
    keys = [values(dtype, rng, shape) for dtype in dtypes]
    axis = data.draw(st.integers(-len(shape), len(shape) - 1)) if shape else -1
    # NumPy's lexsort is wrong for complex numbers in the other byte order.
    expected = np.lexsort([key.astype(key.dtype.newbyteorder("=")) for key in keys], axis)
    assert np.array_equal(sortie.lexsort(keys, axis), expected)
    assert np.array_equal(sortie.lexsort(keys, axis, dtype=np.uint32), expected)


def test_lexsort_with_directions_and_text():
    rng = np.random.default_rng(4)
    a, b, c = rng.choice(["x", "y"], 500), rng.integers(0, 5, 500), rng.choice([0.5, np.nan, -1.0], 500)
    expected = np.lexsort((np.where(np.isnan(c), 9, c), -b, a))
    assert np.array_equal(sortie.lexsort((c, b, a), descending=[False, True, False]), expected)
    rows = rng.integers(0, 3, (3, 100))
    assert np.array_equal(sortie.lexsort(rows), np.lexsort(rows))


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in COMPLEX], ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_merge(dtype, descending):
    rng = np.random.default_rng(5)
    parts = [sortie.sort(values(dtype, rng, n), stable=True, descending=descending) for n in (0, 1, 500, 70_000)]
    whole = np.concatenate(parts)
    expected = whole[oracle.argsort(whole, descending=descending)]
    assert oracle.same_bits(sortie.merge(parts, descending=descending), expected)


def test_is_sorted_of_what_is_not_numbers():
    assert sortie.is_sorted(np.array(["a", "a", "b"]))
    assert not sortie.is_sorted(np.array(["b", "a"]))
    assert sortie.is_sorted(np.array(["b", "a"]), descending=True)
    a = np.arange(100_000)
    assert sortie.is_sorted(a)
    # Between two of the stretches that are looked at together.
    for at in (8191, 8192, 99_999):
        b = a.copy()
        b[at] = -1
        assert not sortie.is_sorted(b)


def test_arrays_in_shared_memory_are_refused_before_anything_moves():
    for make in (
        lambda k, v: (k, v, v),
        lambda k, v: (k, v, k),
        lambda k, v: (k, k[::-1]),
        lambda k, v: (k.astype("U2"),) * 2,
    ):
        arrays = make(np.array([3, 1, 2]), np.array([30, 10, 20]))
        before = [array.tolist() for array in arrays]
        with pytest.raises(ValueError, match="share memory"):
            sortie.sort_pairs_inplace(*arrays)
        assert [array.tolist() for array in arrays] == before
    table = np.array([[3, 30], [1, 10], [2, 20]])
    sortie.sort_pairs_inplace(table[:, 0], table[:, 1])
    assert table.tolist() == [[1, 10], [2, 20], [3, 30]]


def test_out_of_segments_is_checked():
    a = np.array([3, 1, 2])
    locked = np.zeros(3, int)
    locked.flags.writeable = False
    for out, error, says in [
        (np.zeros((1, 3), int), ValueError, "out has shape"),
        (np.zeros(4, int), ValueError, "out has shape"),
        (np.zeros(3), ValueError, "out has shape"),
        (np.zeros(3, a.dtype.newbyteorder()), ValueError, "out has shape"),
        (locked, ValueError, "read-only"),
        ([0, 0, 0], TypeError, "out must be"),
        (np.lib.stride_tricks.as_strided(np.zeros(1, int), (3,), (0,)), ValueError, "share memory"),
    ]:
        with pytest.raises(error, match=says):
            sortie.sort_segments(a, 3, out=out)
        assert not np.any(out)
    large = np.array([9, 3, 1, 2])
    assert sortie.sort_segments(large[1:], 3, out=large[:3]).tolist() == [1, 2, 3]
    assert large.tolist() == [1, 2, 3, 2]
    gaps = np.zeros(6, int)
    sortie.sort_segments(a, 3, out=gaps[::-2])
    assert gaps.tolist() == [0, 3, 0, 2, 0, 1]


def test_elements_that_share_memory_are_not_sorted_in_place():
    base = np.arange(10)[::-1].copy()
    strided = np.lib.stride_tricks.as_strided
    for a in (strided(base, (4, 3), (8, 8)), strided(base, (5, 2), (0, 8)), strided(base.view("u1"), (9,), (4,)).view("u1")):
        expected = np.sort(a)
        assert np.array_equal(sortie.sort(a), expected)
        assert np.array_equal(sortie.argsort(a), np.argsort(a, kind="stable"))
        if a.ndim == 1:
            continue
        before = base.copy()
        with pytest.raises(ValueError, match="share memory"):
            sortie.sort_inplace(a)
        assert np.array_equal(base, before)


@pytest.mark.parametrize(
    ("lengths", "error", "says"),
    [
        (-1, ValueError, "negative"),
        (2**70, ValueError, "too large"),
        (1.5, TypeError, "an integer or a one-dimensional array of integers, not float"),
        ("abc", TypeError, "not str"),
        ([[3]], TypeError, "2 dimensions"),
        ([1.0, 2.0], TypeError, "float64"),
        ([-1, 4], ValueError, "-1, which is negative"),
        (np.array([2**63], np.uint64), ValueError, "add up to 9223372036854775808"),
        (0, ValueError, "not a multiple"),
    ],
)
def test_lengths_that_are_wrong(lengths, error, says):
    for function in (sortie.sort_segments, sortie.argsort_segments):
        with pytest.raises(error, match=says):
            function(np.array([3, 1, 2]), lengths)


def test_lengths_of_any_integer():
    for length in (3, np.int64(3), np.uint8(3), np.array(3), [3], [1, 0, 2, 0][:1] + [2]):
        assert sortie.sort_segments(np.array([1, 3, 2]), length).tolist() == [1, 2, 3]


def test_strings_outside_of_segments():
    words = np.array(["d", "c", "b", "a", "f", "e"])
    assert sortie.sort_segments(words, offsets=[1, 3, 3, 5]).tolist() == ["d", "b", "c", "a", "f", "e"]
    assert sortie.argsort_segments(words, offsets=[1, 3, 3, 5]).tolist() == [0, 1, 0, 0, 1, 0]
    assert sortie.argsort_segments(words, offsets=[3]).tolist() == [0] * 6
    assert sortie.argsort_segments(words, offsets=[2, 2]).tolist() == [0] * 6


LIMITED = 20_000


def limited():
    """Calls that change arrays, and these arrays."""
    rng = np.random.default_rng(8)
    keys = rng.integers(0, 100, LIMITED)
    floats = rng.choice([0.0, -0.0, 1.0, np.nan], LIMITED)
    words = rng.choice(["a", "b", "c"], LIMITED)
    table = np.zeros((LIMITED, 2))
    objects = np.arange(LIMITED).astype(object)
    out = np.full(LIMITED, -7)
    swapped = keys.astype(">i8")
    yield lambda **o: sortie.sort_pairs_inplace(keys, table, **o), [keys, table]
    yield lambda **o: sortie.sort_pairs_inplace(keys, table, objects, **o), [keys, table, objects]
    yield lambda **o: sortie.sort_pairs_inplace(keys, objects, table, **o), [keys, table, objects]
    yield lambda **o: sortie.sort_pairs_inplace(words, table, **o), [words, table]
    yield lambda **o: sortie.sort_pairs_inplace(floats, table, **o), [floats, table]
    yield lambda **o: sortie.sort_inplace(floats, stable=True, **o), [floats]
    yield lambda **o: sortie.sort_inplace(swapped[::2], **o), [swapped]
    yield lambda **o: sortie.sort_inplace(words, **o), [words]
    yield lambda **o: sortie.sort(keys, out=out, **o), [keys, out]
    yield lambda **o: sortie.sort(words, out=words, **o), [words]
    yield lambda **o: sortie.sort_segments(keys, 10, out=out, **o), [keys, out]
    yield lambda **o: sortie.sort_segments(words, 10, out=words, **o), [words]


@pytest.mark.parametrize("case", range(12))
def test_a_limit_that_is_too_low_leaves_arrays_as_they_were(case):
    call, arrays = list(limited())[case]
    before = [array.copy() for array in arrays]
    refused = 0
    for limit in (0, 1000, 30_000, 200_000, 400_000, 700_000, 1_000_000, 3_000_000):
        try:
            call(memory_limit=limit)
        except MemoryError as error:
            assert "memory_limit" in str(error)
            assert all(a.tobytes() == b.tobytes() for a, b in zip(arrays, before))
            refused += 1
        else:
            assert sortie.last_report().scratch_peak <= limit
            break
    else:
        raise AssertionError("no limit sufficed")
    # Numbers in segments take almost none.
    assert refused or case == 10


def test_the_scratch_memory_of_every_sort_is_counted():
    rng = np.random.default_rng(9)
    n = 50_000
    words, numbers = rng.choice(["abcd", "b", "c"], n), rng.integers(0, 9, n)
    complex_ = rng.random(n) + 1j
    for call, least in [
        (lambda **o: sortie.sort(words, **o), 2 * words.nbytes),
        (lambda **o: sortie.argsort(words, **o), n * 16),
        (lambda **o: sortie.sort(complex_, **o), 2 * complex_.nbytes),
        (lambda **o: sortie.lexsort([numbers, words], **o), n * 32),
        (lambda **o: sortie.sort_by({"a": words, "b": numbers}, ["a", "b"], **o), n * 28),
        (lambda **o: sortie.argsort(numbers[::2], **o), n // 2 * 8),
        (lambda **o: sortie.sort_pairs(numbers, words, words, **o), n * 8 + words.nbytes),
    ]:
        call()
        peak = sortie.last_report().scratch_peak
        assert peak >= least
        # Some sorts need less than they must be sure to have.
        call(memory_limit=2 * peak)
        with pytest.raises(MemoryError, match="memory_limit"):
            call(memory_limit=least // 2)


@pytest.mark.parametrize("dtype", ["i2", "u4", "i8", "f4", "f8"])
def test_is_sorted_looks_at_every_pair_and_at_nans(dtype):
    a = np.sort(np.random.default_rng(1).integers(0, 2**15 - 1, 100_000).astype(dtype))
    assert sortie.is_sorted(a) and sortie.is_sorted(a[::-1].copy(), descending=True)
    assert sortie.is_sorted(a.reshape(-1, 1000)) and sortie.is_sorted(a.reshape(-1, 1000).T.copy(), axis=0)
    for at in (0, 1, 4095, 4096, 4097, 65_536, 99_998):
        b = a.copy()
        b[at], b[at + 1] = a[at] + 1, a[at]
        assert not sortie.is_sorted(b) and not sortie.is_sorted(b, threads=1)
        assert not sortie.is_sorted(b[::-1].copy(), descending=True)
        # Rows of one element are always sorted, and so is a border between rows.
        assert sortie.is_sorted(b[:, None]) and sortie.is_sorted(b[at : at + 2].reshape(2, 1))
    if dtype[0] == "f":
        a[-5:] = np.nan
        assert sortie.is_sorted(a) and not sortie.is_sorted(a, nans="first")
        assert not sortie.is_sorted(a[::-1].copy()) and sortie.is_sorted(a[::-1].copy(), nans="first", descending=True)
        a[4096] = np.nan
        assert not sortie.is_sorted(a)


def test_few_rows_by_several_keys():
    rng = np.random.default_rng(2)
    for n in (1, 2, 10, 63, 64, 65):
        keys = [rng.integers(0, 3, n).astype(dtype) for dtype in ("u1", "i2", "f4", "i8")]
        keys.append(rng.choice([1 + 1j, complex(0, np.nan), complex(np.nan, 1)], n))
        assert np.array_equal(sortie.lexsort(keys), np.lexsort(keys))
        down = sortie.lexsort(keys[:4], descending=True)
        assert np.array_equal(down, np.lexsort([-key.astype("f8") for key in keys[:4]]))
        assert np.array_equal(sortie.argsort(keys[4], nans="first"), oracle.argsort(keys[4], nans_first=True))
