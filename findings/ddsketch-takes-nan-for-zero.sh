#!/usr/bin/env bash
# The ddsketch package counts NaN as 0: of 1, NaN and 2 the quantile 0 is 0, and of -5, NaN and -3 the quantile 1 is 0.
#
# Expected: NaN is refused or left out, as by the float sketches of the datasketches package, or every quantile is NaN. No quantile lies
#   outside of the numbers that were added by more than the relative accuracy of 1 percent.
# Seen: what is neither greater nor less than the bounds of zero goes to the counter of zeros, and NaN does. So the count is 3, NaN moves
#   the quantiles towards 0, and the median of 1, 2, NaN, NaN and NaN is 0. Only the sum and the average are NaN. No warning.
# Versions: ddsketch 3.0.1, datasketches 5.2.0, numpy 2.4.6. Date: 2026-11-30.
# Output seen:
#   [1, nan, 2]: ddsketch [0, 0.99, 1.99], datasketches [1.0, 2.0, 2.0]
#   [-5, nan, -3]: ddsketch [-5.0, -2.97, 0], datasketches [-5.0, -3.0, -3.0]
#   [1, 2, nan, nan, nan]: ddsketch [0, 0, 1.99], datasketches [1.0, 2.0, 2.0]
#   count of 1, NaN and 2: ddsketch 3, datasketches 2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: ddsketch==3.0.1 datasketches==5.2.0 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import math

import datasketches
import ddsketch

RANKS = [0, 0.5, 1]


def fill(values):
    seen, other = ddsketch.DDSketch(0.01), datasketches.kll_doubles_sketch()
    for value in values:
        seen.add(value)
        other.update(value)
    return seen, other


def show(values):
    seen, other = fill(values)
    of_seen = [round(seen.get_quantile_value(rank), 2) for rank in RANKS]
    of_other = [other.get_quantile(rank) for rank in RANKS]
    print(f"{values}: ddsketch {of_seen}, datasketches {of_other}")
    return of_seen, of_other


nan = math.nan
assert show([1, nan, 2]) == ([0, 0.99, 1.99], [1, 2, 2]), "the quantiles changed"
assert show([-5, nan, -3]) == ([-5.0, -2.97, 0], [-5, -3, -3]), "the quantiles of negative numbers changed"
assert show([1, 2, nan, nan, nan]) == ([0, 0, 1.99], [1, 2, 2]), "the median beside several NaN changed"
seen, other = fill([1, nan, 2])
print(f"count of 1, NaN and 2: ddsketch {seen.count:.0f}, datasketches {other.n}")
assert seen.count == 3 and other.n == 2 and math.isnan(seen.avg), "the counts changed"
END
