#!/usr/bin/env bash
# In Daft, 0.0 == -0.0 is false and 0.0 > -0.0 is true, but its sort leaves the two in the order of the input.
#
# Expected: IEEE 754, as in NumPy, pandas, Polars and DuckDB: the two are equal, so a filter x == 0.0 keeps both. A library that
#   orders -0.0 before 0.0 would be expected to sort them so.
# Seen: comparisons and filters use a total order, sort uses the numeric one. A filter on zero silently drops rows, and the sorted
#   column is not in order by the library's own comparison.
# Version: daft 0.7.26. Date: 2026-11-27.
# Output seen:
#   equal [False]  greater [True]
#   x == 0.0 keeps [0.0]
#   sorted [0.0, -0.0, 0.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet daft==0.7.26
"$folder/venv/bin/python" - 2> "$folder/progress" << 'END' || { cat "$folder/progress"; exit 1; }
import math

import daft
from daft import col

pair = daft.from_pydict({"x": [0.0], "y": [-0.0]})
said = pair.select((col("x") == col("y")).alias("equal"), (col("x") > col("y")).alias("greater")).to_pydict()
kept = daft.from_pydict({"x": [0.0, -0.0]}).where(col("x") == 0.0).to_pydict()["x"]
in_order = daft.from_pydict({"x": [0.0, -0.0, 0.0]}).sort("x").to_pydict()["x"]
print("equal", said["equal"], " greater", said["greater"])
print("x == 0.0 keeps", kept)
print("sorted", in_order)
assert said == {"equal": [False], "greater": [True]}, "the comparison changed"
assert len(kept) == 1, "the filter changed"
assert [math.copysign(1, x) for x in in_order] == [1, -1, 1], "the sort changed"
END
