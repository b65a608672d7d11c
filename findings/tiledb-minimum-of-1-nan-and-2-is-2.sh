#!/usr/bin/env bash
# The aggregates of TileDB say that the minimum of 1, NaN and 2 is 2, that of NaN, 1 and 2 is 1 and that of 2, 1 and NaN is NaN.
#
# Expected: NaN, as the mean and numpy's minimum are, or 1, the least of the numbers; the same for each order of the cells.
# Seen: the result is that of the cells after the last NaN, by their coordinates, or NaN if there are none. Whatever came before is
#   forgotten, so the maximum of 5, NaN and 1 is 1. No warning.
# Versions: tiledb 0.36.1, numpy 2.4.6. Date: 2026-12-01.
# Output seen:
#   [1.0, 2.0]        min 1.0 max 2.0 mean 1.5
#   [1.0, nan, 2.0]   min 2.0 max 2.0 mean nan
#   [nan, 1.0, 2.0]   min 1.0 max 2.0 mean nan
#   [2.0, 1.0, nan]   min nan max nan mean nan
#   [5.0, nan, 1.0]   min 1.0 max 1.0 mean nan
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: tiledb==0.36.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import tempfile

import numpy
import tiledb

folder = tempfile.TemporaryDirectory()


def show(*values):
    path = f"{folder.name}/{'-'.join(map(str, values))}"
    place = tiledb.Dim("place", domain=(0, 99), tile=10, dtype=numpy.int64)
    tiledb.Array.create(path, tiledb.ArraySchema(tiledb.Domain(place), sparse=True, attrs=[tiledb.Attr("x", dtype=numpy.float64)]))
    with tiledb.open(path, "w") as array:
        array[numpy.arange(len(values))] = numpy.array(values, float)
    with tiledb.open(path) as array:
        found = array.query().agg({"x": ["min", "max", "mean"]})[:]
    print(f"{str(list(values)):17} min {found['min']} max {found['max']} mean {found['mean']}")
    return str(found["min"]), str(found["max"])


nan = float("nan")
assert show(1.0, 2.0) == ("1.0", "2.0"), "numbers changed"
assert show(1.0, nan, 2.0) == ("2.0", "2.0"), "a NaN between numbers changed"
assert show(nan, 1.0, 2.0) == ("1.0", "2.0"), "a NaN at the start changed"
assert show(2.0, 1.0, nan) == ("nan", "nan"), "a NaN at the end changed"
assert show(5.0, nan, 1.0) == ("1.0", "1.0"), "a NaN after the largest changed"
END
