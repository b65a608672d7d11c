"""Whole tables: dictionaries, structured arrays, pandas, polars, pyarrow and others."""

import numpy as np
import pytest
import sortie

rng = np.random.default_rng(21)
N = 3000
COLUMNS = {
    "text": rng.choice(np.array(["b", "a", "ccccccccccccccccccccc", ""]), N),
    "number": rng.integers(-3, 3, N),
    "float": rng.choice([np.nan, -1.0, 0.5, 0.0, -0.0], N),
    "row": np.arange(N),
}
BY = ["text", "number", "float"]


def expected(descending):
    keys = []
    for name, down in zip(BY, descending):
        column = COLUMNS[name]
        missing = np.isnan(column) if name == "float" else np.zeros(N, bool)
        ranks = np.unique(np.where(missing, 0, column) if name == "float" else column, return_inverse=True)[1]
        keys += [missing, -ranks if down else ranks]
    return np.lexsort(keys[::-1])


DIRECTIONS = [(False, False, False), (False, True, False), (True, False, True)]
directions = pytest.mark.parametrize("descending", DIRECTIONS)


@directions
def test_dictionaries(descending):
    rows = expected(descending)
    found = sortie.sort_by(COLUMNS, BY, descending=descending)
    assert list(found) == list(COLUMNS)
    for name, column in COLUMNS.items():
        np.testing.assert_array_equal(found[name], column[rows])


@directions
def test_structured_arrays(descending):
    table = np.zeros(N, [(name, column.dtype) for name, column in COLUMNS.items()])
    for name, column in COLUMNS.items():
        table[name] = column
    found = sortie.sort_by(table, BY, descending=list(descending))
    assert found["row"].tolist() == expected(descending).tolist()


@directions
def test_pandas(descending):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame(COLUMNS, index=np.arange(N) + 7)
    found = sortie.sort_by(frame, BY, descending=descending)
    assert isinstance(found, pd.DataFrame)
    assert found["row"].tolist() == expected(descending).tolist()
    assert found.index.tolist() == (found["row"] + 7).tolist()
    pd.testing.assert_frame_equal(found, frame.sort_values("row").iloc[expected(descending)])
    series = frame["number"]
    pd.testing.assert_series_equal(sortie.sort(series), series.sort_values(kind="stable"))
    assert np.array_equal(sortie.argsort(series), np.argsort(COLUMNS["number"], kind="stable"))
    texts = frame["text"]
    pd.testing.assert_series_equal(sortie.sort(texts), texts.sort_values(kind="stable"))


@directions
def test_polars(descending):
    pl = pytest.importorskip("polars", reason="polars is not installed")
    frame = pl.DataFrame(COLUMNS)
    found = sortie.sort_by(frame, BY, descending=descending)
    assert isinstance(found, pl.DataFrame) and found.schema == frame.schema
    assert found["row"].to_list() == expected(descending).tolist()
    series = frame["text"]
    assert sortie.sort(series).equals(series.sort())
    assert sortie.sort(series).name == "text"
    nulls = pl.Series([3, None, 1])
    assert sortie.sort(nulls).to_list() == [1, 3, None]
    enum = pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"]))
    assert sortie.sort(enum).dtype == enum.dtype


@directions
def test_pyarrow(descending):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pa.table(COLUMNS)
    cut = pa.concat_tables([table[:1000], table[1000:]])
    for source in (table, cut):
        found = sortie.sort_by(source, BY, descending=descending)
        assert isinstance(found, pa.Table) and found.schema == table.schema
        assert found["row"].to_pylist() == expected(descending).tolist()
    batch = table.combine_chunks().to_batches()[0]
    found = sortie.sort_by(batch, BY, descending=descending)
    assert isinstance(found, pa.RecordBatch)
    assert found["row"].to_pylist() == expected(descending).tolist()


def test_nulls_go_where_they_are_told():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pa.table({"a": [1, None, 2], "b": ["x", "y", "z"]})
    for descending, nulls, rows in [
        (False, "last", "xzy"),
        (False, "first", "yxz"),
        (True, "last", "zxy"),
        (True, ["first"], "yzx"),
    ]:
        found = sortie.sort_by(table, "a", descending=descending, nulls=nulls)
        assert "".join(found["b"].to_pylist()) == rows
    columns = sortie.sort_by({"a": pa.array([2, None, 1]), "b": np.arange(3)}, ["a"])
    assert isinstance(columns["a"], pa.Array) and columns["b"].tolist() == [2, 0, 1]


