#!/usr/bin/env bash
# In Polars, a time of nanoseconds is equal to a time of microseconds just before it, so a filter by a datetime loses the later rows.
#
# Expected: 1 ns > 0 us, as PyArrow, pandas, DuckDB and DataFusion say, and as a Series of Polars itself says.
# Seen: in an expression, Polars drops the nanoseconds before it compares them with a datetime of Python or with a column of microseconds.
#   >, ==, join_where and max_horizontal are wrong. Times in nanoseconds come from pandas, NumPy and Parquet; Polars' own default is
#   microseconds. No error, no warning; join and join_asof refuse the two types.
# Versions: polars 2.1.0, pyarrow 26.0.1. Date: 2026-11-29.
# Output seen:
#   times                    [0, 1, 999, 1001]
#   Series > datetime        [1, 999, 1001]
#   filter > datetime        [1001]
#   filter == datetime       [0, 1, 999]
#   filter > column of us    [1001]
#   join_where >             [1001]
#   filter by PyArrow        [1, 999, 1001]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet polars==2.1.0 pyarrow==26.0.1
"$folder/venv/bin/python" -W error - << 'END'
import datetime

import polars
import pyarrow.compute

epoch = datetime.datetime(1970, 1, 1)
times = polars.Series("n", [0, 1, 999, 1001]).cast(polars.Datetime("ns"))
micros = polars.DataFrame({"u": [epoch] * 4})
frame = polars.DataFrame([times, *micros])
n, u = polars.col("n"), polars.col("u")
above = pyarrow.compute.greater(times.to_arrow(), micros["u"].to_arrow())
results = {
    "times": times,
    "Series > datetime": times.filter(times > epoch),
    "filter > datetime": frame.filter(n > epoch)["n"],
    "filter == datetime": frame.filter(n == epoch)["n"],
    "filter > column of us": frame.filter(n > u)["n"],
    "join_where >": frame.select(n).join_where(micros.head(1), n > u)["n"],
    "filter by PyArrow": times.filter(polars.Series(above)),
}
results = {name: values.cast(polars.Int64).to_list() for name, values in results.items()}
for name, values in results.items():
    print(f"{name:24} {values}")
assert micros.schema["u"] == polars.Datetime("us"), "the default unit changed"
assert results["Series > datetime"] == results["filter by PyArrow"] == [1, 999, 1001], "the exact comparisons changed"
assert results["filter > datetime"] == results["filter > column of us"] == [1001], "nanoseconds count in > now"
assert results["filter == datetime"] == [0, 1, 999], "nanoseconds count in == now"
assert results["join_where >"] == [1001], "nanoseconds count in join_where now"
END
