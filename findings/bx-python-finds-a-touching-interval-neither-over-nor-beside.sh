#!/usr/bin/env bash
# In bx-python an interval that touches the query neither overlaps it nor lies before or after it: no function returns it.
#
# Expected: intervals are half-open, as in BED, so 10-20 and 30-40 do not overlap 20-30. Then the one is before it and the other after it,
#   as "completely before" says, and they are its nearest neighbours. bedtools closest (2.30) returns both.
# Seen: find returns nothing, which is right, and before_interval, after_interval, upstream_of_interval and downstream_of_interval pass over
#   touching intervals and return the next ones, 0-5 and 50-60. Shorten the query by one base at each side and the neighbours appear.
# Version: bx-python 0.15.1. Date: 2026-11-30.
# Output seen:
#   query 20-30: over [], before ['0-5'], after ['50-60'], upstream ['0-5'], downstream ['50-60']
#   query 21-29: over [], before ['10-20'], after ['30-40'], upstream ['10-20'], downstream ['30-40']
#   query 19-31: over ['10-20', '30-40'], before ['0-5'], after ['50-60'], upstream ['0-5'], downstream ['50-60']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: bx-python==0.15.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
from bx.intervals.intersection import Intersecter, Interval

tree = Intersecter()
for start, end in [(0, 5), (10, 20), (30, 40), (50, 60)]:
    tree.add_interval(Interval(start, end))


def query(start, end):
    interval = Interval(start, end)
    results = {"over": tree.find(start, end), "before": tree.before_interval(interval), "after": tree.after_interval(interval),
               "upstream": tree.upstream_of_interval(interval), "downstream": tree.downstream_of_interval(interval)}
    results = {name: sorted(f"{found.start}-{found.end}" for found in founds) for name, founds in results.items()}
    print(f"query {start}-{end}:", ", ".join(f"{name} {names}" for name, names in results.items()))
    return list(results.values())


assert query(20, 30) == [[], ["0-5"], ["50-60"], ["0-5"], ["50-60"]], "touching intervals are found now"
assert query(21, 29) == [[], ["10-20"], ["30-40"], ["10-20"], ["30-40"]], "intervals at distance 1 changed"
assert query(19, 31)[0] == ["10-20", "30-40"], "overlaps changed"
END
