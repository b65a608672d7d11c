#!/usr/bin/env bash
# intersection of superintervals returns the overlap of 1-3 with 2-6 twice, if the map on the left has 0-9 too.
#
# Expected: two overlaps, 2-6 and 2-3, one for each pair. The documentation says "every overlapping sub-region", and with the maps
#   exchanged there are two.
# Seen: 2-3 comes twice, with the same pair of values, so counts and sums over the result are too large. 1-3 alone comes once. No warning.
# Versions: superintervals 1.0.3. Date: 2026-12-01.
# Output seen:
#   0-9 and 1-3 with 2-6: [(2, 3, ('b', 'x')), (2, 3, ('b', 'x')), (2, 6, ('a', 'x'))]
#   2-6 with 0-9 and 1-3: [(2, 3, ('x', 'b')), (2, 6, ('x', 'a'))]
#   1-3 with 2-6: [(2, 3, ('b', 'x'))]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: superintervals==1.0.3
"$folder/venv/bin/python" - << 'END'
from superintervals import IntervalMap


def intervals(*rows):
    found = IntervalMap()
    for row in rows:
        found.add(*row)
    found.build()
    return found


def intersect(title, one, other):
    both = intervals(*one).intersection(intervals(*other))
    rows = sorted(both.at(index) for index in range(both.size()))
    print(f"{title}: {rows}")
    return rows


A, B, X = (0, 9, "a"), (1, 3, "b"), (2, 6, "x")
twice = intersect("0-9 and 1-3 with 2-6", [A, B], [X])
assert twice == [(2, 3, ("b", "x")), (2, 3, ("b", "x")), (2, 6, ("a", "x"))], "the overlaps changed"
once = intersect("2-6 with 0-9 and 1-3", [X], [A, B])
assert once == [(2, 3, ("x", "b")), (2, 6, ("x", "a"))], "the overlaps of the maps exchanged changed"
assert intersect("1-3 with 2-6", [B], [X]) == [(2, 3, ("b", "x"))], "the overlap of two intervals changed"
END
