#!/usr/bin/env bash
# DuckDB's median of a column COLLATE NOCASE is the middle in the order of bytes, not in the order of the column.
#
# Expected: the rows sort as a, B, C by the collation, so the median is B: min, max, arg_max, list(... ORDER BY), the windows and
#   ORDER BY of the same column all follow it.
# Seen: median, quantile_disc and their window forms sort by bytes: B, C, a. The median is C, which is the maximum. No error, no warning.
# Version: duckdb 2.0.1. Date: 2026-11-29.
# Output seen:
#   ORDER BY                ['a', 'B', 'C']
#   min, max                ['a', 'C']
#   median                  ['C']
#   quantile_disc 0, 0.5, 1 ['B', 'C', 'a']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet duckdb==2.0.1
"$folder/venv/bin/python" - << 'END'
import duckdb

session = duckdb.connect()
session.execute("CREATE TABLE t (x VARCHAR COLLATE NOCASE)")
session.execute("INSERT INTO t VALUES ('C'), ('a'), ('B')")


def query(name, text):
    [[values]] = session.execute(text).fetchall()
    print(f"{name:23} {values}")
    return values


assert query("ORDER BY", "SELECT list(x ORDER BY x) FROM t") == ["a", "B", "C"], "the order changed"
assert query("min, max", "SELECT [min(x), max(x)] FROM t") == ["a", "C"], "min or max changed"
assert query("median", "SELECT [median(x)] FROM t") == ["C"], "the median follows the collation now"
quantiles = query("quantile_disc 0, 0.5, 1", "SELECT quantile_disc(x, [0, 0.5, 1]) FROM t")
assert quantiles == ["B", "C", "a"], "quantile_disc follows the collation now"
END
