"""Single questions of docs/orders.md: where two packages meet, little-used packages and formats, what a call costs beside a sort.

A guess was noted before the question was run, and stays as it was. It is None where none was noted.
"""

import sys
import tempfile
import time

from questions import show

QUESTIONS = []


def ask(packages, text, guess):
    def add(function):
        QUESTIONS.append((packages, text, guess, function))
        return function

    return add


def collect():
    return [{"text": text, "packages": packages, "guess": guess, "answer": answer(text, function)} for packages, text, guess, function in QUESTIONS]


def answer(text, function):
    try:
        return show(function())
    except Exception as error:
        print(f"  {text}: {type(error).__name__}: {error}", file=sys.stderr)
        return type(error).__name__


def compare(call, sort):
    """How long a call takes beside the sort that it saves: the best of three runs each."""

    def best(function):
        function()
        times = []
        for _ in range(3):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
        return min(times)

    ratio = best(call) / best(sort)
    return "slower" if ratio > 1.3 else "faster" if ratio < 0.77 else "as fast"


# Where two packages meet

LEVELS = ["low", "middle", "high"]
VALUES = ["high", "low", "middle"]


@ask("Polars, PyArrow", "Enum low < middle < high of Polars, converted to Arrow and sorted there: high, low, middle", "high low middle")
def _():
    import polars as pl

    return pl.DataFrame({"x": pl.Series(VALUES, dtype=pl.Enum(LEVELS))}).to_arrow().sort_by("x")["x"]


@ask("pandas, Polars", "ordered categorical low < middle < high of pandas, from_pandas, sorted: high, low, middle", "low middle high")
def _():
    import pandas as pd
    import polars as pl

    return pl.from_pandas(pd.Series(pd.Categorical(VALUES, LEVELS, ordered=True))).sort()


@ask("pandas, Polars", "the same through a Parquet file", "low middle high")
def _():
    import pandas as pd
    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        pd.DataFrame({"x": pd.Categorical(VALUES, LEVELS, ordered=True)}).to_parquet(f"{folder}/x.parquet")
        return pl.read_parquet(f"{folder}/x.parquet")["x"].sort()


@ask("pandas, DuckDB", "ordered categorical low < middle < high in a frame, ORDER BY in DuckDB: high, low, middle", "low middle high")
def _():
    import pandas as pd
    import duckdb

    frame = pd.DataFrame({"x": pd.Categorical(VALUES, LEVELS, ordered=True)})
    return [row[0] for row in duckdb.sql("SELECT x FROM frame ORDER BY x").fetchall()]


@ask("DuckDB, pandas", "an ENUM low < middle < high, .df(), whether pandas has its maximum", "TypeError")
def _():
    import duckdb

    return duckdb.sql("SELECT unnest(['high', 'low', 'middle'])::ENUM('low', 'middle', 'high') AS x").df()["x"].max()


@ask("DuckDB, Polars", "an ENUM low < middle < high, .pl(), sorted: high, low, middle", "low middle high")
def _():
    import duckdb

    return duckdb.sql("SELECT unnest(['high', 'low', 'middle'])::ENUM('low', 'middle', 'high') AS x").pl()["x"].sort()


@ask("DuckDB", "ENUM low < middle < high: the values of which x > 'low'", "high middle")
def _():
    import duckdb

    query = "FROM (SELECT unnest(['high', 'low', 'middle'])::ENUM('low', 'middle', 'high') AS x) WHERE x > 'low'"
    return [row[0] for row in duckdb.sql(query).fetchall()]


@ask("DuckDB", "ENUM low < middle < high: greatest(middle, high)", "high")
def _():
    import duckdb

    kind = "ENUM('low', 'middle', 'high')"
    return duckdb.sql(f"SELECT greatest('middle'::{kind}, 'high'::{kind})").fetchall()[0][0]