def test_other_arrow_tables():
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    relation = duckdb.sql("select (i * 7919) % 1000 as a, i as b from range(1000) t(i)")
    found = sortie.sort_by(relation, "a")
    assert pa.table(found)["a"].to_pylist() == list(range(1000))


def test_errors():
    for table, by, error, says in [
        (COLUMNS, "missing", KeyError, "text, number, float, row"),
        (COLUMNS, [], ValueError, "at least one"),
        ({"a": np.arange(2), "b": np.arange(3)}, "a", ValueError, "3 rows"),
        ({"a": np.arange(2), "b": np.arange(3)}, ["a", "b"], ValueError, "3 rows"),
        ({"a": np.zeros((2, 2))}, "a", ValueError, "2 dimensions"),
        (np.arange(3), "a", TypeError, "no columns"),
        (3, "a", TypeError, "not a table"),
        ({"a": np.array([None, 1], object)}, "a", TypeError, "astype"),
    ]:
        with pytest.raises(error, match=says):
            sortie.sort_by(table, by)
    with pytest.raises(ValueError, match="nulls is"):
        sortie.sort_by(COLUMNS, "row", nulls="middle")
    with pytest.raises(ValueError, match="one for each"):
        sortie.sort_by(COLUMNS, BY, descending=[True])


