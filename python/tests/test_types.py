"""Types that are no plain numbers, and the errors of all functions."""

import os
import sys
import threading
import time

import numpy as np
import oracle
import pytest
import sortie
from hypothesis import given, settings
from hypothesis import strategies as st

rng = np.random.default_rng(11)


@st.composite
def texts(draw):
    """Strings as NumPy stores them, with one length for all."""
    alphabet = draw(st.sampled_from(["ab", "aé\x00z", "a\u0394\uffff", "a\U0001f600\U0010ffff"]))
    words = draw(st.lists(st.text(alphabet, max_size=draw(st.sampled_from([1, 3, 9, 40]))), min_size=1, max_size=60))
    return np.array(words)


@settings(max_examples=200, deadline=None)
@given(texts(), st.booleans(), st.sampled_from(["=", ">"]))
def test_text(a, descending, order):
    a = a.astype(a.dtype.newbyteorder(order))
    numbers = np.unique(a, return_inverse=True)[1]
    expected = np.argsort(-numbers if descending else numbers, kind="stable")
    assert np.array_equal(sortie.argsort(a, descending=descending), expected)
    assert oracle.same_bits(sortie.sort(a, descending=descending), a[expected])
    raw = np.array([text.encode() for text in a])
    expected = np.argsort(raw, kind="stable")
    assert np.array_equal(sortie.argsort(raw), expected)
    assert oracle.same_bits(sortie.sort(raw), raw[expected])


def test_text_of_several_dimensions():
    a = rng.choice(np.array(["x", "yy", "zzz", "zzzzzzzzzzzzzzzzzzzzz"]), (40, 30))[::2, ::3]
    for axis in (0, 1):
        assert np.array_equal(sortie.argsort(a, axis), np.argsort(a, axis, kind="stable"))
        assert np.array_equal(sortie.sort(a, axis), np.sort(a, axis))
    assert not sortie.is_sorted(a)
    assert sortie.is_sorted(sortie.sort(a))


strings = pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy has StringDType from 2.0 on")


@strings
@pytest.mark.parametrize("missing", [None, "nan", "text"])
def test_strings_of_any_length(missing):
    words = ["", "a", "b" * 40, "é", "a" * 400, "zz", "\U0001f600"]
    pool = words if missing is None else [*words, np.nan if missing == "nan" else "missing"]
    options = {} if missing is None else {"na_object": np.nan if missing == "nan" else "missing"}
    a = np.array([pool[i] for i in rng.integers(0, len(pool), 3000)], np.dtypes.StringDType(**options))
    expected = np.argsort(a, kind="stable")
    assert np.array_equal(sortie.argsort(a), expected)
    text = np.array([str(x) for x in a])
    assert np.array_equal([str(x) for x in sortie.sort(a)], text[expected])
    sortie.sort_inplace(a)
    assert np.array_equal([str(x) for x in a], text[expected])
    b = a[::-1].reshape(30, 100)[:, ::2]
    assert np.array_equal(sortie.argsort(b, 0), np.argsort(b, 0, kind="stable"))
    assert np.array_equal([str(x) for x in sortie.sort(b, 0).ravel()], [str(x) for x in np.sort(b, 0).ravel()])


@strings
def test_nans_among_strings_go_last_or_first():
    a = np.array(["b", np.nan, "a"], np.dtypes.StringDType(na_object=np.nan))
    assert sortie.argsort(a, descending=True).tolist() == [0, 2, 1]
    assert sortie.argsort(a, nans="first").tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="not a nan-like value"):
        sortie.sort(np.array(["b", None], np.dtypes.StringDType(na_object=None)))


STRUCTURED = [
    [("a", "i4"), ("b", "f8")],
    [("a", "u1"), ("b", ">i2"), ("c", "?")],
    [("a", "S3"), ("b", "U2"), ("c", "M8[D]")],
    [("a", "f2", (2,)), ("b", [("x", "c8"), ("y", "i1")])],
    {"names": ["a", "b"], "formats": ["f4", "i8"], "offsets": [3, 16], "itemsize": 40},
]