@ask("DuckDB", "ENUM low < middle < high through a Parquet file of DuckDB, ORDER BY: high, low, middle", "high low middle")
def _():
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        query = "SELECT unnest(['high', 'low', 'middle'])::ENUM('low', 'middle', 'high') AS x"
        duckdb.sql(f"COPY ({query}) TO '{folder}/x.parquet'")
        return [row[0] for row in duckdb.sql(f"SELECT x FROM '{folder}/x.parquet' ORDER BY x").fetchall()]


@ask("Ibis", "order_by of 2, null, 1, descending, in DuckDB | Polars", "2 1 null | 2 1 null")
def _():
    return two_engines(lambda t: t.order_by(t.x.desc()))


@ask("Ibis", "quantile 0.5 of the integers 1, 2 in DuckDB | Polars", "1.5 | 1.5")
def _():
    return two_engines(lambda t: t.x.quantile(0.5).name("x").as_table(), [1, 2])


@ask("Ibis", "median of the integers 1, 2 in DuckDB | Polars", "1.5 | 1.5")
def _():
    return two_engines(lambda t: t.x.median().name("x").as_table(), [1, 2])


@ask("Ibis", "the index of the row with the maximum of 2, nan, 3 by argmax, in DuckDB | Polars", "1 | 1")
def _():
    return two_engines(lambda t: t.i.argmax(t.x).name("x").as_table(), [2.0, float("nan"), 3.0])


@ask("Ibis", "rank of 2, 2, null in DuckDB | Polars", "0 0 2 | 0 0 2")
def _():
    import ibis

    return two_engines(lambda t: t.select(x=ibis.rank().over(order_by=t.x)).order_by("x"), [2, 2, None])


def two_engines(question, values=(2, None, 1)):
    import ibis
    import pyarrow as pa

    table, answers = pa.table({"x": pa.array(values), "i": list(range(len(values)))}), []
    for connect in (ibis.duckdb.connect, ibis.polars.connect):
        try:
            answers.append(show(connect().to_pyarrow(question(ibis.memtable(table)))["x"]))
        except Exception as error:
            print("   ", type(error).__name__, error, file=sys.stderr)
            answers.append(type(error).__name__)
    return " | ".join(answers)


@ask("Narwhals", "rank of 2, nan, 1 in pandas | Polars | PyArrow", "2 null 1 | 2 3 1 | 2 3 1")
def _():
    return three_frames(lambda s: s.rank("min"), [2.0, float("nan"), 1.0])


@ask("Narwhals", "sort of 2, nan, 1, descending, in pandas | Polars | PyArrow", "nan 2 1 | nan 2 1 | nan 2 1")
def _():
    return three_frames(lambda s: s.sort(descending=True), [2.0, float("nan"), 1.0])


@ask("Narwhals", "maximum of 2, nan, 1 in pandas | Polars | PyArrow", "2 | 2 | 2")
def _():
    return three_frames(lambda s: s.max(), [2.0, float("nan"), 1.0])


@ask("Narwhals", "quantile 0.5 with 'nearest' of the integers 1, 2, 3, 4 in pandas | Polars | PyArrow", "3 | 3 | 3")
def _():
    return three_frames(lambda s: s.quantile(0.5, "nearest"), [1, 2, 3, 4])


@ask("Narwhals", "is_sorted of 1, 2, 2, null in pandas | Polars | PyArrow", "True | True | True")
def _():
    return three_frames(lambda s: s.is_sorted(), [1.0, 2.0, 2.0, None])


def three_frames(question, values):
    import narwhals as nw
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    answers = []
    for series in (pd.Series(values), pl.Series(values), pa.chunked_array([pa.array(values)])):
        try:
            result = question(nw.from_native(series, series_only=True))
            answers.append(show(result.to_list() if hasattr(result, "to_list") else result))
        except Exception as error:
            print("   ", type(error).__name__, error, file=sys.stderr)
            answers.append(type(error).__name__)
    return " | ".join(answers)


