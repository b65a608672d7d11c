#!/usr/bin/env bash
# piso.isdisjoint says that 0-1 and 3-9 are disjoint, and that 3-9 and 0-1 are not.
#
# Expected: True in any order. The documentation says of a single array that "the sets are considered to be the intervals contained in" it.
# Seen: each interval is compared with the one before it. A sort is in the code, of the row of starts and the row of ends in place of the
#   intervals, so it does nothing. With the two in arrays of their own the order does not matter. No warning.
# Versions: piso 1.3.0, pandas 3.1.1. Date: 2026-12-01.
# Output seen:
#   0-1 3-9: one array True, two arrays True
#   3-9 0-1: one array False, two arrays True
#   0-4 3-9: one array False, two arrays False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet piso==1.3.0 pandas==3.1.1
"$folder/venv/bin/python" - << 'END'
import pandas
import piso


def array(*intervals):
    return pandas.arrays.IntervalArray.from_tuples(list(intervals), closed="left")


def show(*intervals):
    found = piso.isdisjoint(array(*intervals)), piso.isdisjoint(*map(array, intervals))
    print("{}: one array {}, two arrays {}".format(" ".join("{}-{}".format(*ends) for ends in intervals), *found))
    return tuple(map(bool, found))


assert show((0, 1), (3, 9)) == (True, True), "ascending intervals changed"
assert show((3, 9), (0, 1)) == (False, True), "descending intervals changed"
assert show((0, 4), (3, 9)) == (False, False), "overlapping intervals changed"
END
