#!/usr/bin/env bash
# numpy_indexed's group_by(keys).mode(values) returns values that the group does not have, unless the keys are sorted.
#
# Expected: the most frequent value of each group, as the other reductions of group_by, which take keys in any order.
# Seen: values in the order of the input are counted beside keys in the sorted order. The mode of the groups is that of other rows: north,
#   which has 7, 8 and 8, gets the 4 of south, and south gets 8. With sorted keys it is right, as min and median always are. No warning.
# Versions: numpy_indexed 0.3.7, numpy 2.4.6. Date: 2026-11-30.
# Output seen:
#   keys   south north south north north
#   values 4 7 4 8 8
#   min    north 7 south 4
#   median north 8 south 4
#   mode   north 4 south 8
#   the same with sorted keys
#   mode   north 8 south 4
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet numpy_indexed==0.3.7 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import numpy
import numpy_indexed

keys, values = numpy.array(["south", "north", "south", "north", "north"]), numpy.array([4, 7, 4, 8, 8])
print("keys  ", *keys)
print("values", *values)


def check(keys, values, name, expected):
    found = getattr(numpy_indexed.group_by(keys), name)(values)[1].astype(int).tolist()
    print(f"{name:6} north {found[0]} south {found[1]}")
    assert found == expected, f"{name} changed"


check(keys, values, "min", [7, 4])
check(keys, values, "median", [8, 4])
check(keys, values, "mode", [4, 8])
print("the same with sorted keys")
order = numpy.argsort(keys, kind="stable")
check(keys[order], values[order], "mode", [8, 4])
END
