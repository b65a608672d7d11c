#!/usr/bin/env bash
# In a function compiled by Numba, np.sort of dates does not sort once one date is NaT.
#
# Expected: NumPy's result: the dates in order, NaT last. Numba does that for floats and NaN.
# Seen: NaT compares as neither less nor greater, and the compiled quicksort does not treat it apart. The dates on both sides of a NaT
#   stay on their side. np.argsort, array.sort and timedelta64 are alike, and np.unique, which sorts, returns one date twice. No error.
#   np.median has a like gap: it counts NaN as the greatest number, where NumPy returns NaN.
# Versions: numba 0.68.1, numpy 2.4.6. Date: 2026-11-29.
# Output seen:
#   numpy  sort ['2018', '2019', '2020', '2020', 'NaT']  unique ['2018', '2019', '2020', 'NaT']  median nan
#   numba  sort ['2020', 'NaT', '2018', '2019', '2020']  unique ['2020', 'NaT', '2018', '2019', '2020']  median 2.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet numba==0.68.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import numba
import numpy as np


def ordered(dates, numbers):
    return np.sort(dates), np.unique(dates), np.median(numbers)


dates = np.array(["2020", "NaT", "2020", "2019", "2018"], dtype="datetime64[Y]")
numbers = np.array([3.0, np.nan, 1.0, 2.0, 0.0])
results = []
for name, call in (("numpy", ordered), ("numba", numba.njit(ordered))):
    sort, unique, median = call(dates, numbers)
    results.append((sort.astype(str).tolist(), unique.astype(str).tolist(), float(median)))
    print(f"{name}  sort {results[-1][0]}  unique {results[-1][1]}  median {median}")
numpy_result, numba_result = results
assert numpy_result[:2] == (["2018", "2019", "2020", "2020", "NaT"], ["2018", "2019", "2020", "NaT"]), "numpy changed"
known = [date for date in numba_result[0] if date != "NaT"]
assert known != sorted(known), "numba sorts dates with NaT now"
assert len(numba_result[1]) > len(set(numba_result[1])), "unique returns each date once now"
assert np.isnan(numpy_result[2]) and numba_result[2] == 2.0, "the median changed"
END