@ask("Polars", "Polars' SQL: ORDER BY of 2, null, 1 | DESC", "1 2 null | null 2 1")
def _():
    import polars as pl

    table = pl.DataFrame({"x": [2, None, 1]})
    return " | ".join(show(table.sql(f"SELECT x FROM self ORDER BY x {way}")["x"]) for way in ("", "DESC"))


@ask("Polars", "Polars' SQL: quantile_disc | quantile_cont | median of the integers 1, 2", "1 | 1.5 | 1.5")
def _():
    import polars as pl

    table = pl.DataFrame({"x": [1, 2]})
    return " | ".join(show(table.sql(f"SELECT {call} AS x FROM self")["x"]) for call in ("quantile_disc(x, 0.5)", "quantile_cont(x, 0.5)", "median(x)"))


@ask("Polars", "a list column of Enum low < middle < high: [high], [low], [middle], sorted", "[low] [middle] [high]")
def _():
    import polars as pl

    return pl.Series([["high"], ["low"], ["middle"]], dtype=pl.List(pl.Enum(LEVELS))).sort()


@ask("Polars", "list.sort of Enum low < middle < high in [high, low, middle]", "[low, middle, high]")
def _():
    import polars as pl

    return pl.Series([VALUES], dtype=pl.List(pl.Enum(LEVELS))).list.sort()


@ask("Polars", "list.max of 2, nan, 1 | max", "2 | 2")
def _():
    import polars as pl

    values = [2.0, float("nan"), 1.0]
    return f"{show(pl.Series([values]).list.max()[0])} | {show(pl.Series(values).max())}"


@ask("Polars", "rolling_median of 1, nan, 3, 4, 5 over 2: the last two", "3.5 4.5")
def _():
    import polars as pl

    return pl.Series([1.0, float("nan"), 3.0, 4.0, 5.0]).rolling_median(2)[-2:]


@ask("Polars", "bottom_k(2) of 2, null, 1, null", "1 2")
def _():
    import polars as pl

    return pl.Series([2, None, 1, None]).bottom_k(2).sort()


@ask("Polars", "qcut into halves of 1, 1, 1, 2: the number of values in the lower half", "3")
def _():
    import polars as pl

    return int((pl.Series([1, 1, 1, 2]).qcut(2, labels=["a", "b"]) == "a").sum())


@ask("Polars", "max of a Categorical b, a, c after the categories were seen as b, a, c", "c")
def _():
    import polars as pl

    return pl.Series(["b", "a", "c"], dtype=pl.Categorical).max()


@ask("Polars", "median of Decimal 1.1 and 1.2", "1.15")
def _():
    from decimal import Decimal

    import polars as pl

    return float(pl.Series([Decimal("1.1"), Decimal("1.2")]).median())


# Array libraries


@ask("PyArrow", "run_end_encode of 0.0, -0.0, decoded", "0 0 0")
def _():
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.run_end_decode(pc.run_end_encode(pa.array([0.0, -0.0])))


@ask("PyArrow", "run_end_encode of nan, nan: the number of runs", "2")
def _():
    import pyarrow as pa
    import pyarrow.compute as pc

    return len(pc.run_end_encode(pa.array([float("nan")] * 2)).values)


@ask("PyArrow", "cumulative_max of 1, nan, 3", "1 nan nan")
def _():
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.cumulative_max(pa.array([1.0, float("nan"), 3.0]))


@ask("PyArrow", "is_in of -0.0 in a set of 0.0", "False")
def _():
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.is_in(pa.array([-0.0]), pa.array([0.0]))


@ask("PyArrow", "mode of nan, nan, 1", "nan")
def _():
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.mode(pa.array([float("nan"), float("nan"), 1.0])).field("mode")


@ask("PyArrow", "rank of 0.0, -0.0, dense", "1 1")
def _():
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.rank(pa.array([0.0, -0.0]), tiebreaker="dense")


