#!/usr/bin/env bash
# pyarrow.compute.cumulative_max of a column that begins with NaN begins with -inf, which is not in the column.
#
# Expected: NaN, as cumulative_sum and numpy.maximum.accumulate return. Or nothing but numbers of the column.
# Seen: NaN is passed over, and what is left is the start value: -inf for cumulative_max, inf for cumulative_min. max of a column
#   that holds only NaN is NaN, but the last element of its cumulative_max is -inf. Nulls are propagated. No error, no warning.
# Versions: pyarrow 26.0.1, numpy 2.4.6. Date: 2026-11-29.
# Output seen:
#   [nan, 1.0]
#     max             1.0
#     cumulative_max  [-inf, 1.0]
#     cumulative_min  [inf, 1.0]
#     cumulative_sum  [nan, nan]
#     numpy           [nan, nan]
#   [nan, nan]
#     max             nan
#     cumulative_max  [-inf, -inf]
#     cumulative_min  [inf, inf]
#     cumulative_sum  [nan, nan]
#     numpy           [nan, nan]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pyarrow==26.0.1 numpy==2.4.6
cd "$folder"
venv/bin/python - << 'END'
import numpy
import pyarrow
import pyarrow.compute


def accumulate(values):
    array = pyarrow.array(values)
    rows = {
        "max": pyarrow.compute.max(array).as_py(),
        "cumulative_max": pyarrow.compute.cumulative_max(array).to_pylist(),
        "cumulative_min": pyarrow.compute.cumulative_min(array).to_pylist(),
        "cumulative_sum": pyarrow.compute.cumulative_sum(array).to_pylist(),
        "numpy": numpy.maximum.accumulate(values).tolist(),
    }
    print(values)
    for name, result in rows.items():
        print(f"  {name:15} {result}")
    return rows


nan, inf = float("nan"), float("inf")
rows = accumulate([nan, 1.0])
assert rows["cumulative_max"] == [-inf, 1] and rows["cumulative_min"] == [inf, 1], "NaN at the beginning is something else now"
assert str(rows["cumulative_sum"]) == str(rows["numpy"]) == "[nan, nan]", "cumulative_sum or numpy changed"
rows = accumulate([nan, nan])
assert str(rows["max"]) == "nan" and rows["cumulative_max"] == [-inf, -inf], "max and cumulative_max agree now"
END
