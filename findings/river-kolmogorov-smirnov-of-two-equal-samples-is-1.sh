#!/usr/bin/env bash
# The KolmogorovSmirnov statistic of river is 1 for two samples of four ones each, its largest value, and 0.25 for 1 to 4 twice.
#
# Expected: 0, for equal samples, as scipy.stats.ks_2samp says. The documentation gives the supremum of |F(x) - G(x)| over x, where equal
#   values are counted on both sides.
# Seen: of equal values those of the first sample are put first, and the difference is taken in the middle of the tie too. With values
#   that repeat, such as counts or stars, equal streams seem to differ. Samples without a tie have the right statistic. No warning.
# Versions: river 0.26.1, scipy 1.17.1, numpy 2.4.6. Date: 2026-12-01.
# Output seen:
#   [1, 1, 1, 1] and [1, 1, 1, 1]   river 1.00   scipy 0.00
#   [1, 2, 3, 4] and [1, 2, 3, 4]   river 0.25   scipy 0.00
#   [0, 0, 0, 1] and [0, 1, 1, 1]   river 0.75   scipy 0.50
#   [0, 2, 4, 6] and [1, 3, 5, 7]   river 0.25   scipy 0.25
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: river==0.26.1 scipy==1.17.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import scipy.stats
from river.stats import KolmogorovSmirnov


def show(left, right):
    statistic = KolmogorovSmirnov()
    for pair in zip(left, right):
        statistic.update(*pair)
    expected = float(scipy.stats.ks_2samp(left, right).statistic)
    print(f"{left} and {right}   river {statistic.get():.2f}   scipy {expected:.2f}")
    return statistic.get(), expected


assert show([1, 1, 1, 1], [1, 1, 1, 1]) == (1, 0), "ones changed"
assert show([1, 2, 3, 4], [1, 2, 3, 4]) == (0.25, 0), "equal samples changed"
assert show([0, 0, 0, 1], [0, 1, 1, 1]) == (0.75, 0.5), "zeros and ones changed"
assert show([0, 2, 4, 6], [1, 3, 5, 7]) == (0.25, 0.25), "samples without ties changed"
END
