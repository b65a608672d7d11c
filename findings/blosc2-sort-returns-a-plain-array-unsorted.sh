#!/usr/bin/env bash
# blosc2.sort returns a plain array in its old order, without an error.
#
# Expected: the sorted array, as blosc2.argsort of the same array orders it, or an error: the documentation says that sort is for
#   structured arrays.
# Seen: a copy of the input for every chunk layout. So is a structured array if order= is left out, which numpy.sort sorts by all
#   fields. Only with order= does sort sort.
# Versions: blosc2 4.14.1, numpy 2.4.6. Date: 2026-11-29.
# Output seen:
#   int64    sort [3, 1, 2]  argsort [1, 2, 0]
#   float64  sort [3.0, 1.0, 2.0]  argsort [1, 2, 0]
#   struct   sort [(3, 1), (1, 2), (2, 3)]  with order="a" [(1, 2), (2, 3), (3, 1)]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet blosc2==4.14.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import blosc2
import numpy

for dtype in ("int64", "float64"):
    for layout in ({}, {"chunks": (2,), "blocks": (1,)}):
        array = blosc2.asarray(numpy.array([3, 1, 2], dtype=dtype), **layout)
        values, indices = blosc2.sort(array)[:].tolist(), blosc2.argsort(array)[:].tolist()
        assert values == [3, 1, 2], "plain arrays are sorted now"
        assert indices == [1, 2, 0], "argsort changed"
    print(f"{dtype:8} sort {values}  argsort {indices}")
pairs = numpy.array([(3, 1), (1, 2), (2, 3)], dtype=[("a", "i4"), ("b", "i4")])
array = blosc2.asarray(pairs)
rows, ordered = blosc2.sort(array)[:].tolist(), blosc2.sort(array, order="a")[:].tolist()
print("struct   sort", rows, ' with order="a"', ordered)
assert rows == pairs.tolist(), "structured arrays without order= are sorted now"
assert ordered == numpy.sort(pairs).tolist() == [(1, 2), (2, 3), (3, 1)], "order= changed"
END