@ask("PyArrow", "quantile 0.5 of a decimal column 1.1, 1.2", "1.15")
def _():
    from decimal import Decimal

    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.quantile(pa.array([Decimal("1.1"), Decimal("1.2")]))


@ask("torch", "kthvalue 3 of 2, nan, 1", "nan")
def _():
    import torch

    return torch.kthvalue(torch.tensor([2, float("nan"), 1]), 3).values


@ask("torch", "bucketize of nan with the bounds 1, 2", "2")
def _():
    import torch

    return torch.bucketize(torch.tensor(float("nan")), torch.tensor([1.0, 2.0]))


@ask("torch", "cummax of 1, nan, 3", "1 nan nan")
def _():
    import torch

    return torch.cummax(torch.tensor([1, float("nan"), 3]), 0).values


@ask("torch", "unique_consecutive of nan, nan", "nan nan")
def _():
    import torch

    return torch.unique_consecutive(torch.tensor([float("nan")] * 2))


@ask("torch", "mode of 3, 1, 3, 1", "1")
def _():
    import torch

    return torch.mode(torch.tensor([3, 1, 3, 1])).values


@ask("JAX", "searchsorted of nan in 1, 2, nan by 'scan' | 'sort' | 'compare_all'", "2 | 2 | 2")
def _():
    import jax.numpy as jnp

    return " | ".join(show(jnp.searchsorted(jnp.array([1, 2, jnp.nan]), jnp.nan, method=way)) for way in ("scan", "sort", "compare_all"))


@ask("JAX", "searchsorted of 0.0 in -0.0, 0.0 by 'scan' | 'sort' | 'compare_all'", "0 | 0 | 0")
def _():
    import jax.numpy as jnp

    return " | ".join(show(jnp.searchsorted(jnp.array([-0.0, 0.0]), 0.0, method=way)) for way in ("scan", "sort", "compare_all"))


@ask("NumPy 2.5", "sort of b, a with a None in StringDType, descending", "b a null")
def _():
    import numpy as np

    return np.sort(np.array(["b", None, "a"], np.dtypes.StringDType(na_object=None)), descending=True)


@ask("NumPy 2.5", "unique(sorted=False) of nan, 1, nan: how many", "2")
def _():
    import numpy as np

    return len(np.unique(np.array([np.nan, 1, np.nan]), sorted=False))


@ask("NumPy 2.5", "sort of 1+2i, 1+3i, nan, descending", "(1+3j) (1+2j) (nan+0j)")
def _():
    import numpy as np

    return np.sort(np.array([1 + 2j, 1 + 3j, np.nan]), descending=True)


@ask("Bottleneck", "rankdata of 2, nan, 1", "2 3 1")
def _():
    import bottleneck
    import numpy as np

    return bottleneck.rankdata(np.array([2, np.nan, 1]))


@ask("Bottleneck", "partition of 3, nan, 1, 2 at 1: the two smallest, sorted", "1 2")
def _():
    import bottleneck
    import numpy as np

    return sorted(bottleneck.partition(np.array([3, np.nan, 1, 2]), 1)[:2].tolist())


@ask("Bottleneck", "move_rank of the identifiers 2^53, 2^53 + 1 over 2 (rank -1 to 1)", "nan 1")
def _():
    import bottleneck
    import numpy as np

    return bottleneck.move_rank(np.array([2**53, 2**53 + 1]), 2)


@ask("Bottleneck", "nanargmax of 1, 3, 3 | numpy", "1 | 1")
def _():
    import bottleneck
    import numpy as np

    x = np.array([1.0, 3, 3])
    return f"{bottleneck.nanargmax(x)} | {np.nanargmax(x)}"


@ask("Numbagg", "nanquantile 0.5 of the integer 2^53 + 1, minus 2^53", "0")
def _():
    import numbagg
    import numpy as np

    return int(numbagg.nanquantile(np.array([2**53 + 1, 2**53 + 1]), 0.5)) - 2**53


