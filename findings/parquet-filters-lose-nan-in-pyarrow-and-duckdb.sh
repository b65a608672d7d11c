#!/usr/bin/env bash
# A filter on a Parquet file loses NaN: in DuckDB always, in PyArrow and pandas if the other numbers of the column are all equal.
#
# Expected: a filter while a file is read finds the rows that it finds in memory. is_nan of [1, nan, 1] is the NaN.
# Seen: writers leave NaN out of the bounds of a column, as the format asks for. DuckDB takes the bounds for those of all values, so
#   isnan(x) finds nothing in a file of PyArrow, and x > 2 does not find NaN, which DuckDB takes for the largest number. PyArrow takes
#   a column with the bounds 1 and 1 for a constant, so is_nan and x != 1 find nothing, while [1, 2, nan] is right. Polars finds all.
#   No error, no warning.
# Versions: pyarrow 26.0.1, pandas 3.1.1, duckdb 2.0.1, polars 2.1.0, numpy 2.4.6. Date: 2026-11-29.
# Output seen:
#   [1.0, nan, 1.0]
#     in memory        1
#     pyarrow          0
#     pandas           0
#     pyarrow, x != 1  0
#     duckdb           0
#     duckdb, x > 2    0
#     polars           1
#   [1.0, 2.0, nan]
#     in memory        1
#     pyarrow          1
#     pandas           1
#     pyarrow, x != 1  2
#     duckdb           0
#     duckdb, x > 2    0
#     polars           1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pyarrow==26.0.1 pandas==3.1.1 duckdb==2.0.1 polars==2.1.0 numpy==2.4.6
cd "$folder"
venv/bin/python - << 'END'
import duckdb
import pandas
import polars
import pyarrow
import pyarrow.compute
import pyarrow.parquet

x = pyarrow.compute.field("x")


def find(values):
    table = pyarrow.table({"x": values})
    pyarrow.parquet.write_table(table, "x.parquet")
    nan = pyarrow.compute.is_nan(x)
    found = {
        "in memory": table.filter(nan).num_rows,
        "pyarrow": pyarrow.parquet.read_table("x.parquet", filters=nan).num_rows,
        "pandas": len(pandas.read_parquet("x.parquet", filters=nan)),
        "pyarrow, x != 1": pyarrow.parquet.read_table("x.parquet", filters=x != 1).num_rows,
        "duckdb": duckdb.sql("SELECT count(*) FROM 'x.parquet' WHERE isnan(x)").fetchall()[0][0],
        "duckdb, x > 2": duckdb.sql("SELECT count(*) FROM 'x.parquet' WHERE x > 2").fetchall()[0][0],
        "polars": polars.scan_parquet("x.parquet").filter(polars.col("x").is_nan()).collect().height,
    }
    print(values)
    for name, count in found.items():
        print(f"  {name:16} {count}")
    return list(found.values())


assert find([1.0, float("nan"), 1.0]) == [1, 0, 0, 0, 0, 0, 1], "one number besides NaN: a reader changed"
assert find([1.0, 2.0, float("nan")]) == [1, 1, 1, 2, 0, 0, 1], "two numbers besides NaN: a reader changed"
END
