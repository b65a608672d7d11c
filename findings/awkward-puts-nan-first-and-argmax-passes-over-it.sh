#!/usr/bin/env bash
# Awkward's sort puts NaN first in both directions, and its argmax does not point to what its max returns.
#
# Expected: NumPy's rules, on which the library builds: NaN last, and max and argmax both find the NaN.
# Seen: ak.sort has NaN first ascending and descending. ak.max returns NaN, ak.argmax the index of the greatest number.
# Versions: awkward 2.14.0, numpy 2.4.6. Date: 2026-11-27.
# Output seen:
#   ascending   [nan, 1.0, 2.0]   numpy [1.0, 2.0, nan]
#   descending  [nan, 2.0, 1.0]
#   max nan     argmax 2          numpy nan 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet awkward==2.14.0 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import math

import awkward
import numpy

values = numpy.array([1.0, math.nan, 2.0])
array = awkward.Array(values)
ascending, descending = awkward.sort(array).to_list(), awkward.sort(array, ascending=False).to_list()
print("ascending  ", ascending, "numpy", numpy.sort(values).tolist())
print("descending ", descending)
print("max", awkward.max(array), "argmax", awkward.argmax(array), "numpy", values.max(), values.argmax())
assert math.isnan(ascending[0]) and ascending[1:] == [1.0, 2.0], "NaN has another place"
assert math.isnan(descending[0]) and descending[1:] == [2.0, 1.0], "NaN has another place when descending"
assert math.isnan(awkward.max(array)) and awkward.argmax(array) == 2, "max and argmax agree now"
END