@ask("SciPy", "ndimage.median_filter of size 3 of 1, 2, nan, 4, 5: the middle three", "2 4 5")
def _():
    import numpy as np
    import scipy.ndimage

    return scipy.ndimage.median_filter(np.array([1, 2, np.nan, 4, 5]), 3)[1:4]


@ask("SciPy", "ndimage.maximum of 1, nan, 3 in one region", "nan")
def _():
    import numpy as np
    import scipy.ndimage

    return scipy.ndimage.maximum(np.array([1, np.nan, 3]), np.array([1, 1, 1]), 1)


@ask("SciPy", "ndimage.median of 1, 2, nan, 4 in one region", "nan")
def _():
    import numpy as np
    import scipy.ndimage

    return scipy.ndimage.median(np.array([1, 2, np.nan, 4]), np.array([1, 1, 1, 1]), 1)


@ask("SciPy", "stats.mode of nan, nan, 1", "nan")
def _():
    import numpy as np
    import scipy.stats

    return scipy.stats.mode(np.array([np.nan, np.nan, 1])).mode


@ask("SciPy", "stats.rankdata of the identifiers 2^53, 2^53 + 1", "1 2")
def _():
    import numpy as np
    import scipy.stats

    return scipy.stats.rankdata(np.array([2**53, 2**53 + 1]))


@ask("SciPy", "stats.quantile 0.5 of the integer 2^53 + 1 by 'inverted_cdf', minus 2^53", "1")
def _():
    import numpy as np
    import scipy.stats

    return int(scipy.stats.quantile(np.array([2**53 + 1] * 3), 0.5, method="inverted_cdf")) - 2**53


@ask("scikit-learn", "OrdinalEncoder of an ordered categorical low < middle < high: the codes of low, middle, high", "0 1 2")
def _():
    import pandas as pd
    import sklearn.preprocessing

    frame = pd.DataFrame({"x": pd.Categorical(LEVELS, LEVELS, ordered=True)})
    return sklearn.preprocessing.OrdinalEncoder().fit_transform(frame)[:, 0]


@ask("scikit-learn", "label_ranking_average_precision_score, the true label tied with one other at the top", "0.5")
def _():
    import sklearn.metrics

    return float(sklearn.metrics.label_ranking_average_precision_score([[1, 0, 0]], [[1.0, 1.0, 0.0]]))


@ask("dask", "array: topk(2) of 2, nan, 1, 3 in chunks of 2", "nan 3")
def _():
    import dask.array as da
    import numpy as np

    return da.topk(da.from_array(np.array([2, np.nan, 1, 3]), chunks=2), 2).compute()


@ask("dask", "array: argtopk(2) of 1, 3, 3, 3 in chunks of 2", "1 2")
def _():
    import dask.array as da
    import numpy as np

    return da.argtopk(da.from_array(np.array([1, 3, 3, 3]), chunks=2), 2).compute()


@ask("dask", "array: unique of nan, 1 | nan, 1 in two chunks", "1 nan")
def _():
    import dask.array as da
    import numpy as np

    return da.unique(da.from_array(np.array([np.nan, 1, np.nan, 1]), chunks=2)).compute()


@ask("dask", "array: searchsorted of nan in 1, 2, nan, nan in chunks of 2", "2")
def _():
    import dask.array as da
    import numpy as np

    return da.searchsorted(da.from_array(np.array([1, 2, np.nan, np.nan]), chunks=2), da.from_array(np.array([np.nan]))).compute()


@ask("dask", "data frame: nlargest(1) of 3, 3, in two partitions: the index", "0")
def _():
    import dask.dataframe as dd
    import pandas as pd

    return dd.from_pandas(pd.DataFrame({"x": [3, 3]}), npartitions=2).nlargest(1, "x").compute().index


@ask("sparse", "sort of 3, 0, nan, -1", "-1 0 3 nan")
def _():
    import numpy as np
    import sparse

    return sparse.sort(sparse.COO.from_numpy(np.array([3, 0, np.nan, -1]))).todense()


