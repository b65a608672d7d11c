#!/usr/bin/env bash
# Of a Parquet file with NaN, ORDER BY x DESC LIMIT 1 of DuckDB and DataFusion returns a number, and ORDER BY x DESC begins with NaN.
#
# Expected: LIMIT returns the first rows of the order. Both engines take NaN for the greatest value, and max of such rows is NaN.
# Seen: with a limit, row groups whose bounds are below the first rows that were found are skipped, and bounds leave NaN out. max is taken
#   from the bounds. Polars, with the same order, returns NaN from the same file. No warning.
# Versions: duckdb 2.0.1, datafusion 55.0.0, polars 2.1.0, pyarrow 26.0.1. Date: 2026-11-30.
# Output seen:
#   DuckDB      first of all nan  LIMIT 1 5.0  max 5.0
#   DataFusion  first of all nan  LIMIT 1 5.0  max 5.0
#   Polars      first of all nan  LIMIT 1 nan
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet duckdb==2.0.1 datafusion==55.0.0 polars==2.1.0 pyarrow==26.0.1
cd "$folder"
venv/bin/python - << 'END'
import datafusion
import duckdb
import polars
import pyarrow
import pyarrow.parquet

values = [5.0] * 4000 + [1.0, float("nan")] * 2000
pyarrow.parquet.write_table(pyarrow.table({"x": values}), "rows.parquet", row_group_size=4000)
session = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1))
session.register_parquet("t", "rows.parquet")
sql = "SELECT {} AS x FROM {} {}"


def show(name, ask, table):
    seen = [str(ask(sql.format(*query))) for query in (
        ("x", table, "ORDER BY x DESC"), ("x", table, "ORDER BY x DESC LIMIT 1"), ("max(x)", table, ""))]
    print(f"{name:11} first of all {seen[0]}  LIMIT 1 {seen[1]}  max {seen[2]}")
    return seen


by_duckdb = show("DuckDB", lambda text: duckdb.sql(text).fetchall()[0][0], "'rows.parquet'")
by_datafusion = show("DataFusion", lambda text: session.sql(text).to_pydict()["x"][0], "t")
scan = polars.scan_parquet("rows.parquet").sort("x", descending=True)
by_polars = [str(frame["x"][0]) for frame in (scan.collect(), scan.head(1).collect())]
print(f"Polars      first of all {by_polars[0]}  LIMIT 1 {by_polars[1]}")
assert by_duckdb == ["nan", "5.0", "5.0"], "DuckDB changed"
assert by_datafusion == ["nan", "5.0", "5.0"], "DataFusion changed"
assert by_polars == ["nan", "nan"], "Polars changed"
END
