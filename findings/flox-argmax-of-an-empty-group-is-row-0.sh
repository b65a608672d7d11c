#!/usr/bin/env bash
# flox's argmax and argmin of a group without rows are 0: a valid index, of a row that belongs to another group.
#
# Expected: a value that is no index, as -1 of numpy_groupies, or an error, as numpy.argmax of nothing. max of the group is NaN.
# Seen: with expected_groups, as bins are given, the empty bin points at the first row of the input, in the results of argmax, argmin,
#   nanargmax and nanargmin. values[argmax] then reports the maximum of a bin that has none. The indices are integers; no warning.
# Versions: flox 0.11.2, numpy_groupies 0.16.0, numpy 2.4.6, pandas 3.1.1. Date: 2026-11-29.
# Output seen:
#   values [5.0, 1.0, 2.0, 9.0]  groups [0, 0, 2, 2]
#   flox max         [5.0, nan, 9.0]
#   flox argmax      [0, 0, 3]
#   flox nanargmin   [1, 0, 2]
#   numpy_groupies   [0, -1, 3]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet flox==0.11.2 numpy_groupies==0.16.0 numpy==2.4.6 pandas==3.1.1
"$folder/venv/bin/python" - << 'END'
import flox
import numpy
import numpy_groupies

values, groups = numpy.array([5.0, 1.0, 2.0, 9.0]), numpy.array([0, 0, 2, 2])
print("values", values.tolist(), " groups", groups.tolist())


def reduce(name):
    result = flox.groupby_reduce(values, groups, func=name, expected_groups=numpy.arange(3))[0]
    print(f"{'flox ' + name:16} {result.tolist()}")
    return result


assert numpy.isnan(reduce("max")[1]), "max of an empty group is no longer NaN"
found = reduce("argmax")
assert found.dtype.kind == "i" and found.tolist() == [0, 0, 3], "argmax of an empty group changed"
assert reduce("nanargmin").tolist() == [1, 0, 2], "nanargmin of an empty group changed"
other = numpy_groupies.aggregate_np(groups, values, func="argmax").tolist()
print("numpy_groupies  ", other)
assert other == [0, -1, 3], "numpy_groupies changed"
END