def records(dtype, size):
    """Records with many ties, and NaNs."""
    a = np.zeros(size, dtype)
    fill(a)
    return a


def fill(a):
    if a.dtype.names:
        for name in a.dtype.names:
            fill(a[name])
    elif a.dtype.kind in "fc":
        a[...] = rng.choice([-0.0, 0.0, 1.5, np.nan], a.shape)
    elif a.dtype.kind in "SU":
        a[...] = rng.choice(["", "a", "b"], a.shape)
    else:
        a[...] = rng.integers(0, 2, a.shape)


def keys(a):
    """Columns by which records are compared."""
    if a.dtype.names:
        return [key for name in a.dtype.names for key in keys(a[name])]
    if a.ndim > 1:
        return [key for column in a.T for key in keys(column)]
    missing, found = oracle.parts(a, False)
    return [missing, *found]


@pytest.mark.parametrize("dtype", [np.dtype(dtype) for dtype in STRUCTURED], ids=range(len(STRUCTURED)))
def test_structured_arrays(dtype):
    a = records(dtype, 2000)
    expected = np.lexsort(keys(a)[::-1])
    assert np.array_equal(sortie.argsort(a), expected)
    assert same_fields(sortie.sort(a), a[expected])
    last = dtype.names[-1]
    columns = [key for name in [last, *dtype.names[:-1]] for key in keys(a[name])]
    expected = np.lexsort(columns[::-1])
    for order in (last, [last], [last, *dtype.names[:-1]]):
        assert np.array_equal(sortie.argsort(a, order=order), expected)
        assert same_fields(sortie.sort(a, order=order), a[expected])
    b = a[::-2]
    expected = b[np.lexsort(keys(b)[::-1])]
    sortie.sort_inplace(b)
    assert same_fields(b, expected)


def same_fields(a, b):
    """Whether records are equal bit for bit, apart from bytes between their fields."""
    if a.dtype.names:
        return all(same_fields(a[name], b[name]) for name in a.dtype.names)
    return oracle.same_bits(a, b)


def test_structured_arrays_as_numpy():
    a = records(np.dtype([("a", "i4"), ("b", "f8"), ("c", "S2")]), 5000)
    for order in (None, "b", ["c", "a"]):
        options = {} if order is None else {"order": order}
        assert np.array_equal(sortie.argsort(a, **options), np.argsort(a, kind="stable", **options))


def test_raw_bytes_and_nothing_at_all():
    a = np.array([b"b\0", b"a\0", b"a\1"], "V2")
    assert sortie.argsort(a).tolist() == [1, 2, 0]
    for dtype in ("S0", "U0", []):
        empty = np.zeros(3, dtype)
        assert sortie.argsort(empty).tolist() == [0, 1, 2]
        assert len(sortie.sort(empty)) == 3
    assert sortie.sort([]).tolist() == []
    assert sortie.argsort(np.zeros((3, 0))).shape == (3, 0)


@pytest.mark.parametrize(
    ("a", "says"),
    [
        (np.array([1, None], object), "astype"),
        (np.array([1], np.longdouble), "float64"),
        (np.array([1], np.clongdouble), "complex128"),
        (np.ma.array([1, 2]), "compressed"),
        (np.zeros(2, [("a", "i4"), ("b", object)]), "astype"),
        (["a", None], "astype"),
    ],
)
def test_types_without_an_order_are_refused(a, says):
    for function in (sortie.sort, sortie.argsort, sortie.is_sorted, sortie.sort_pairs):
        with pytest.raises(TypeError, match=says):
            function(a)


