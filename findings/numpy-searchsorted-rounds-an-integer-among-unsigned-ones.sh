#!/usr/bin/env bash
# np.searchsorted of a plain integer in a sorted uint64 array returns the index of its neighbour, with the very number in the array.
#
# Expected: the number at index 1 of a sorted array of distinct numbers has index 1. NumPy 2 takes a Python integer in the type of the
#   array (== does), and compares int64 with uint64 exactly.
# Seen: searchsorted turns the integer into int64, and both sides into doubles, which round identifiers of more than 53 bits. np.isin and
#   == find the number. With np.uint64(...) around the number the index is right. No error, no warning.
# Version: numpy 2.4.6. Date: 2026-11-29.
# Output seen:
#   searchsorted                    0
#   searchsorted of a uint64        1
#   side='right'                    2
#   ids == number                   [False, True, False]
#   isin                            True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet numpy==2.4.6
"$folder/venv/bin/python" -W error - << 'END'
import numpy

number = 2**53 + 1
ids = numpy.array([number - 1, number, number + 1], numpy.uint64)
results = {
    "searchsorted": int(numpy.searchsorted(ids, number)),
    "searchsorted of a uint64": int(numpy.searchsorted(ids, numpy.uint64(number))),
    "side='right'": int(numpy.searchsorted(ids, number, side="right")),
    "ids == number": (ids == number).tolist(),
    "isin": bool(numpy.isin(number, ids)),
}
for name, value in results.items():
    print(f"{name:31} {value}")
assert results["ids == number"] == [False, True, False] and results["isin"], "the exact comparisons changed"
assert results["searchsorted of a uint64"] == 1, "searchsorted of a uint64 changed"
assert results["searchsorted"] == 0, "searchsorted is exact now"
END
