#!/usr/bin/env bash
# In Bottleneck, the median of the 32-bit integers 2000000000 and 2000000000 is -147483648.
#
# Expected: 2000000000.0, as numpy.median returns it. Bottleneck offers the same functions, faster. The median lies between the least and
#   the greatest value, and bottleneck.nanmean of the two is right.
# Seen: of an even number of values the two in the middle are added in their own type, and the sum overflows. median and nanmedian return
#   a negative number for positive ones, of int64 from 2^62 on (hashes), of an odd number the right one. No error, no warning.
# Versions: bottleneck 1.6.0, numpy 2.4.6. Date: 2026-11-30.
# Output seen:
#   numpy.median          int32 2000000000.0, int64 4.611686018427388e+18
#   bottleneck.median     int32 -147483648.0, int64 -4.611686018427388e+18
#   bottleneck.nanmedian  int32 -147483648.0, int64 -4.611686018427388e+18
#   bottleneck.nanmean    int32 2000000000.0, int64 4.611686018427388e+18
#   of three values       int32 2000000000.0, int64 4.611686018427388e+18
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet bottleneck==1.6.0 numpy==2.4.6
"$folder/venv/bin/python" -W error - << 'END'
import bottleneck
import numpy

NUMBERS = {"int32": 2_000_000_000, "int64": 2**62}
RIGHT = [2e9, 2.0**62]


def values(title, function, count=2):
    found = [float(function(numpy.array([number] * count, dtype=kind))) for kind, number in NUMBERS.items()]
    print(f"{title:21} int32 {found[0]}, int64 {found[1]}")
    return found


assert values("numpy.median", numpy.median) == RIGHT, "NumPy changed"
for name in ("median", "nanmedian"):
    assert values(f"bottleneck.{name}", getattr(bottleneck, name)) == [-147483648.0, -(2.0**62)], f"{name} does not overflow now"
assert values("bottleneck.nanmean", bottleneck.nanmean)[0] == 2e9, "nanmean changed"
assert values("of three values", bottleneck.median, 3) == RIGHT, "the median of three changed"
END
