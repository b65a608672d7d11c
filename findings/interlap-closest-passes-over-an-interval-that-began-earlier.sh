#!/usr/bin/env bash
# closest of InterLap returns 8-10 as the nearest to 32-33, though 5-14 is nearer.
#
# Expected: 5-14, whose end is 18 away; 8-10 is 22 away.
# Seen: among the intervals on the left only the last one by its start is looked at. So is one of two at the same distance: of 12-16
#   and 16-16, both 11 away from 27, the second only, though the function returns ties on the right. No warning.
# Versions: interlap 0.2.7. Date: 2026-12-01.
# Output seen:
#   32-33 among 5-14 and 8-10: [(8, 10)]
#   27-27 among 12-16, 16-16 and 56-58: [(16, 16)]
#   1-2 among 5-9 and 5-6: [(5, 6), (5, 9)]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet interlap==0.2.7
"$folder/venv/bin/python" - << 'END'
from interlap import InterLap


def closest(query, *intervals):
    found = sorted(InterLap(list(intervals)).closest(query))
    names = ["-".join(map(str, interval)) for interval in intervals]
    print("{}-{} among {} and {}: {}".format(*query, ", ".join(names[:-1]), names[-1], found))
    return found


assert closest((32, 33), (5, 14), (8, 10)) == [(8, 10)], "the nearest of two on the left changed"
assert closest((27, 27), (12, 16), (16, 16), (56, 58)) == [(16, 16)], "ties on the left changed"
assert closest((1, 2), (5, 9), (5, 6)) == [(5, 6), (5, 9)], "ties on the right changed"
END
