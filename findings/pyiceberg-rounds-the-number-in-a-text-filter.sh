#!/usr/bin/env bash
# PyIceberg's filter "x > 1.5" on an integer column does not return 2, and "x = 1.5" does.
#
# Expected: integers compared with 1.5 as numbers, as in every SQL engine, or the TypeError that GreaterThan("x", 1.5) raises.
# Seen: the text of a number is rounded to the type of the column before it is compared, so 1.5 becomes 2. Bounds of a range scan
#   move by up to a half in either direction, and delete with such a filter deletes a row that does not match. No error, no warning.
# Versions: pyiceberg 0.12.0, pyarrow 26.0.1, duckdb 2.0.1. Date: 2026-11-29.
# Output seen:
#   x > 1.5   pyiceberg [3]        duckdb [2, 3]
#   x >= 2.4  pyiceberg [2, 3]     duckdb [3]
#   x < 1.4   pyiceberg []         duckdb [1]
#   x <= 2.6  pyiceberg [1, 2, 3]  duckdb [1, 2]
#   x = 1.5   pyiceberg [2]        duckdb []
#   after delete x = 1.5           [1, 3]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "pyiceberg[sql-sqlite]==0.12.0" pyarrow==26.0.1 duckdb==2.0.1
cd "$folder"
venv/bin/python -W ignore - "$folder" << 'END'
import sys

import duckdb
import pyarrow
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import GreaterThan

catalog = SqlCatalog("c", uri="sqlite:///catalog.db", warehouse=f"file://{sys.argv[1]}/tables")
catalog.create_namespace("n")
rows = pyarrow.table({"x": pyarrow.array([1, 2, 3], pyarrow.int64())})
table = catalog.create_table("n.t", schema=rows.schema)
table.append(rows)


def scan(condition):
    return sorted(table.scan(row_filter=condition).to_arrow()["x"].to_pylist())


expected = {
    "x > 1.5": ([3], [2, 3]),
    "x >= 2.4": ([2, 3], [3]),
    "x < 1.4": ([], [1]),
    "x <= 2.6": ([1, 2, 3], [1, 2]),
    "x = 1.5": ([2], []),
}
for condition, (seen, right) in expected.items():
    found = scan(condition)
    other = [row[0] for row in duckdb.sql(f"SELECT x FROM rows WHERE {condition} ORDER BY x").fetchall()]
    print(f"{condition:9} pyiceberg {str(found):10} duckdb {other}")
    assert found == seen, "pyiceberg changed"
    assert other == right, "duckdb changed"
try:
    scan(GreaterThan("x", 1.5))
except TypeError:
    pass
else:
    raise AssertionError("GreaterThan takes 1.5 now")
table.delete("x = 1.5")
left = sorted(table.scan().to_arrow()["x"].to_pylist())
print("after delete x = 1.5          ", left)
assert left == [1, 3], "delete changed"
END
