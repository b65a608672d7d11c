#!/usr/bin/env bash
# DataArray.rank gives different 64-bit integers the same rank.
#
# Expected: the ranks of pandas' Series.rank and of scipy.stats.rankdata, which compare integers as integers.
# Seen: xarray ranks with bottleneck, which converts integers to float64 first. Above 2**53 neighbours become ties: identifiers of 19
#   digits, or nanoseconds since 1970 within 256 ns. The same instants as datetime64 are ranked exactly. No warning.
# Versions: xarray 2026.9.0, bottleneck 1.6.0, numpy 2.4.6, pandas 3.1.1, scipy 1.17.1. Date: 2026-11-29.
# Output seen:
#   xarray, int64           [2.0, 2.0, 2.0]
#   xarray, datetime64[ns]  [3.0, 1.0, 2.0]
#   pandas, int64           [3.0, 1.0, 2.0]
#   scipy, int64            [3.0, 1.0, 2.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet xarray==2026.9.0 bottleneck==1.6.0 numpy==2.4.6 pandas==3.1.1 scipy==1.17.1
"$folder/venv/bin/python" - << 'END'
import numpy
import pandas
import scipy.stats
import xarray

times = numpy.array([1845000000000000123, 1845000000000000121, 1845000000000000122])
integers = xarray.DataArray(times, dims="event").rank("event").values.tolist()
dates = xarray.DataArray(times.view("datetime64[ns]"), dims="event").rank("event").values.tolist()
frame = pandas.Series(times).rank().tolist()
data = scipy.stats.rankdata(times).tolist()
print("xarray, int64          ", integers)
print("xarray, datetime64[ns] ", dates)
print("pandas, int64          ", frame)
print("scipy, int64           ", data)
assert integers == [2.0, 2.0, 2.0], "xarray ranks integers exactly now"
assert dates == frame == data == [3.0, 1.0, 2.0], "the others changed"
END
