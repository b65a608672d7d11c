#!/usr/bin/env bash
# In Daft, a timestamp equals the date of its day, so a filter "later than 1 January" loses the rest of that day.
#
# Expected: a date beside a timestamp is its midnight, as in SQL, Polars, DuckDB and PyArrow. 2020-01-01 12:00 is greater.
# Seen: Daft converts the timestamp to a date. x > date(2020, 1, 1) leaves out all of that day, and x == date(2020, 1, 1) finds the noon.
#   Two timestamps are compared in the coarser unit, too: a nanosecond later than a timestamp of microseconds is equal to it, and joins.
#   No error, no warning.
# Versions: daft 0.7.26, pyarrow 25.0.1, duckdb 2.0.1. Date: 2026-11-29.
# Output seen:
#   x > date, daft         []
#   x == date, daft        ['2020-01-01 00:00:00', '2020-01-01 12:00:00']
#   x > date, duckdb       ['2020-01-01 12:00:00']
#   1 ns > 0 us, daft      [False]
#   1 ns == 0 us, daft     [True]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet daft==0.7.26 pyarrow==25.0.1 duckdb==2.0.1
DAFT_PROGRESS_BAR=0 "$folder/venv/bin/python" -W error::UserWarning - << 'END'
import datetime

import daft
import duckdb
import pyarrow

hours = pyarrow.table({"x": [datetime.datetime(2020, 1, 1, 0), datetime.datetime(2020, 1, 1, 12)]})
units = pyarrow.table({"a": pyarrow.array([1], pyarrow.timestamp("ns")), "b": pyarrow.array([0], pyarrow.timestamp("us"))})
day = datetime.date(2020, 1, 1)
x, a, b = daft.col("x"), daft.col("a"), daft.col("b")


def filtered(condition):
    return [str(value) for value in daft.from_arrow(hours).where(condition).to_pydict()["x"]]


results = {
    "x > date, daft": filtered(x > day),
    "x == date, daft": filtered(x == day),
    "x > date, duckdb": [str(row[0]) for row in duckdb.sql("SELECT x FROM hours WHERE x > DATE '2020-01-01'").fetchall()],
    "1 ns > 0 us, daft": daft.from_arrow(units).select((a > b).alias("r")).to_pydict()["r"],
    "1 ns == 0 us, daft": daft.from_arrow(units).select((a == b).alias("r")).to_pydict()["r"],
}
for name, values in results.items():
    print(f"{name:22} {values}")
midnight, noon = "2020-01-01 00:00:00", "2020-01-01 12:00:00"
assert results["x > date, duckdb"] == [noon], "DuckDB changed"
assert results["x > date, daft"] == [] and results["x == date, daft"] == [midnight, noon], "a date is its midnight now"
assert results["1 ns > 0 us, daft"] == [False] and results["1 ns == 0 us, daft"] == [True], "nanoseconds count now"
END