def test_ordered_categories_of_pandas():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    values = pd.Categorical(["low", "high", "mid", None, "low"], categories=["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"level": values, "row": range(5)})
    expected = frame.sort_values("level", kind="stable")
    pd.testing.assert_frame_equal(sortie.sort_by(frame, "level"), expected)
    pd.testing.assert_series_equal(sortie.sort(frame["level"]), expected["level"])
    assert sortie.argsort(frame["level"], descending=True).tolist() == [1, 2, 0, 4, 3]
    # pandas sorts categories without an order by their numbers, too.
    unordered = frame["level"].cat.as_unordered()
    assert sortie.sort(unordered).tolist()[:4] == unordered.sort_values().tolist()[:4] == ["low", "low", "mid", "high"]


def test_enums_of_polars():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    series = pl.Series("level", ["low", "high", "mid", None, "low"], dtype=pl.Enum(["low", "mid", "high"]))
    assert sortie.sort(series).to_list() == series.sort(nulls_last=True).to_list() == ["low", "low", "mid", "high", None]
    assert sortie.argsort(series, descending=True).tolist() == [1, 2, 0, 4, 3]
    frame = pl.DataFrame({"level": series, "row": range(5)})
    assert sortie.sort_by(frame, "level")["row"].to_list() == [0, 4, 2, 1, 3]
    twice = pl.concat([frame, frame], rechunk=False)
    assert sortie.sort_by(twice, "level")["row"].to_list() == [0, 4, 0, 4, 2, 2, 1, 1, 3, 3]
    assert sortie.sort(series.cast(pl.Categorical)).to_list() == ["high", "low", "low", "mid", None]


def test_derived_classes_stay():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    pl = pytest.importorskip("polars", reason="polars is not installed")

    class Frame(pd.DataFrame):
        @property
        def _constructor(self):
            return Frame

    class Other(pl.DataFrame):
        pass

    class Values(pl.Series):
        pass

    found = sortie.sort_by(Frame({"a": [2, 1]}), "a")
    assert type(found) is Frame and found["a"].tolist() == [1, 2]
    found = sortie.sort_by(Other({"a": [2, 1]}), "a")
    assert isinstance(found, pl.DataFrame) and found["a"].to_list() == [1, 2]
    found = sortie.sort(Values("a", [2, 1]))
    assert isinstance(found, pl.Series) and found.to_list() == [1, 2]


def test_names_that_are_not_strings_or_not_unique():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    rows = [[2, 1], [1, 2], [1, 1]]
    frame = pd.DataFrame(rows)
    assert sortie.sort_by(frame, 0).index.tolist() == [1, 2, 0]
    assert sortie.sort_by(frame, [0, 1]).index.tolist() == [2, 1, 0]
    named = pd.DataFrame(rows, columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    assert sortie.sort_by(named, ("a", "c")).index.tolist() == [0, 2, 1]
    assert sortie.sort_by(named, [("a", "b"), ("a", "c")]).index.tolist() == [2, 1, 0]
    assert sortie.sort_by({0: np.array([2, 1]), "x": np.array([3, 4])}, 0)["x"].tolist() == [4, 3]
    assert sortie.sort_by(COLUMNS, ("number", "row"))["row"].tolist() == np.argsort(COLUMNS["number"], kind="stable").tolist()
    for table in (
        pd.DataFrame([[2, 1, 5], [1, 2, 6]], columns=["a", "a", "b"]),
        pa.table([[2, 1], [1, 2], [5, 6]], names=["a", "a", "b"]),
    ):
        with pytest.raises(ValueError, match="2 columns with the name 'a'"):
            sortie.sort_by(table, "a")
        found = sortie.sort_by(table, "b", descending=True)
        assert list(found["b"].tolist() if isinstance(found, pd.DataFrame) else found["b"].to_pylist()) == [6, 5]
    for name in (3, None, ("a", "b"), ["a"], b"text"):
        with pytest.raises(KeyError, match="text, number"):
            sortie.sort_by(COLUMNS, name)


def test_columns_that_have_no_order_here():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    pl = pytest.importorskip("polars", reason="polars is not installed")
    sparse = pd.Series(pd.arrays.SparseArray([0, 2, 1]))
    for series, says in [
        (sparse, "astype"),
        (pl.Series([object(), object()], dtype=pl.Object), "series.cast"),
        (pl.Series([2, 1], dtype=pl.Int128), "Int128.*convert"),
        (pl.Series([None, None]), "Null.*convert"),
    ]:
        for call in (
            lambda: sortie.sort(series),
            lambda: sortie.argsort(series),
            lambda: sortie.sort_by({"a": series}, "a"),
            lambda: sortie.sort_by(pd.DataFrame({"a": series}) if series is sparse else pl.DataFrame({"a": series}), "a"),
        ):
            with pytest.raises(TypeError, match=says):
                call()
    for call in (lambda lazy: sortie.sort_by(lazy, "a"), sortie.sort, sortie.argsort, sortie.is_sorted):
        with pytest.raises(TypeError, match="collect"):
            call(pl.DataFrame({"a": [2, 1]}).lazy())
    for nothing in (None, object(), {"a": 1}):
        with pytest.raises(TypeError, match="cannot sort an object"):
            sortie.sort(nothing)


def test_an_expression_is_no_column():
    """`sort_by(df, pl.col("a"))` said in several lines that an expression has no truth value."""
    pl = pytest.importorskip("polars", reason="polars is not installed")
    pc = pytest.importorskip("pyarrow.compute", reason="pyarrow is not installed")
    frame = pl.DataFrame({"a": [2, 1], "b": [0, 1]})
    tables = [frame, frame.to_arrow(), frame.to_pandas(), {"a": np.arange(2)}]
    for table in tables:
        for by in (pl.col("a"), [pl.col("a")], [pc.field("a")], ["a", pl.col("b")]):
            with pytest.raises(TypeError, match=r'names of columns, and \w+ of \w+ is none; name the column, as in by="a"') as error:
                sortie.sort_by(table, by)
            assert "\n" not in str(error.value)


def test_names_that_are_missing_values():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame([[2, 0], [1, 1]], columns=pd.Index([pd.NA, "b"], dtype=object))
    assert sortie.sort_by(frame, "b").iloc[:, 0].tolist() == [2, 1]
    assert sortie.sort_by(frame, [pd.NA]).iloc[:, 0].tolist() == [1, 2]


def test_polars_knows_that_a_result_is_sorted():
    """Its flag is set on the first key, where the order of polars is that of the result."""
    pl = pytest.importorskip("polars", reason="polars is not installed")

    def flags(series):
        return series.flags["SORTED_ASC"], series.flags["SORTED_DESC"]

    def check(series, found):
        """The flag agrees with the order of polars, and polars gives what it gives without."""
        asc, desc = flags(found)
        plain = pl.Series(found.to_list(), dtype=found.dtype)
        for descending in (False, True):
            if (asc, desc)[descending]:
                nulls_last = found.null_count() == 0 or found[0] is not None
                assert plain.sort(descending=descending, nulls_last=nulls_last).equals(plain, null_equal=True)
        if not found.dtype.is_nested() and found.dtype != pl.Binary:
            for a, b in ((found.min(), plain.min()), (found.max(), plain.max())):
                assert a == b or (a != a and b != b)
        return asc, desc

    nan = float("nan")
    cases = [
        (pl.Series([3, None, 1]), True, True),
        (pl.Series([3.0, None, 1.0]), True, True),
        (pl.Series([3.0, nan, None, 1.0]), True, False),
        (pl.Series([nan, nan]), False, False),
        (pl.Series([-0.0, 0.0, -0.0]), True, True),
        (pl.Series(["b", None, "a"]), True, True),
        (pl.Series([b"b", b"a"]), True, True),
        (pl.Series([True, False, None]), True, True),
        (pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])), True, True),
        (pl.Series(["b", "a"], dtype=pl.Categorical), False, False),
        (pl.Series([2, 1], dtype=pl.Decimal(5, 2)), True, True),
        (pl.Series([2, 1]).cast(pl.Datetime("ns")), True, True),
        (pl.Series([2, 1]).cast(pl.Duration("ms")), True, True),
        (pl.Series([[1], [0]]), False, False),
        (pl.Series([None, None], dtype=pl.Int64), True, True),
    ]
    for series, ascending, descending in cases:
        for down, want in ((False, ascending), (True, descending)):
            assert check(series, sortie.sort(series, descending=down)) == ((want, False) if not down else (False, want)), series
            frame = pl.DataFrame({"a": series, "b": np.arange(len(series))})
            for nulls in ("first", "last"):
                found = sortie.sort_by(frame, ["a", "b"], descending=[down, False], nulls=nulls)
                assert check(series, found["a"]) == ((want, False) if not down else (False, want)), series
                assert flags(found["b"]) == flags(frame["b"]) and flags(frame["a"]) == flags(series)
    # NaNs where polars has them.
    floats = pl.Series([3.0, nan, None, 1.0])
    assert flags(sortie.sort(floats, descending=True, nans="first")) == (False, True)
    assert flags(sortie.sort(floats, nans="first")) == (False, False)
    assert flags(sortie.sort(pl.Series([np.copysign(nan, -1), 1.0]), order="arrow")) == (False, False)


