#!/usr/bin/env bash
# In xskillscore, spearman_r(..., skipna=True) is NaN beside a missing value, and pearson_r(..., skipna=True) passes over it.
#
# Expected: the correlation of the ranks of the other pairs, 0.95. Both functions say "If True, skip NaNs when computing function."
# Seen: the ranks are made without passing over the pair, and the correlation of these ranks is NaN whatever skipna is; p-values too.
#   On a map where each place misses some times, it is empty with one function and full with the other. No warning.
# Versions: xskillscore 0.0.29, xarray 2026.9.0, numpy 2.4.6, scipy 1.17.1. Date: 2026-12-01.
# Output seen:
#   pearson_r              with skipna 0.9297   of the complete pairs 0.9297
#   spearman_r             with skipna nan      of the complete pairs 0.9487
#   pearson_r_p_value      with skipna 0.0703   of the complete pairs 0.0703
#   spearman_r_p_value     with skipna nan      of the complete pairs 0.0513
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: xskillscore==0.0.29 xarray==2026.9.0 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" -W ignore - << 'END'
import math

import xarray
import xskillscore

forecast = xarray.DataArray([1, math.nan, 2, 3, 5], dims="time")
observed = xarray.DataArray([2.0, 1, 3, 3, 9], dims="time")
complete = forecast.notnull()


def show(name):
    function = getattr(xskillscore, name)
    skipped = float(function(forecast, observed, "time", skipna=True))
    without = float(function(forecast[complete], observed[complete], "time"))
    print(f"{name:22} with skipna {skipped:<8.4f} of the complete pairs {without:.4f}")
    return skipped, without


for name in "pearson_r", "spearman_r", "pearson_r_p_value", "spearman_r_p_value":
    skipped, without = show(name)
    assert not math.isnan(without), f"{name} of complete pairs changed"
    if name.startswith("pearson"):
        assert skipped == without, f"{name} does not skip a missing value"
    else:
        assert math.isnan(skipped), f"{name} skips a missing value now"
END
