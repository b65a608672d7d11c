"""Extension types of pandas: the order of pandas, the type kept, and no float made from an integer."""

import numpy as np
import pytest
import sortie

pd = pytest.importorskip("pandas", reason="pandas is not installed")
pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

# Neighbours that float64 does not tell apart.
IDS = [1845000000000000123, 1845000000000000121, None, 1845000000000000122, 1845000000000000121]
DAYS = ["2024-03-01", "2024-01-01", None, "2024-02-01", "2024-01-01"]

COLUMNS = {
    "Int64": pd.Series(IDS, dtype="Int64"),
    "UInt64": pd.Series([2**64 - 1, 2**64 - 3, None, 2**64 - 2, 2**64 - 3], dtype="UInt64"),
    "Int8": pd.Series([3, -1, None, 2, -1], dtype="Int8"),
    "boolean": pd.Series([True, False, None, True, False], dtype="boolean"),
    "Float64": pd.Series([2.5, -1.0, None, 0.5, -1.0], dtype="Float64"),
    "string": pd.Series(["c", "a", None, "b", "a"], dtype="string"),
    "string[python]": pd.Series(["c", "a", None, "b", "a"], dtype="string[python]"),
    "str": pd.Series(["c", "a", None, "b", "a"], dtype="str"),
    "int64[pyarrow]": pd.Series(IDS, dtype="int64[pyarrow]"),
    "string[pyarrow]": pd.Series(["c", "a", None, "b", "a"], dtype="string[pyarrow]"),
    "decimal": pd.Series(pa.array([3, 1, None, 2, 1], pa.decimal128(20, 2)), dtype=pd.ArrowDtype(pa.decimal128(20, 2))),
    "zoned": pd.Series(pd.to_datetime(DAYS)).dt.tz_localize("Europe/Berlin"),
    "naive": pd.Series(pd.to_datetime(DAYS)),
    "timedelta": pd.Series(pd.to_timedelta([3, 1, None, 2, 1], unit="h")),
    "period": pd.Series(pd.PeriodIndex(DAYS, freq="D")),
    "interval": pd.Series(pd.arrays.IntervalArray.from_tuples([(3, 4), (1, 2), None, (1, 3), (1, 2)])),
    "category": pd.Series(pd.Categorical(["lo", "hi", None, "mid", "hi"], categories=["hi", "mid", "lo"], ordered=True)),
    "category without order": pd.Series(pd.Categorical(["a", "c", None, "b", "c"], categories=["c", "b", "a"])),
    "category of intervals": pd.Series(pd.cut([9, 1, np.nan, 5, 1], [0, 3, 6, 10])),
    "numpy": pd.Series([3, 1, 9, 2, 1]),
}
COLUMNS = [pytest.param(series, id=name) for name, series in COLUMNS.items()]
FORMS = {
    "series": lambda series: series,
    "values": lambda series: series.values,
    "array": lambda series: series.array,
    "index": pd.Index,
}
FORMS = [pytest.param(form, id=name) for name, form in FORMS.items()]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("series", COLUMNS)
def test_every_form_of_a_column_is_sorted_as_pandas_sorts_the_series(series, form):
    want = series.argsort(kind="stable").to_numpy()
    column = form(series)
    if isinstance(column, np.ndarray) and column.dtype == object:
        # What pandas 3 makes of periods and intervals.
        with pytest.raises(TypeError, match="convert"):
            sortie.argsort(column)
        return
    assert sortie.argsort(column).tolist() == want.tolist()
    assert sortie.lexsort((column,)).tolist() == want.tolist()
    found = sortie.sort(column)
    assert type(found) is type(column) and found.dtype == column.dtype
    expected = series.iloc[want]
    pd.testing.assert_series_equal(pd.Series(found), pd.Series(form(expected)), check_index=False)
    assert sortie.is_sorted(found) and not sortie.is_sorted(column)
    keys, rows = sortie.sort_pairs(column, np.arange(5))
    assert rows.tolist() == want.tolist() and keys.dtype == column.dtype
    assert pd.Series(keys).equals(pd.Series(found))
    rows, values = sortie.sort_pairs(np.array([4, 3, 2, 1, 0]), column)
    assert values.dtype == column.dtype and pd.Series(values).equals(pd.Series(form(series.iloc[::-1])))
    table = sortie.sort_by({"key": column, "row": np.arange(5)}, "key")
    assert table["row"].tolist() == want.tolist() and table["key"].dtype == column.dtype
    # Sorted by another column, the values are what they were.
    table = sortie.sort_by({"key": column, "row": np.array([4, 3, 2, 1, 0])}, "row")
    assert pd.Series(table["key"]).equals(pd.Series(form(series.iloc[::-1])))
    merged = sortie.merge([found[:2], found[2:]])
    assert type(merged) is type(column) and merged.dtype == column.dtype
    assert pd.Series(merged).reset_index(drop=True).equals(pd.Series(found).reset_index(drop=True))


@pytest.mark.parametrize("series", COLUMNS)
def test_a_frame_is_sorted_as_pandas_sorts_it(series):
    frame = pd.DataFrame({"key": series, "row": range(5)})
    pd.testing.assert_frame_equal(sortie.sort_by(frame, "key"), frame.sort_values("key", kind="stable"))


def test_ids_of_64_bits_are_not_rounded():
    ids = pd.Series(IDS, dtype="Int64").values
    assert sortie.argsort(ids).tolist() == [1, 4, 3, 0, 2]
    assert sortie.argsort(ids, descending=True, nulls="first").tolist() == [2, 0, 3, 1, 4]
    assert list(sortie.sort(ids))[:4] == sorted(id for id in IDS if id)
    assert not sortie.is_sorted(pd.array(IDS[:2], dtype="Int64"))


def test_what_has_no_order_says_what_to_convert_it_to():
    objects = pd.Series(["b", 1, None], dtype=object)
    for column in (objects, objects.values, objects.array, pd.Index(objects)):
        with pytest.raises(TypeError, match="convert") as error:
            sortie.sort(column)
        if not isinstance(column, np.ndarray):
            assert 'astype("str")' in str(error.value) and "StringDType" not in str(error.value)
            assert len(sortie.sort(column.astype("str"))) == 3
    sparse = pd.Series(pd.arrays.SparseArray([2, 0, 1]))
    for column in (sparse, sparse.array, pd.Index(sparse)):
        with pytest.raises(TypeError, match=r'astype\("int64"\)'):
            sortie.argsort(column)
        assert sortie.argsort(column.astype("int64")).tolist() == [1, 2, 0]
    with pytest.raises(TypeError, match="to_frame"):
        sortie.sort(pd.MultiIndex.from_tuples([(1, 2), (0, 1)]))
    for call in (sortie.sort_inplace, lambda column: sortie.sort_segments(column, 1)):
        with pytest.raises(TypeError, match="NumPy"):
            call(pd.array([2, 1], dtype="Int64"))


def test_an_extension_type_that_pandas_does_not_know_is_refused():
    class Dtype(pd.Int64Dtype):
        name = "own"

    class Own(pd.api.extensions.ExtensionArray):
        dtype = Dtype()

        def __len__(self):
            return 2

        def __array__(self, dtype=None, copy=None):
            return np.array([1845000000000000123, 1845000000000000121], float)

    with pytest.raises(TypeError, match="does not know the type own.*astype"):
        sortie.sort(Own())
