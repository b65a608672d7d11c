#!/usr/bin/env bash
# In wquantiles the weighted median of 1, 2 and 9 with the weights 1, 1 and 5 is 6.67, though 9 has five sevenths of the weight.
#
# Expected: a value with more than half of the weight is the weighted median, as less than half lies on either side of it.
#   Whole weights are numbers of repetitions: the median of 1, 2, 9, 9, 9, 9, 9 is 9.
# Seen: each value stands for the middle of its share of the weight, and the quantile is drawn on a line between neighbours. So the result
#   depends on whether equal values are written once with a weight or as often as they occur, and 6.67 is none of them. NaN sorts last and
#   counts, so the median of 1, NaN and 9 is 9. No warning.
# Versions: wquantiles 0.6, weightedstats 0.4.1, numpy 2.4.6. Date: 2026-11-30.
# Output seen:
#   wquantiles 6.67, repeated 9.0, weightedstats 9, numpy 9.0
#   the median of 1, NaN and 9 by wquantiles is 9.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: wquantiles==0.6 weightedstats==0.4.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import math

import numpy
import weightedstats
import wquantiles

VALUES, WEIGHTS = numpy.array([1.0, 2, 9]), numpy.array([1, 1, 5])

seen = round(float(wquantiles.median(VALUES, WEIGHTS)), 2)
repeated = numpy.repeat(VALUES, WEIGHTS)
of_repeated = float(wquantiles.median(repeated, numpy.ones(len(repeated))))
other = weightedstats.weighted_median([1, 2, 9], weights=[1, 1, 5])
of_numpy = float(numpy.quantile(VALUES, 0.5, weights=WEIGHTS, method="inverted_cdf"))
print(f"wquantiles {seen}, repeated {of_repeated}, weightedstats {other}, numpy {of_numpy}")
beside = float(wquantiles.median(numpy.array([1, math.nan, 9]), numpy.ones(3)))
print("the median of 1, NaN and 9 by wquantiles is", beside)
assert seen == 6.67 and of_repeated == 9, "wquantiles changed"
assert other == of_numpy == 9, "weightedstats or numpy changed"
assert beside == 9, "wquantiles changed for NaN"
END
