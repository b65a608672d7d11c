#!/usr/bin/env bash
# The max of a pandas MultiIndex with an ordered categorical level is not the last entry of its sort_values, nor its min the first.
#
# Expected: one order for both. MultiIndex.sort_values and argsort follow lo < mid < hi, as does max of the level alone.
# Seen: max and min compare the tuples, in which the categories are plain strings, so "mid" is greater than "hi". Bounds of an index
#   that max and min give then leave out rows: slicing the sorted index from min to max is empty.
# Versions: pandas 3.1.1, numpy 2.4.6. Date: 2026-11-29.
# Output seen:
#   sort_values        [('lo', 2), ('mid', 3), ('hi', 1)]
#   min and max        ('hi', 1) ('mid', 3)
#   max of the level   hi
#   rows from min to max 0 of 3
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pandas==3.1.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import pandas

level = pandas.Categorical(["hi", "lo", "mid"], categories=["lo", "mid", "hi"], ordered=True)
index = pandas.MultiIndex.from_arrays([level, [1, 2, 3]])
ordered, least, greatest = index.sort_values(), index.min(), index.max()
between = pandas.Series(range(3), index=ordered).loc[least:greatest]
print("sort_values       ", ordered.tolist())
print("min and max       ", least, greatest)
print("max of the level  ", index.get_level_values(0).max())
print("rows from min to max", len(between), "of", len(index))
assert ordered.tolist() == [("lo", 2), ("mid", 3), ("hi", 1)], "the sort changed"
assert index.get_level_values(0).max() == "hi", "max of one level changed"
assert (least, greatest) == (("hi", 1), ("mid", 3)), "min and max follow the declared order now"
assert len(between) == 0, "the slice changed"
END