@ask("sparse", "sort of 3, 0, nan, -1, descending", "3 0 -1 nan")
def _():
    import numpy as np
    import sparse

    return sparse.sort(sparse.COO.from_numpy(np.array([3, 0, np.nan, -1])), descending=True).todense()


@ask("Numba", "median of 1, nan, 2, 3 in a compiled function", "nan")
def _():
    import numba
    import numpy as np

    return numba.njit(lambda x: np.median(x))(np.array([1, np.nan, 2, 3]))


@ask("Numba", "searchsorted of nan in 1, 2, nan in a compiled function", "2")
def _():
    import numba
    import numpy as np

    return numba.njit(lambda x: np.searchsorted(x, np.nan))(np.array([1, 2, np.nan]))


@ask("Numba", "partition of 3, nan, 1, 2 at 1 in a compiled function: the two smallest, sorted", "1 2")
def _():
    import numba
    import numpy as np

    return sorted(numba.njit(lambda x: np.partition(x, 1))(np.array([3, np.nan, 1, 2]))[:2].tolist())


@ask("numpy-groupies", "argmax of 1, nan, 3 in one group", "1")
def _():
    import numpy as np
    import numpy_groupies

    return numpy_groupies.aggregate(np.array([0, 0, 0]), np.array([1, np.nan, 3]), func="argmax")


@ask("Awkward", "argsort of 40 equal numbers, no option: whether indices ascend", "True")
def _():
    import awkward as ak
    import numpy as np

    return bool((np.diff(ak.argsort(ak.Array([1.0] * 40)).to_numpy()) > 0).all())


@ask("Awkward", "sort of strings b, None, a, descending", "b a null")
def _():
    import awkward as ak

    return ak.sort(ak.Array(["b", None, "a"]), ascending=False)


# Databases, files and little-used packages


@ask("DuckDB", "ENUM low < middle < high: greatest('middle', 'high'), the latter as text", "high")
def _():
    import duckdb

    return duckdb.sql("SELECT greatest('middle'::ENUM('low', 'middle', 'high'), 'high')").fetchall()[0][0]


@ask("DuckDB", "the maximum of 2.5, 10, 9 that are VARIANTs from JSON", "10")
def _():
    import duckdb

    return float(duckdb.sql("SELECT max(j::VARIANT) FROM (VALUES ('2.5'::JSON), ('10'), ('9')) t(j)").fetchall()[0][0])


@ask("DuckDB", "approx_quantile 0.5 of the integers 1, 2", None)
def _():
    import duckdb

    return duckdb.sql("SELECT approx_quantile(x, 0.5) FROM (VALUES (1), (2)) t(x)").fetchall()[0][0]


@ask("DuckDB", "mode of 2, 1, 2, 1", "1")
def _():
    import duckdb

    return duckdb.sql("SELECT mode(x) FROM (VALUES (2), (1), (2), (1)) t(x)").fetchall()[0][0]


@ask("DuckDB", "lists of text without case, ['b'], ['A'], ['a'], ['C'], ORDER BY in a column COLLATE NOCASE", None)
def _():
    import duckdb

    query = "SELECT [x] FROM (SELECT unnest(['b', 'A', 'a', 'C']) COLLATE NOCASE AS x) ORDER BY [x]"
    return [row[0] for row in duckdb.sql(query).fetchall()]


@ask("ClickHouse", "quantile | quantileExact | quantileTDigest 0.5 of the integers 1, 2", None)
def _():
    return clickhouse("SELECT quantile(0.5)(x), quantileExact(0.5)(x), quantileTDigest(0.5)(x) FROM values('x Int32', 1, 2)")


@ask("ClickHouse", "least(nan, 1) | least(1, nan)", None)
def _():
    return clickhouse("SELECT least(nan, 1), least(1, nan)")


