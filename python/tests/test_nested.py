"""Floats within encodings and nested types: the order of the plain column, bit for bit."""

import itertools

import numpy as np
import pytest
import sortie

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pc = pytest.importorskip("pyarrow.compute")

NEGATIVE = np.copysign(np.nan, -1.0)
NUMBERS = [1.0, NEGATIVE, -1.0, 0.0, np.nan, -0.0, None, np.inf, 0.0, NEGATIVE, -np.inf, np.nan, -0.0, 1.0]
OPTIONS = [
    {"descending": descending, "order": order, "nans": nans, "nulls": nulls}
    for descending, order, nans, nulls in itertools.product(
        [False, True], ["numpy", "total", "arrow"], ["last", "first"], ["last", "first"]
    )
    if (order, nans) != ("arrow", "first")
]


def other_dictionary(plain):
    """A dictionary whose values are in another order, with values that no row has."""
    values = pa.concat_arrays([plain.drop_null()[::-1], pa.array([7.0] * 20, plain.type)])
    n = len(plain.drop_null())
    places = iter(range(n - 1, -1, -1))
    keys = [next(places) if value.is_valid else None for value in plain]
    return pa.DictionaryArray.from_arrays(pa.array(keys, pa.int32()), values)


def nested(wrap):
    """An array whose elements hold one number each, and that is null where the number is."""

    def form(plain):
        return pa.array([None if x is None else wrap(x) for x in plain.to_pylist()], wrap(plain.type))

    return form


FORMS = {
    "plain": lambda plain: plain,
    "dictionary": lambda plain: plain.dictionary_encode(),
    "dictionary of more values": other_dictionary,
    "run-end encoded": pc.run_end_encode,
    "list": nested(lambda x: pa.list_(x) if isinstance(x, pa.DataType) else [x]),
    "large list": nested(lambda x: pa.large_list(x) if isinstance(x, pa.DataType) else [x]),
    "fixed-size list": nested(lambda x: pa.list_(x, 1) if isinstance(x, pa.DataType) else [x]),
    "struct": nested(lambda x: pa.struct([("a", x)]) if isinstance(x, pa.DataType) else {"a": x}),
    "map": nested(lambda x: pa.map_(pa.string(), x) if isinstance(x, pa.DataType) else [("a", x)]),
    "list of structs": nested(lambda x: pa.list_(pa.struct([("a", x)])) if isinstance(x, pa.DataType) else [{"a": x}]),
}


