#!/usr/bin/env bash
# ClickHouse's groupArraySorted(n) returns NaN first, where ORDER BY, arraySort and min in the same engine put it last or skip it.
#
# Expected: groupArraySorted(3)(x), the first three items in ascending order, is the start of arraySort(groupArray(x)).
# Seen: NaN is its least value. With n or more NaN in a group the "n least values" hold no number at all. No warning.
# Versions: chdb 4.4.0 (ClickHouse in a Python package). Date: 2026-11-29.
# Output seen:
#   groupArraySorted(3)         [nan,nan,1]
#   arraySort(groupArray)       [1,2,3,nan,nan]
#   ORDER BY x LIMIT 3          [1,2,3]
#   min                         1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet chdb==4.4.0
"$folder/venv/bin/python" - << 'END'
import chdb

SOURCE = "VALUES('x Float64', nan, 3, 1, nan, 2)"


def show(name, query):
    result = chdb.query(query, "TSV").bytes().decode().strip()
    print(f"{name:27} {result}")
    return result


least = show("groupArraySorted(3)", f"SELECT groupArraySorted(3)(x) FROM {SOURCE}")
whole = show("arraySort(groupArray)", f"SELECT arraySort(groupArray(x)) FROM {SOURCE}")
rows = show("ORDER BY x LIMIT 3", f"SELECT groupArray(x) FROM (SELECT x FROM {SOURCE} ORDER BY x LIMIT 3)")
minimum = show("min", f"SELECT min(x) FROM {SOURCE}")
assert least == "[nan,nan,1]", "groupArraySorted puts NaN elsewhere now"
assert whole == "[1,2,3,nan,nan]" and rows == "[1,2,3]" and minimum == "1", "arraySort, ORDER BY or min changed"
END
