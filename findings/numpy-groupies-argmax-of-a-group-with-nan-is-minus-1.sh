#!/usr/bin/env bash
# aggregate(.., func="argmax") of numpy-groupies is -1 for a group with a NaN, the index of the last element of the array.
#
# Expected: the position of the NaN, as numpy.argmax and its own max suggest, which is NaN. Or that of the greatest number.
# Seen: for a group of [1, nan, 3], argmax and argmin are -1. Used as an index, it takes an element of another group. nanargmax is
#   right. No error, no warning.
# Versions: numpy-groupies 0.16.0, numpy 2.4.6. Date: 2026-11-29.
# Output seen:
#   max        [nan, 7.0]
#   argmax     [-1, 3]
#   argmin     [-1, 3]
#   nanargmax  [2, 3]
#   taken      [7.0, 7.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet numpy-groupies==0.16.0 numpy==2.4.6
cd "$folder"
venv/bin/python - << 'END'
import numpy
import numpy_groupies

groups, values = numpy.array([0, 0, 0, 1]), numpy.array([1, numpy.nan, 3, 7])


def show(name):
    found = numpy_groupies.aggregate(groups, values, func=name).tolist()
    print(f"{name:10} {found}")
    return found


assert str(show("max")) == "[nan, 7.0]", "max changed"
assert show("argmax") == [-1, 3], "argmax of a group with NaN changed"
assert show("argmin") == [-1, 3], "argmin of a group with NaN changed"
assert show("nanargmax") == [2, 3], "nanargmax changed"
taken = values[numpy_groupies.aggregate(groups, values, func="argmax")].tolist()
print(f"{'taken':10} {taken}")
assert taken == [7, 7], "the element of another group is not taken any more"
END
