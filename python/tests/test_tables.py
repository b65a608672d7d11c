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
        (3, "a", TypeError, "no table"),
        ({"a": np.array([None, 1], object)}, "a", TypeError, "astype"),
    ]:
        with pytest.raises(error, match=says):
            sortie.sort_by(table, by)
    with pytest.raises(ValueError, match="nulls go"):
        sortie.sort_by(COLUMNS, "row", nulls="middle")
    with pytest.raises(ValueError, match="one for each"):
        sortie.sort_by(COLUMNS, BY, descending=[True])
