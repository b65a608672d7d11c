#!/usr/bin/env bash
# coverage of superintervals says that the interval 5-5 covers nothing, though its ends are inclusive and count and search find it.
#
# Expected: (1, 1) for the interval 5-5 and (1, 3) for 1-3: positions 1, 2 and 3. The documentation calls both ends of intervals and ranges
#   inclusive, and 1-3 overlaps 3-9.
# Seen: end minus start is added up, so each interval counts one position too few. flank, gaps and difference take
#   the ends as inclusive: the gap between 1-3 and 5-9 is 4-4. No warning.
# Versions: superintervals 1.0.3. Date: 2026-12-01.
# Output seen:
#   5-5: found 1, coverage (1, 0)
#   1-3: found 1, coverage (1, 2)
#   1-3 and 5-9: found 2, coverage (2, 6), gaps [(0, 0), (4, 4)]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: superintervals==1.0.3
"$folder/venv/bin/python" - << 'END'
from superintervals import IntervalMap


def intervals(*rows):
    found = IntervalMap()
    for start, end in rows:
        found.add(start, end, None)
    found.build()
    return found


def show(title, *rows, gaps=False):
    found = intervals(*rows)
    result = found.count(0, 9), found.coverage(0, 9)
    text = "{}: found {}, coverage {}".format(title, *result)
    if gaps:
        between = found.gaps(0, 9)
        result += ([tuple(between.at(index)[:2]) for index in range(between.size())],)
        text += f", gaps {result[2]}"
    print(text)
    return result


assert show("5-5", (5, 5)) == (1, (1, 0)), "the coverage of one position changed"
assert show("1-3", (1, 3)) == (1, (1, 2)), "the coverage of three positions changed"
both = show("1-3 and 5-9", (1, 3), (5, 9), gaps=True)
assert both == (2, (2, 6), [(0, 0), (4, 4)]), "the coverage of two intervals changed"
END
