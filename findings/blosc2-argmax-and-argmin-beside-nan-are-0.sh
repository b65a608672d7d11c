#!/usr/bin/env bash
# argmax and argmin of blosc2 are both 0 for 1, 3, NaN, 5 and 0, the index of a number that is neither the largest nor the least.
#
# Expected: 2, the index of NaN, as in NumPy and as max and min of blosc2 return NaN; or 3 and 4, the indices of 5 and 0.
# Seen: 0 wherever NaN stands. The documentation says nothing about NaN. No warning.
# Versions: blosc2 4.14.1, numpy 2.4.6. Date: 2026-12-01.
# Output seen:
#   1, 3, nan, 5, 0: blosc2 argmax 0, argmin 0, max nan, min nan
#   1, 3, nan, 5, 0: numpy argmax 2, argmin 2, max nan, min nan
#   1, 3, 5, 0: blosc2 argmax 2, argmin 3, max 5, min 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: blosc2==4.14.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import blosc2
import numpy

names = ("argmax", "argmin", "max", "min")


def show(title, package, array, numbers):
    found = ["{:g}".format(float(numpy.asarray(getattr(package, name)(array(numbers))))) for name in names]
    text = ", ".join(f"{name} {value}" for name, value in zip(names, found))
    print("{}: {} {}".format(", ".join(map("{:g}".format, numbers)), title, text))
    return " ".join(found)


beside = numpy.array([1, 3, numpy.nan, 5, 0])
assert show("blosc2", blosc2, blosc2.asarray, beside) == "0 0 nan nan", "blosc2 beside NaN changed"
assert show("numpy", numpy, numpy.asarray, beside) == "2 2 nan nan", "NumPy changed"
assert show("blosc2", blosc2, blosc2.asarray, beside[[0, 1, 3, 4]]) == "2 3 5 0", "blosc2 without NaN changed"
END
