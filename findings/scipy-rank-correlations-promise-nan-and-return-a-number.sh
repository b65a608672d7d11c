#!/usr/bin/env bash
# SciPy's weightedtau and mstats.spearmanr of data with NaN return a number, though nan_policy="propagate" promises NaN, and spearmanr does
# not raise for nan_policy="raise".
#
# Expected: "propagate", the default, gives NaN, as the documentation of both says and as kendalltau and spearmanr of scipy.stats do it.
#   "raise" raises an error. The position of a missing value is not a rank.
# Seen: weightedtau ranks NaN below each number, and two columns in the same order have the correlation -0.07. mstats.spearmanr ranks NaN
#   above each number and gives 0.8, for "raise" too, with a p-value. Without the row of the NaN ("omit") both are 1. No warning.
# Versions: scipy 1.17.1, numpy 2.4.6. Date: 2026-11-30.
# Output seen:
#   weightedtau of [1, 2, 3, nan] and [1, 2, 3, 4]: propagate -0.0667, omit 1.0, raise ValueError
#   kendalltau of [1, 2, 3, nan] and [1, 2, 3, 4]: propagate nan, omit 1.0, raise ValueError
#   mstats.spearmanr of [1, 2, nan, 3] and [1, 2, 3, 4]: propagate 0.8, omit 1.0, raise 0.8
#   spearmanr of [1, 2, nan, 3] and [1, 2, 3, 4]: propagate nan, omit 1.0, raise ValueError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: scipy==1.17.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import math

from scipy import stats

nan = math.nan


def show(name, function, x):
    results = []
    for policy in ["propagate", "omit", "raise"]:
        try:
            results.append(str(round(float(function(x, [1, 2, 3, 4], nan_policy=policy).statistic), 4)))
        except ValueError as error:
            results.append(type(error).__name__)
    print(f"{name} of {x} and [1, 2, 3, 4]: propagate {results[0]}, omit {results[1]}, raise {results[2]}")
    return results


assert show("weightedtau", stats.weightedtau, [1, 2, 3, nan]) == ["-0.0667", "1.0", "ValueError"], "weightedtau changed"
assert show("kendalltau", stats.kendalltau, [1, 2, 3, nan]) == ["nan", "1.0", "ValueError"], "kendalltau changed"
assert show("mstats.spearmanr", stats.mstats.spearmanr, [1, 2, nan, 3]) == ["0.8", "1.0", "0.8"], "mstats.spearmanr changed"
assert show("spearmanr", stats.spearmanr, [1, 2, nan, 3]) == ["nan", "1.0", "ValueError"], "spearmanr changed"
END