@ask("ClickHouse", "has([nan], nan) | nan IN (nan)", None)
def _():
    return clickhouse("SELECT has([nan], nan), nan IN (nan)")


@ask("ClickHouse", "tuples (2, 1), (nan, 2), (1, 3), descending: the second elements", None)
def _():
    return clickhouse("SELECT arrayJoin(groupArray(x.2)) FROM (SELECT x FROM values('x Tuple(Float64, Int32)', (2, 1), (nan, 2), (1, 3)) ORDER BY x DESC)")


def clickhouse(query):
    import chdb

    return chdb.query(query, "CSV").bytes().decode().strip().replace("\n", ",").replace(",", " | ")


@ask("PyTables", "read_sorted of 2, nan, 1, nan, 0.0, -0.0 by an index: the indices", None)
def _():
    import numpy as np
    import tables

    rows = np.array([(value, index) for index, value in enumerate([2, np.nan, 1, np.nan, 0.0, -0.0])], [("x", "f8"), ("i", "i8")])
    with tempfile.TemporaryDirectory() as folder, tables.open_file(f"{folder}/x.h5", "w") as file:
        table = file.create_table("/", "t", rows)
        table.cols.x.create_csindex()
        return table.read_sorted("x")["i"]


@ask("Lance", "x > 1 of 0.5, nan, 2 with a BTREE index", None)
def _():
    import lance
    import pyarrow as pa

    with tempfile.TemporaryDirectory() as folder:
        data = lance.write_dataset(pa.table({"x": [0.5, float("nan"), 2.0]}), f"{folder}/x")
        data.create_scalar_index("x", "BTREE")
        return data.to_table(filter="x > 1.0")["x"]


@ask("Tantivy", "search ordered by a field with 1, nan, 5, nan, 7, 2, 9, 3, descending", None)
def _():
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_float_field("x", fast=True, stored=True)
    index = tantivy.Index(builder.build())
    writer = index.writer(num_threads=1)
    for value in [1, float("nan"), 5, float("nan"), 7, 2, 9, 3]:
        writer.add_document(tantivy.Document(x=float(value)))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    return [searcher.doc(at).to_dict()["x"][0] for _, at in searcher.search(tantivy.Query.all_query(), 8, order_by_field="x").hits]


@ask("pyranges", "sort of chr2 at 30 +, 20 +, 10 -: the starts", "10 20 30")
def _():
    import pyranges

    ranges = {"Chromosome": ["chr2"] * 3, "Start": [30, 20, 10], "End": [31, 21, 11], "Strand": ["+", "+", "-"]}
    return pyranges.from_dict(ranges).sort().df["Start"]


@ask("bioframe", "sort_bedframe of chr10, chr2, chrX", "chr10 chr2 chrX")
def _():
    import bioframe
    import pandas as pd

    return bioframe.sort_bedframe(pd.DataFrame({"chrom": ["chrX", "chr2", "chr10"], "start": [1, 1, 1], "end": [2, 2, 2]}))["chrom"]


@ask("petl", "sort of 3, nan, 1, 2", None)
def _():
    import petl

    return [row[0] for row in petl.data(petl.sort([["x"], [3], [float("nan")], [1], [2]], "x"))]


@ask("agate", "ranks of 2, null, 1, 2, reversed", None)
def _():
    import agate

    table = agate.Table([[2], [None], [1], [2]], ["x"])
    return [int(value) for value in table.compute([("r", agate.Rank("x", reverse=True))]).columns["r"].values()]


@ask("natsort", "natsorted of a-10, a-9, a1", "a-10 a-9 a1")
def _():
    import natsort

    return natsort.natsorted(["a-10", "a-9", "a1"])


@ask("DataSketches", "KLL get_quantile(0.5) of 1, 2", "1")
def _():
    import datasketches

    sketch = datasketches.kll_doubles_sketch(200)
    sketch.update(1.0)
    sketch.update(2.0)
    return sketch.get_quantile(0.5)