def test_what_is_in_order_is_not_copied():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    n = 1000
    columns = {"a": np.arange(n) // 3, "text": np.array([f"{i} is a text of more than twelve bytes" for i in range(n)])}

    def addresses(table):
        return [[buffer.address for buffer in column.chunk(0).buffers() if buffer] for column in pa.table(table).columns]

    frame = pl.DataFrame(columns)
    found = sortie.sort_by(frame, "a")
    assert found is not frame and found.equals(frame) and addresses(found)[0] == addresses(frame)[0]
    assert found["a"].flags["SORTED_ASC"] and not frame["a"].flags["SORTED_ASC"]
    series = frame["text"].sort()
    assert sortie.sort(series).equals(series)
    table = pa.table(columns)
    assert sortie.sort_by(table, "a").equals(table) and addresses(sortie.sort_by(table, "a")) == addresses(table)
    batch = table.to_batches()[0]
    assert sortie.sort_by(batch, ["a"]).equals(batch)
    cut = pa.concat_tables([table[:500], table[500:]])
    assert sortie.sort_by(cut, "a").equals(table)
    pandas = pd.DataFrame(columns)
    found = sortie.sort_by(pandas, "a")
    pd.testing.assert_frame_equal(found, pandas)
    if pd.__version__ >= "3":
        assert np.shares_memory(found["a"].to_numpy(), pandas["a"].to_numpy())
    found.loc[0, "a"] = 7
    assert pandas.loc[0, "a"] == 0
    # Equal rows stay, in the other direction too.
    assert addresses(sortie.sort_by(frame.with_columns(a=0), "a", descending=True))[1] == addresses(frame)[1]


def test_polars_knows_of_every_first_key():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    keys, rows = pl.Series([2, None, 1]), np.arange(3)
    for nulls in ("first", "last"):
        assert sortie.sort(keys, nulls=nulls).flags["SORTED_ASC"]
    for sorted_keys, others in [
        sortie.sort_pairs(keys, pl.Series(rows), descending=True),
        sortie.sort_by({"a": keys, "b": pl.Series(rows)}, "a", descending=True).values(),
        sortie.merge([pl.DataFrame({"a": [2, 1], "b": [0, 1]}), pl.DataFrame({"a": [1], "b": [2]})], "a", descending=True),
    ]:
        assert sorted_keys.flags["SORTED_DESC"] and not sorted_keys.flags["SORTED_ASC"]
        assert not others.flags["SORTED_DESC"] and not others.flags["SORTED_ASC"]
    assert sortie.merge([pl.Series([1, 4]), pl.Series([2])]).flags["SORTED_ASC"]


def test_polars_forgets_the_order_of_categories_that_it_converts():
    """As the guide says: cast them to Enum first."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    pl = pytest.importorskip("polars", reason="polars is not installed")
    levels = ["low", "middle", "high"]
    ordered = pd.Series(pd.Categorical(["high", "low", "middle"], levels, ordered=True))
    assert sortie.sort(ordered).tolist() == levels
    converted = pl.from_pandas(ordered)
    assert sortie.sort(converted).to_list() == ["high", "low", "middle"] == converted.sort().to_list()
    assert sortie.sort(converted.cast(pl.Enum(levels))).to_list() == levels