def test_errors_say_what_is_wrong():
    a = np.array([3, 1, 2])
    same = np.arange(3)
    for call, error, says in [
        (lambda: sortie.sort_pairs_inplace(same, same), ValueError, "share memory"),
        (lambda: sortie.sort(a, 1), np.exceptions.AxisError if hasattr(np, "exceptions") else np.AxisError, "axis 1 is out of bounds"),
        (lambda: sortie.sort(np.array(1)), ValueError, "axis"),
        (lambda: sortie.sort(a, nans="middle"), ValueError, "nans is 'middle'|nans is \"middle\""),
        (lambda: sortie.sort(a, order="mine"), ValueError, 'unknown order "mine"'),
        (lambda: sortie.argsort(a, order=["a", "b"]), ValueError, 'unknown order "a"'),
        (lambda: sortie.sort_pairs(a, order="mine"), ValueError, 'unknown order "mine"; choose'),
        (lambda: sortie.sort(a, order=3), TypeError, "order must be"),
        (lambda: sortie.sort(np.zeros(2, "i4,i4"), order="f2"), ValueError, "no field"),
        (lambda: sortie.sort(np.zeros(2, "i4,i4"), order=["f0", "f0"]), ValueError, "duplicate"),
        (lambda: sortie.sort(a, order="arrow", nans="first"), ValueError, "arrow"),
        (lambda: sortie.sort(a, threads=0), ValueError, "at least 1 thread"),
        (lambda: sortie.sort(a, threads=-1), ValueError, "negative"),
        (lambda: sortie.sort(a, threads=1.5), TypeError, "float"),
        (lambda: sortie.sort(a, memory_limit=-1), ValueError, "negative"),
        (lambda: sortie.sort(a, engine="tpu"), ValueError, "unknown engine"),
        (lambda: sortie.sort(a, out=[1, 2, 3]), TypeError, "out must be"),
        (lambda: sortie.sort(a, out=np.zeros(2, int)), ValueError, "out has shape"),
        (lambda: sortie.sort(a, out=np.zeros(3, "i2")), ValueError, "out has shape"),
        (lambda: sortie.sort_inplace([3, 1]), TypeError, "NumPy array or a tensor of torch, not list"),
        (lambda: sortie.argsort(a, dtype="f8"), TypeError, "indices are"),
        (lambda: sortie.argsort(np.zeros(100_000), memory_limit=1000), MemoryError, "memory_limit"),
        (lambda: sortie.sort_pairs(a, np.zeros(2)), ValueError, "2 rows"),
        (lambda: sortie.sort_pairs(np.zeros((2, 2))), ValueError, "dimensions"),
        (lambda: sortie.sort_segments(a), TypeError, "either lengths or offsets"),
        (lambda: sortie.sort_segments(a, 2), ValueError, "not a multiple"),
        (lambda: sortie.sort_segments(a, offsets=[2, 1]), ValueError, "must not decrease"),
        (lambda: sortie.sort_segments(a, offsets=[0, 4]), ValueError, "the array has 3"),
        (lambda: sortie.sort_segments(a, [1, 1]), ValueError, "add up to 2"),
        (lambda: sortie.sort_segments(a, offsets=[-1, 3]), ValueError, "-1"),
        (lambda: sortie.sort_segments(a, offsets=[0.5, 3]), TypeError, "integers"),
        (lambda: sortie.merge([a]), ValueError, "array 0 is not sorted"),
        (lambda: sortie.merge([]), TypeError, "at least one"),
        (lambda: sortie.merge([a[:1], a[:1].astype("f8")]), TypeError, "one type"),
        (lambda: sortie.lexsort([]), TypeError, "at least one"),
        (lambda: sortie.lexsort([a, a[:2]]), ValueError, "same shape"),
        (lambda: sortie.lexsort([a, a], descending=[True]), ValueError, "one for each"),
        (lambda: sortie.explain(a, "shuffle"), ValueError, "unknown operation"),
    ]:
        with pytest.raises(error, match=says):
            call()
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        sortie.sort_inplace(a)


