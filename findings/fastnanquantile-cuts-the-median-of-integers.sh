#!/usr/bin/env bash
# nanquantile(x, 0.5) of fastnanquantile is 2 for the integers 1, 2, 3 and 4, and 2.5 for the same numbers as floats.
#
# Expected: 2.5, as np.nanquantile says of both. The README calls it "an alternative implementation of numpy's nanquantile function".
# Seen: for an array of integers the result is an integer, cut towards zero. So every quantile between two integers is too low,
#   or too high if they are negative: the median of -1 and 0 is 0. No warning.
# Versions: fastnanquantile 0.0.2, numpy 2.4.6, numba 0.68.1. Date: 2026-12-01.
# Output seen:
#   [1, 2, 3, 4]: fastnanquantile 2, numpy 2.5
#   [1.0, 2.0, 3.0, 4.0]: fastnanquantile 2.5, numpy 2.5
#   [-1, 0]: fastnanquantile 0, numpy -0.5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: fastnanquantile==0.0.2 numpy==2.4.6 numba==0.68.1
"$folder/venv/bin/python" - << 'END'
import fastnanquantile
import numpy


def medians(values):
    array = numpy.array(values)
    found = fastnanquantile.nanquantile(array, 0.5).item(), numpy.nanquantile(array, 0.5).item()
    print("{}: fastnanquantile {}, numpy {}".format(values, *found))
    return found


assert medians([1, 2, 3, 4]) == (2, 2.5), "the median of integers changed"
assert medians([1.0, 2.0, 3.0, 4.0]) == (2.5, 2.5), "the median of floats changed"
assert medians([-1, 0]) == (0, -0.5), "the median of negative integers changed"
END
