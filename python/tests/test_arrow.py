"""Arrow data, through the PyCapsule interface alone."""

import numpy as np
import pytest
import sortie
from hypothesis import given, settings
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pc = pytest.importorskip("pyarrow.compute")


class Exported:
    """Arrow data of no known library."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__(requested_schema)


class ExportedArray(Exported):
    def __arrow_c_array__(self, requested_schema=None):
        return self.data.__arrow_c_array__(requested_schema)


VALUES = {
    pa.int32(): st.integers(-2, 2),
    pa.uint64(): st.sampled_from([0, 1, 2**64 - 1]),
    pa.string(): st.text("ab", max_size=20),
    pa.large_string(): st.text("aé", max_size=3),
    pa.string_view(): st.text("ab", max_size=20),
    pa.binary(): st.binary(max_size=3),
    pa.bool_(): st.booleans(),
    pa.timestamp("ns"): st.integers(-3, 3),
    pa.date32(): st.integers(-3, 3),
    pa.decimal128(9, 2): st.integers(-3, 3),
    pa.float64(): st.sampled_from([-1.5, -0.0, 0.0, 2.5, float("inf")]),
    pa.float32(): st.sampled_from([-1.5, -0.0, 0.0, 2.5]),
    pa.dictionary(pa.int8(), pa.string()): st.sampled_from(["b", "a", "c"]),
    pa.list_(pa.int64()): st.lists(st.integers(0, 2), max_size=2),
}


@st.composite
def arrays(draw):
    dtype = draw(st.sampled_from(list(VALUES)))
    items = draw(st.lists(st.none() | VALUES[dtype], max_size=40))
    return pa.array(items, dtype)


def expected(array, descending):
    """Stable indices, nulls last."""
    items = array.to_pylist()
    valid = [i for i, item in enumerate(items) if item is not None]
    # `reverse` keeps the order of equal items.
    valid.sort(key=lambda i: items[i] if not isinstance(items[i], str) else items[i].encode(), reverse=descending)
    return valid + [i for i, item in enumerate(items) if item is None]


@settings(max_examples=150, deadline=None)
@given(arrays(), st.booleans(), st.integers(0, 10))
def test_argsort_and_sort(array, descending, cut):
    indices = expected(array, descending)
    # pyarrow picks no string views.
    items = array.to_pylist()
    want = [items[i] for i in indices]
    assert sortie.argsort(array, descending=descending).tolist() == indices
    chunked = pa.chunked_array([array[:cut], array[cut:]], array.type)
    assert sortie.argsort(chunked, descending=descending, dtype=np.uint32).tolist() == indices
    found = sortie.sort(array, descending=descending)
    assert type(found) is type(array)
    assert found.type == array.type and found.to_pylist() == want
    found = sortie.sort(chunked, descending=descending)
    assert isinstance(found, pa.ChunkedArray) and found.type == array.type and found.to_pylist() == want
    for other in (Exported(chunked), ExportedArray(array)):
        found = sortie.sort(other, descending=descending)
        assert not isinstance(found, (pa.Array, pa.ChunkedArray))
        assert pa.array(found).to_pylist() == want


def test_orders_of_floats():
    negative = np.copysign(np.nan, -1.0)
    array = pa.array([np.nan, 1.0, None, negative, 0.0, -0.0, -np.inf])
    assert sortie.argsort(array).tolist() == [6, 4, 5, 1, 0, 3, 2]
    assert sortie.argsort(array, descending=True).tolist() == [1, 4, 5, 6, 0, 3, 2]
    assert sortie.argsort(array, nans="first").tolist() == [0, 3, 6, 4, 5, 1, 2]
    assert sortie.argsort(array, order="total").tolist() == [6, 5, 4, 1, 0, 3, 2]
    assert sortie.argsort(array, order="arrow").tolist() == [3, 6, 5, 4, 1, 0, 2]
    found = sortie.sort(array, order="arrow", descending=True)
    assert found.to_pylist()[1:] == [1.0, 0.0, -0.0, -np.inf, pytest.approx(np.nan, nan_ok=True), None]


def test_is_sorted_and_lexsort():
    array = pa.array(["a", "b", None])
    assert sortie.is_sorted(array) and not sortie.is_sorted(array, descending=True)
    numbers = np.array([1.0, np.nan, 1.0, 0.0])
    texts = pa.array(["b", "a", "a", "b"])
    assert sortie.lexsort((numbers, texts)).tolist() == [2, 1, 3, 0]
    assert sortie.lexsort((texts, numbers), descending=[True, False]).tolist() == [3, 0, 2, 1]


def test_many_rows():
    rng = np.random.default_rng(1)
    words = pa.array(rng.integers(0, 10**6, 200_000).astype("U7"))
    want = pc.sort_indices(words)
    assert sortie.sort(words).equals(words.take(want))
    numbers = pa.array(rng.random(200_000))
    assert sortie.sort(numbers).equals(numbers.take(pc.sort_indices(numbers)))


def test_what_needs_numpy_says_so():
    array = pa.array([2, 1])
    for call in (
        lambda: sortie.sort_segments(array, 1),
        lambda: sortie.sort_inplace(array),
        lambda: sortie.sort(array, out=np.zeros(2)),
    ):
        with pytest.raises(TypeError, match="NumPy"):
            call()
    with pytest.raises(ValueError, match="one axis"):
        sortie.sort(array, 1)
    with pytest.raises(ValueError, match="sort_by"):
        sortie.argsort(array, order="name")


def test_an_ordered_dictionary_is_sorted_by_its_categories():
    order = ["low", "mid", "high"]
    numbers = [2, 0, None, 1, 0]
    array = pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int8()), pa.array(order), ordered=True)
    assert sortie.argsort(array).tolist() == [1, 4, 3, 0, 2]
    assert sortie.argsort(array, descending=True).tolist() == [0, 3, 1, 4, 2]
    found = sortie.sort(array)
    assert found.type == array.type and found.to_pylist() == ["low", "low", "mid", "high", None]
    chunked = pa.chunked_array([array[:2], array[2:]])
    assert sortie.sort(chunked).to_pylist() == found.to_pylist()
    table = pa.table({"level": chunked, "row": range(5)})
    assert sortie.sort_by(table, "level")["row"].to_pylist() == [1, 4, 3, 0, 2]
    assert sortie.lexsort([array]).tolist() == [1, 4, 3, 0, 2]
    other = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(["mid"]), ordered=True)
    with pytest.raises(ValueError, match="different categories"):
        sortie.sort(pa.chunked_array([array, other]))
    text = pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int8()), pa.array(order))
    assert sortie.sort(text).to_pylist() == ["high", "low", "low", "mid", None]


def test_unions_are_refused():
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])
    for call in (
        lambda: sortie.sort(union),
        lambda: sortie.argsort(union),
        lambda: sortie.sort_by(pa.table({"u": union}), "u"),
        lambda: sortie.lexsort([union]),
    ):
        with pytest.raises(TypeError, match="convert them to one type"):
            call()


def test_a_memory_limit_that_cannot_be_kept_is_refused():
    lists = pa.array([[2], [1]])
    assert sortie.argsort(lists).tolist() == [1, 0]
    with pytest.raises(ValueError, match="memory_limit cannot be kept"):
        sortie.argsort(lists, memory_limit=1 << 30)
    words = pa.array(["b", "a"] * 10_000)
    sortie.sort(words)
    assert sortie.last_report().scratch_peak > 16 * 20_000
    with pytest.raises(MemoryError):
        sortie.sort(words, memory_limit=100_000)
    numbers = pa.chunked_array([pa.array(range(10_000)), pa.array(range(10_000))])
    sortie.argsort(numbers)
    assert sortie.last_report().scratch_peak >= 8 * 20_000