def test_an_engine_that_is_not_there():
    if len(sortie.devices()) > 1:
        pytest.skip("this machine has a GPU")
    with pytest.raises(RuntimeError):
        sortie.sort(np.arange(10), engine="cuda")


def test_explain_says_where_and_why():
    assert sortie.explain(np.zeros(1000), threads=1).startswith("route:")
    assert "cpu" in sortie.explain(np.zeros((100, 1000), "f4"), "argsort")
    assert "cpu" in sortie.explain(np.array(["a", "b"]))


def test_reports_belong_to_threads():
    sortie.sort(rng.random(200_000))
    mine = str(sortie.last_report())
    found = []

    def other():
        found.append(sortie.last_report())
        sortie.argsort(rng.random(100_000))
        found.append(str(sortie.last_report()))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found[0] is None
    assert str(sortie.last_report()) == mine != found[1]
    report = sortie.last_report()
    assert report.phases and report.milliseconds > 0 and report.scratch_peak >= 0
    phase = report.phases[0]
    assert phase.engine == "cpu" and phase.bytes_read > 0 and phase.name in str(report)
    assert isinstance(phase.work, list) and phase.name in repr(phase) and "phases" in repr(report)


def test_the_gil_is_released():
    a = rng.random(3_000_000)
    started, counted = threading.Event(), []

    def count():
        started.set()
        n = 0
        while not counted:
            n += 1
        counted.append(n)

    thread = threading.Thread(target=count)
    thread.start()
    started.wait()
    sortie.argsort(a, threads=1)
    counted.append(None)
    thread.join()
    # Without the GIL the other thread would not have counted at all.
    assert counted[1] > 1000


def test_forked_processes_sort():
    multiprocessing = pytest.importorskip("multiprocessing")
    sortie.sort(rng.random(500_000), threads=2)
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        assert pool.map(sorted_in_child, [500_000, 400_000]) == [True, True]


def sorted_in_child(n):
    return sortie.is_sorted(sortie.sort(np.random.default_rng(n).random(n), threads=2))


def test_eight_threads_at_once():
    arrays = [rng.integers(0, 1000, 300_000) for _ in range(8)]
    results = [None] * 8

    def work(i):
        results[i] = sortie.argsort(arrays[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for a, indices in zip(arrays, results):
        assert np.array_equal(indices, np.argsort(a, kind="stable"))


def test_a_matrix_is_flattened_to_one_row():
    matrix = np.asmatrix([[3, 1, 2], [9, 7, 8]])
    assert sortie.sort(matrix, axis=None).tolist() == np.sort(matrix, axis=None).tolist()
    assert sortie.argsort(matrix, axis=None).tolist() == np.argsort(matrix, axis=None).tolist()
    assert not sortie.is_sorted(matrix, axis=None)


def test_threads_are_bounded_and_pools_end():
    a = rng.random(100_000)
    expected = np.sort(a)
    cores = len(os.sched_getaffinity(0))
    before = threads_of_this_process()
    for threads in (8000, 2**70, *range(2, 2 + 3 * cores)):
        assert np.array_equal(sortie.sort(a, threads=threads), expected)
    deadline = time.monotonic() + 10
    while threads_of_this_process() > before + 3 * 4 * cores and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threads_of_this_process() <= before + 3 * 4 * cores
    assert sortie.explain(a, threads=8000)


def threads_of_this_process():
    return len(os.listdir("/proc/self/task"))


def test_the_gil_is_released_for_few_elements_that_are_wide():
    wide = np.array([bytes([i % 251]) * 20_000 for i in range(1500, 0, -1)])
    counted, go = [0], threading.Event()

    def count():
        go.set()
        while go.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(10)
    try:
        thread.start()
        go.wait()
        start = counted[0]
        sortie.argsort(wide, threads=1)
        found = counted[0] - start
    finally:
        sys.setswitchinterval(interval)
        go.clear()
        thread.join()
    # With the GIL held, nobody counts.
    assert found > 100