def bits(array):
    """The bits of the numbers, as they are in the rows."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    elif pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    return [None if x is None else np.float64(x).tobytes() for x in array.to_pylist()]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("width", [pa.float64(), pa.float32(), pa.float16()], ids=str)
def test_floats_within_are_sorted_as_plain_ones(form, width):
    plain = pa.array(np.array([np.nan if x is None else x for x in NUMBERS]).astype(width.to_pandas_dtype()), width)
    plain = pc.if_else(pa.array([x is not None for x in NUMBERS]), plain, pa.scalar(None, width))
    array = FORMS[form](plain)
    other = np.arange(len(plain)) % 2
    for options in OPTIONS:
        want = sortie.argsort(plain, **options).tolist()
        assert sortie.argsort(array, **options).tolist() == want, options
        found = sortie.sort(array, **options)
        assert found.type == array.type
        if form in ("dictionary", "dictionary of more values", "run-end encoded"):
            assert bits(found) == bits(plain.take(pa.array(want))), options
        assert sortie.is_sorted(found, **options)
        assert sortie.is_sorted(array, **options) == (want == sorted(want))
        # Among several columns, as the first and as the last.
        assert sortie.lexsort((other, array), **options).tolist() == sortie.lexsort((other, plain), **options).tolist()
        assert sortie.lexsort((array, other), **options).tolist() == sortie.lexsort((plain, other), **options).tolist()
        rows = [
            sortie.sort_by(pa.table({"o": other, "k": keys, "row": range(len(keys))}), ["o", "k"], **options)["row"].to_pylist()
            for keys in (array, plain)
        ]
        assert rows[0] == rows[1], options


def test_nulls_within_lists_and_structs_go_where_nulls_go():
    lists = pa.array([[1.0], [None], None, [np.nan], [-1.0]])
    structs = pa.array([{"a": 1.0}, {"a": None}, None, {"a": np.nan}, {"a": -1.0}])
    for array in (lists, structs):
        assert sortie.argsort(array).tolist() == [4, 0, 3, 1, 2]
        assert sortie.argsort(array, descending=True).tolist() == [0, 4, 3, 1, 2]
        assert sortie.argsort(array, nulls="first").tolist() == [2, 1, 4, 0, 3]
        assert sortie.argsort(array, nulls="first", descending=True).tolist() == [2, 1, 0, 4, 3]
        assert sortie.argsort(array, nans="first").tolist() == [3, 4, 0, 1, 2]
        assert sortie.argsort(array, nulls="first", nans="first").tolist() == [2, 1, 3, 4, 0]


def test_slices_and_chunks_of_lists():
    lists = pa.array([[9.0]] * 3 + [[x] for x in [1.0, NEGATIVE, -1.0, None]])
    assert sortie.argsort(lists[3:]).tolist() == [2, 0, 1, 3]
    assert sortie.argsort(pa.chunked_array([lists[3:5], lists[5:]])).tolist() == [2, 0, 1, 3]
    offsets, sizes = pa.array(range(len(lists)), pa.int32()), pa.array([1] * len(lists), pa.int32())
    views = pa.ListViewArray.from_arrays(offsets, sizes, lists.values)
    assert sortie.argsort(views[3:]).tolist() == [2, 0, 1, 3]


def test_sort_by_is_stable_for_dictionaries_of_lists():
    n, rng = 20_000, np.random.default_rng(1)
    codes, a = rng.integers(0, 3, n), rng.integers(0, 3, n)
    dictionary = pa.DictionaryArray.from_arrays(pa.array(codes.astype("i4")), pa.array([[1], [2], [3]]))
    lists = pa.ListArray.from_arrays(pa.array(np.arange(n + 1).astype("i4")), dictionary)
    structs = pa.StructArray.from_arrays([dictionary], ["d"])
    for keys in (dictionary, lists, structs):
        for descending in (False, True):
            found = sortie.sort_by(pa.table({"a": a, "k": keys, "row": range(n)}), ["a", "k"], descending=descending)
            sign = -1 if descending else 1
            assert found["row"].to_pylist() == np.lexsort((sign * codes, sign * a)).tolist()
            found = sortie.sort_by(pa.table({"k": keys, "row": range(n)}), ["k"], descending=descending)
            assert found["row"].to_pylist() == np.argsort(sign * codes, kind="stable").tolist()


@pytest.mark.parametrize(
    "array",
    [
        pa.array([2, None, 1]),
        pa.array([2.0, None, 1.0]),
        pa.array(["b", None, "a"]),
        pa.array([True, None, False]),
        pa.array(["b", None, "a"]).dictionary_encode(),
        pa.array([[2], None, [1]]),
        pc.run_end_encode(pa.array(["b", None, "a"])),
    ],
    ids=lambda array: str(array.type),
)
def test_nulls_go_first_or_last(array):
    for nulls, descending, want in [
        ("last", False, [2, 0, 1]),
        ("last", True, [0, 2, 1]),
        ("first", False, [1, 2, 0]),
        ("first", True, [1, 0, 2]),
    ]:
        options = {"nulls": nulls, "descending": descending}
        assert sortie.argsort(array, **options).tolist() == want
        found = sortie.sort(array, **options)
        assert found.to_pylist() == [array[i].as_py() for i in want]
        assert sortie.is_sorted(found, **options)
        other = "first" if nulls == "last" else "last"
        assert not sortie.is_sorted(found, nulls=other, descending=descending)
        assert sortie.lexsort((array,), **options).tolist() == want
        assert sortie.lexsort((array, [0, 0, 0]), nulls=[nulls, "last"], descending=[descending, False]).tolist() == want
        chunked = pa.chunked_array([found[:1], found[1:]])
        merged = sortie.merge([found[:2], found[2:]], **options)
        assert merged.type == array.type and merged.to_pylist() == found.to_pylist()
        assert isinstance(sortie.merge([chunked, chunked], **options), pa.ChunkedArray)
    for call in (sortie.sort, sortie.argsort, sortie.is_sorted):
        with pytest.raises(ValueError, match='nulls is "middle"'):
            call(array, nulls="middle")


def test_merge_of_series_and_tables():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    pl = pytest.importorskip("polars", reason="polars is not installed")
    assert sortie.merge([pl.Series([1, 4]), pl.Series([2, None])]).to_list() == [1, 2, 4, None]
    found = sortie.merge([pd.Series([1, 4], [10, 11]), pd.Series([2, 3], [20, 21])])
    assert found.index.tolist() == [10, 20, 21, 11]
    columns = [{"a": np.array([1, 1, 3]), "b": np.array([1, 2, 3])}, {"a": np.array([1, 2]), "b": np.array([4, 5])}]
    want = {"a": [1, 1, 1, 2, 3], "b": [1, 2, 4, 5, 3]}
    for make, read in [
        (dict, lambda table: {name: column.tolist() for name, column in table.items()}),
        (pd.DataFrame, lambda table: table.to_dict("list")),
        (pl.DataFrame, lambda table: table.to_dict(as_series=False)),
        (pa.table, lambda table: table.to_pydict()),
        (pa.record_batch, lambda table: table.to_pydict()),
        (lambda table: pd.DataFrame(table).to_records(index=False).view(np.ndarray), lambda table: {n: table[n].tolist() for n in "ab"}),
    ]:
        tables = [make(table) for table in columns]
        found = sortie.merge(tables, by="a")
        assert type(found) is type(tables[0]) and read(found) == want
        with pytest.raises(ValueError, match="table 0 is not sorted"):
            sortie.merge(tables, by="a", descending=True)
    ascending = pa.table({"a": [1, None]})
    assert sortie.merge([ascending, ascending], "a")["a"].to_pylist() == [1, 1, None, None]
    with pytest.raises(ValueError, match="table 0 is not sorted"):
        sortie.merge([ascending, ascending], "a", nulls="first")
    for call, error, says in [
        (lambda: sortie.merge([ascending]), TypeError, "by="),
        (lambda: sortie.merge([pd.DataFrame({"a": [1]})]), TypeError, "sort_by"),
        (lambda: sortie.merge([pa.array([1]), np.array([1])]), TypeError, "different libraries"),
        (lambda: sortie.merge([pa.array([1]), pa.array([1.0])]), TypeError, "Int64 and Float64"),
        (lambda: sortie.merge([pd.Series([1]), pd.Series([1.0])]), TypeError, "int64 and float64"),
        (lambda: sortie.merge([ascending, pa.table({"a": [1.0]})], "a"), TypeError, "different types"),
        (lambda: sortie.merge([ascending, pa.table({"b": [1]})], "a"), ValueError, "other columns"),
        (lambda: sortie.merge([pa.array([2, 1])]), ValueError, "array 0 is not sorted"),
    ]:
        with pytest.raises(error, match=says):
            call()


def test_merge_of_tables_that_follow_one_another():
    """What is in order already shares the columns of its argument, which is one table of several here."""
    pl = pytest.importorskip("polars", reason="polars is not installed")
    columns = [{"a": [1, 2]}, {"a": [2, 3]}]
    for make in (pa.table, pa.record_batch, pl.DataFrame):
        tables = [make(table) for table in columns]
        found = sortie.merge(tables, by="a")
        assert type(found) is type(tables[0]) and pl.DataFrame(found)["a"].to_list() == [1, 2, 2, 3]
        assert sortie.merge(tables[::-1][1:], by="a").equals(tables[0])
