#!/usr/bin/env bash
# One NaN among the keys of a table makes petl's join lose rows whose keys are in both tables.
#
# Expected: the row with NaN joins nothing (or another NaN); 1 and 2 join, as they do in hashjoin of petl.
# Seen: join sorts both tables and merges them. NaN is neither less nor greater than a number, so the sort leaves it where it is, and the
#   merge does not get past it: keys after it are lost. leftjoin fills the lost rows with None, and antijoin returns them as unmatched.
#   No error, no warning. Numbers that a file spells "nan" become NaN by convertnumbers.
# Version: petl 1.7.30. Date: 2026-11-29.
# Output seen:
#   join        []
#   leftjoin    [(nan, 'a', None), (1.0, 'b', None), (2.0, 'c', None)]
#   antijoin    [(nan, 'a'), (1.0, 'b'), (2.0, 'c')]
#   hashjoin    [(1.0, 'b', 'x'), (2.0, 'c', 'y')]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet petl==1.7.30
"$folder/venv/bin/python" - << 'END'
import petl

left = petl.convertnumbers([["key", "l"], ["nan", "a"], ["1.0", "b"], ["2.0", "c"]])
right = petl.convertnumbers([["key", "r"], ["1.0", "x"], ["2.0", "y"]])
results = {}
for name in "join", "leftjoin", "antijoin", "hashjoin":
    results[name] = [tuple(row) for row in petl.data(getattr(petl, name)(left, right, key="key"))]
    print(f"{name:11} {results[name]}")
assert results["hashjoin"] == [(1.0, "b", "x"), (2.0, "c", "y")], "hashjoin changed"
assert results["join"] == [], "join finds rows now"
assert [row[2] for row in results["leftjoin"]] == [None] * 3, "leftjoin finds rows now"
assert len(results["antijoin"]) == 3, "antijoin changed"
END
