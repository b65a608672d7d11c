#!/usr/bin/env bash
# interleave2(65536, 0) of pymorton is 0, the code of the point 0, 0, and interleave3(1024, 0, 0) is 0 too.
#
# Expected: 4294967296 and 1073741824, or an error. The README names no limit, and a coordinate that is not an integer raises one.
# Seen: in two dimensions the lowest 16 bits of each coordinate are used, in three the lowest 10, and the others are cut off. Points in
#   the order of their codes lie in tiles one above the other. No warning.
# Versions: pymorton 1.0.5. Date: 2026-12-01.
# Output seen:
#   1, 1: code 3, which is 1, 1
#   65535, 1: code 1431655767, which is 65535, 1
#   65537, 1: code 3, which is 1, 1
#   1025, 1, 1: code 7, which is 1, 1, 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pymorton==1.0.5
"$folder/venv/bin/python" - << 'END'
import pymorton


def show(*point):
    dimensions = len(point)
    code = getattr(pymorton, f"interleave{dimensions}")(*point)
    found = tuple(getattr(pymorton, f"deinterleave{dimensions}")(code))
    print("{}: code {}, which is {}".format(", ".join(map(str, point)), code, ", ".join(map(str, found))))
    return code, found


assert show(1, 1) == (3, (1, 1)), "a small point changed"
assert show(65535, 1) == (1431655767, (65535, 1)), "a point of 16 bits changed"
assert show(65537, 1) == (3, (1, 1)), "a point of 17 bits changed"
assert show(1025, 1, 1) == (7, (1, 1, 1)), "a point of 11 bits in three dimensions changed"
END
