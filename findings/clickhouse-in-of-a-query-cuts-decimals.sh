#!/usr/bin/env bash
# In ClickHouse, 1.05 is IN a query that returns 1.0, and 1.5 is IN a query that returns 1, if the number on the left is a decimal.
#
# Expected: IN is = with any of the values. 1.05 = 1.0 is false, and so is 1.05 IN (1.0) with a list of values.
# Seen: with a query on the right, the decimal on the left is converted to the type of the query, which cuts its digits. A semi-join by IN
#   returns rows that no value equals. A join by = does not. No error, no warning, default settings.
# Version: chdb 4.4.0, which contains ClickHouse 26.9.2.1. Date: 2026-11-29.
# Output seen:
#   1.05 = 1.0               0
#   1.05 IN (1.0)            0
#   1.05 IN (SELECT 1.0)     1
#   1.5 IN (SELECT 1)        1
#   rows of a join by =      0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet chdb==4.4.0
"$folder/venv/bin/python" - << 'END'
import chdb

LEFT, RIGHT = "toDecimal64('1.05', 2)", "toDecimal64('1.0', 1)"


def query(title, expression, source=""):
    value = int(str(chdb.query(f"SELECT {expression} {source}", "CSV")))
    print(f"{title:24} {value}")
    return value


assert query("1.05 = 1.0", f"{LEFT} = {RIGHT}") == 0, "= changed"
assert query("1.05 IN (1.0)", f"{LEFT} IN ({RIGHT})") == 0, "IN of a list changed"
assert query("1.05 IN (SELECT 1.0)", f"{LEFT} IN (SELECT {RIGHT})") == 1, "IN of a query compares all digits now"
assert query("1.5 IN (SELECT 1)", "toDecimal64('1.5', 1) IN (SELECT toInt64(1))") == 1, "IN of integers compares all digits now"
joined = f"FROM (SELECT {LEFT} AS x) AS a JOIN (SELECT {RIGHT} AS x) AS b ON a.x = b.x"
assert query("rows of a join by =", "count()", joined) == 0, "the join changed"
END
