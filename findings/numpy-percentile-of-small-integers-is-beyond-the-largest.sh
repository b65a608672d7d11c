#!/usr/bin/env bash
# The 25th percentile of -95, 87 and 89 as 8-bit integers is 124 in NumPy, and the 50th of -100 and 100 is 128, though their median is 0.
#
# Expected: -4, between -95 and 87. The result is a float64, and np.median computes in it.
# Seen: the difference of two neighbours is taken in the type of the array, where 87 + 95 is -74. So it is with 16, 32 and 64 bits: the
#   50th percentile of -2000000000 and 2000000000 as int32 is beyond what the type holds. np.quantile and np.nanpercentile do the same;
#   unsigned integers are right. With one percentile of one array there is a RuntimeWarning, with a list of percentiles or an axis none.
# Versions: numpy 2.4.6. Date: 2026-12-01.
# Output seen:
#   int8 [-95, 87, 89]: percentile 25 is 124.0, of float64 -4.0, median 87.0
#   int8 [-100, 100]: percentile 50 is 128.0, of float64 0.0, median 0.0
#   int32 [-2000000000, 2000000000]: percentile 50 is 2147483648.0, of float64 0.0, median 0.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: numpy==2.4.6
"$folder/venv/bin/python" -W error - << 'END'
import numpy


def percentile(kind, values, percent):
    small, wide = numpy.array(values, dtype=kind), numpy.array(values, dtype="float64")
    found = [float(numpy.percentile(array, [percent])[0]) for array in (small, wide)]
    found.append(float(numpy.median(small)))
    print("{} {}: percentile {} is {}, of float64 {}, median {}".format(kind, values, percent, *found))
    return found


assert percentile("int8", [-95, 87, 89], 25) == [124, -4, 87], "the 25th percentile of int8 changed"
assert percentile("int8", [-100, 100], 50) == [128, 0, 0], "the 50th percentile of int8 changed"
assert percentile("int32", [-2000000000, 2000000000], 50) == [2147483648, 0, 0], "the 50th percentile of int32 changed"
END
