#!/usr/bin/env bash
# Among rows of one time, DuckDB's ASOF JOIN takes the first if fewer than 64 rows are on the left side, and the last from 64 on.
#
# Expected: the last, as pandas' merge_asof, Polars' join_asof and PyArrow's join_asof do: of two prices of one second, the later row. At
#   least, the same one however many other rows are joined.
# Seen: below the setting asof_loop_join_threshold, which is 64, the join is an aggregate that keeps the first of equal times; from there on it
#   is a merge that keeps the last. A test with few rows gives other prices than the whole table. With several threads the row varies more.
# Versions: duckdb 2.0.1, pandas 3.1.1, pyarrow 26.0.1. Date: 2026-11-30.
# Output seen:
#   63 left rows: DuckDB [100] pandas [200]
#   64 left rows: DuckDB [200] pandas [200]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet duckdb==2.0.1 pandas==3.1.1 pyarrow==26.0.1
"$folder/venv/bin/python" - << 'END'
import duckdb
import pandas

session = duckdb.connect(config={"threads": 1})
prices = pandas.DataFrame({"time": [1, 1], "price": [100, 200]})
session.execute("CREATE TABLE prices AS SELECT * FROM (VALUES (1, 100), (1, 200)) AS rows(time, price)")


def show(count):
    session.execute(f"CREATE OR REPLACE TABLE trades AS SELECT 2 AS time FROM range({count})")
    rows = session.execute("SELECT DISTINCT price FROM trades ASOF JOIN prices ON trades.time >= prices.time").fetchall()
    by_duckdb = [price for (price,) in rows]
    by_pandas = pandas.merge_asof(pandas.DataFrame({"time": [2] * count}), prices, on="time")["price"].unique().tolist()
    print(f"{count} left rows: DuckDB {by_duckdb} pandas {by_pandas}")
    return by_duckdb, by_pandas


assert show(63) == ([100], [200]), "with 63 rows on the left the row changed"
assert show(64) == ([200], [200]), "with 64 rows on the left the row changed"
END