@ask("Fastparquet", "the bounds in a file of 1, nan, 2", "1 2")
def _():
    import fastparquet
    import pandas as pd
    import pyarrow.parquet

    with tempfile.TemporaryDirectory() as folder:
        fastparquet.write(f"{folder}/x.parquet", pd.DataFrame({"x": [1, float("nan"), 2]}))
        statistics = pyarrow.parquet.ParquetFile(f"{folder}/x.parquet").metadata.row_group(0).column(0).statistics
        return [statistics.min, statistics.max]


@ask("PyArrow", "cumulative_max of nan, 1", "nan 1")
def _():
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.cumulative_max(pa.array([float("nan"), 1.0]))


@ask("torch", "searchsorted of 1.5 in 1, 2, nan, nan, nan, nan", "5")
def _():
    import torch

    return torch.searchsorted(torch.tensor([1, 2, *[float("nan")] * 4]), 1.5)


@ask("SciPy", "ndimage.median_filter of 1, 2, nan, 4, 5 as one row of an image, size (1, 3): the middle three", "2 4 5")
def _():
    import numpy as np
    import scipy.ndimage

    return scipy.ndimage.median_filter(np.array([[1, 2, np.nan, 4, 5]]), (1, 3))[0, 1:4]


# What a call costs beside the sort that it saves


def numbers():
    import numpy as np

    return np.random.default_rng(0).random(1_000_000)


@ask("NumPy", "10^6 doubles: median beside sort", "faster")
def _():
    import numpy as np

    x = numbers()
    return compare(lambda: np.median(x), lambda: np.sort(x))


@ask("NumPy", "10^6 doubles: 1,001 quantiles beside sort", "as fast")
def _():
    import numpy as np

    x, q = numbers(), np.linspace(0, 1, 1001)
    return compare(lambda: np.quantile(x, q), lambda: np.sort(x))


@ask("PyArrow", "10^6 doubles: the 500,000 largest by top_k_unstable beside sort_indices", "slower")
def _():
    import pyarrow as pa
    import pyarrow.compute as pc

    x = pa.array(numbers())
    return compare(lambda: pc.top_k_unstable(x, 500_000), lambda: pc.sort_indices(x))


@ask("Polars", "10^6 doubles: the 500,000 largest by top_k beside sort", "as fast")
def _():
    import polars as pl

    x = pl.Series(numbers())
    return compare(lambda: x.top_k(500_000), lambda: x.sort())


@ask("Polars", "two sorted columns of 500,000: merge_sorted beside concat and sort", "faster")
def _():
    import numpy as np
    import polars as pl

    x = numbers()
    halves = [pl.DataFrame({"x": np.sort(half)}) for half in (x[::2], x[1::2])]
    return compare(lambda: halves[0].merge_sorted(halves[1], "x"), lambda: pl.concat(halves).sort("x"))


@ask("torch", "10^6 doubles: kthvalue of the middle beside sort", "faster")
def _():
    import torch

    x = torch.tensor(numbers())
    return compare(lambda: torch.kthvalue(x, 500_000), lambda: torch.sort(x))


@ask("JAX", "10^6 doubles: top_k(1000) beside sort", "slower")
def _():
    import jax
    import jax.numpy as jnp

    x = jnp.array(numbers())
    return compare(lambda: jax.lax.top_k(x, 1000)[0].block_until_ready(), lambda: jnp.sort(x).block_until_ready())


@ask("pandas", "10^6 doubles: nlargest(10) beside sort_values", "faster")
def _():
    import pandas as pd

    x = pd.Series(numbers())
    return compare(lambda: x.nlargest(10), lambda: x.sort_values())


@ask("heapq", "10^5 Python floats: nlargest of half beside sorted", "slower")
def _():
    import heapq

    x = numbers()[:100_000].tolist()
    return compare(lambda: heapq.nlargest(50_000, x), lambda: sorted(x))
