#!/usr/bin/env bash
# numpy.sort of a pandas array of nullable integers rounds them as soon as one value is missing.
#
# Expected: the integers in order with the missing value last, as Series.sort_values gives them, or a TypeError.
# Seen: the array is converted to float64 on the way. Identifiers of 19 digits lose their last digits, and different ones become
#   equal. numpy.argsort of the array (not of its Series) orders the rounded values, so rows come out of order. No warning.
# Versions: numpy 2.4.6, pandas 3.1.1, Python 3.11. Date: 2026-11-27.
# Output seen:
#   numpy.sort     [1.845e+18, 1.845e+18, 1.845e+18, nan]
#   numpy.argsort  [0, 1, 3, 2]
#   sort_values    [1845000000000000121, 1845000000000000122, 1845000000000000123, <NA>]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet numpy==2.4.6 pandas==3.1.1
"$folder/venv/bin/python" - << 'END'
import numpy
import pandas

ids = pandas.Series([1845000000000000123, 1845000000000000121, None, 1845000000000000122], dtype="Int64")
values = numpy.sort(ids.array)
indices = numpy.argsort(numpy.asarray(ids.array)).tolist()
print("numpy.sort    ", values.tolist())
print("numpy.argsort ", indices)
print("sort_values   ", ids.sort_values().tolist())
assert values.dtype == numpy.float64, "it is no longer converted to floats"
assert len(set(values[:3].tolist())) == 1, "the identifiers are told apart now"
assert indices == [0, 1, 3, 2], "the order changed"
assert ids.argsort(kind="stable").tolist() == [1, 3, 0, 2], "pandas' own order changed"
END
