#!/usr/bin/env bash
# In DuckDB the median of 1.1 and 1.2 is 1.1: quantile_cont of decimals drops the digits beyond the scale of the column.
#
# Expected: 1.15, as avg of the same column and as the median of the same numbers as DOUBLE or of integers, which become DOUBLE.
# Seen: the interpolated value takes the type of the column and is cut toward zero, not rounded. SQL literals such as 1.1 are
#   DECIMAL, so no declaration is needed. On DECIMAL(10,0) the 0.9 quantile of 1 and 2 is 1. list_median is alike. No warning.
# Versions: duckdb 2.0.1. Date: 2026-11-29.
# Output seen:
#   1.1, 1.2                       median 1.1   avg 1.15   of DOUBLE 1.15
#   -1.1, -1.2                     median -1.1  avg -1.15  of DOUBLE -1.15
#   0.01, 0.02                     median 0.01  avg 0.015  of DOUBLE 0.015
#   1, 2 as DECIMAL(10,0)          0.9 quantile 1  of INTEGER 1.9
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet duckdb==2.0.1
"$folder/venv/bin/python" - << 'END'
import math

import duckdb

for first, second, average in (("1.1", "1.2", 1.15), ("-1.1", "-1.2", -1.15), ("0.01", "0.02", 0.015)):
    median, mean, double = duckdb.sql(
        f"SELECT median(x), avg(x), median(x::DOUBLE) FROM (VALUES ({first}), ({second})) AS t(x)").fetchall()[0]
    print(f"{first + ', ' + second:30} median {str(median):5} avg {mean}  of DOUBLE {double:.4g}")
    assert str(median) == first, "the median of decimals is interpolated now"
    assert math.isclose(mean, average) and math.isclose(double, average), "avg or the median of DOUBLE changed"
decimal, integer = duckdb.sql(
    "SELECT quantile_cont(x::DECIMAL(10,0), 0.9), quantile_cont(x, 0.9) FROM (VALUES (1), (2)) AS t(x)").fetchall()[0]
print(f"{'1, 2 as DECIMAL(10,0)':30} 0.9 quantile {decimal}  of INTEGER {integer}")
assert int(decimal) == 1 and math.isclose(integer, 1.9), "quantile_cont changed"
END
