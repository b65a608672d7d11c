#!/usr/bin/env bash
# IQR of river is 2 for the numbers 1 to 5 and 0 for 1 to 6, and its 90th percentile falls from 5 to 3 when the 6 comes.
#
# Expected: about 2.5 for 1 to 6, as numpy and river's own RollingIQR say, and a percentile that does not fall when the largest number
#   of all comes. The documentation says "Computes the interquartile range", and nothing of few numbers.
# Seen: of the first five numbers the quantile is exact. From the sixth on it is the middle one of five markers, which stand at the
#   first five numbers whatever the quantile is: 3 for each of them. So all quantiles are equal, the range is 0, and they take
#   many numbers to part. No warning.
# Versions: river 0.26.1, numpy 2.4.6. Date: 2026-12-01.
# Output seen:
#   after 5 numbers: quantiles 0.1 1.0, 0.9 5.0   IQR 2.00   RollingIQR 2.00
#   after 6 numbers: quantiles 0.1 3.0, 0.9 3.0   IQR 0.00   RollingIQR 2.50
#   after 7 numbers: quantiles 0.1 3.0, 0.9 4.0   IQR 1.00   RollingIQR 3.00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: river==0.26.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
from river.stats import IQR, Quantile, RollingIQR

low, high, spread, rolling = Quantile(0.1), Quantile(0.9), IQR(), RollingIQR(window_size=100)
seen = {}
for number in range(1, 8):
    for statistic in (low, high, spread, rolling):
        statistic.update(number)
    if number > 4:
        seen[number] = low.get(), high.get(), spread.get(), rolling.get()
        print("after {} numbers: quantiles 0.1 {}, 0.9 {}   IQR {:.2f}   RollingIQR {:.2f}".format(number, *seen[number]))
assert seen[5] == (1, 5, 2, 2), "five numbers changed"
assert seen[6] == (3, 3, 0, 2.5), "six numbers changed"
assert seen[7] == (3, 4, 1, 3), "seven numbers changed"
END
