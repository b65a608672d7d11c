#!/usr/bin/env bash
# In TileDB, the filter k == 1.5 of an integer attribute finds 1, and k < 1.5 loses it.
#
# Expected: nothing and 0, 1, as for an attribute of floats with the same numbers. Integers too large for the attribute raise an error.
# Seen: the number in the filter is cut to the type of the attribute, so 1.5 becomes 1: k >= 1.5 finds 1, and k != 1.5 loses it. In a list,
#   k in [1.5], it is an error. No warning.
# Versions: tiledb 0.36.1, numpy 2.4.6. Date: 2026-12-01.
# Output seen:
#   k == 1.5: integers [1], floats []
#   k < 1.5: integers [0], floats [0, 1]
#   k >= 1.5: integers [1, 2, 3], floats [2, 3]
#   k != 1.5: integers [0, 2, 3], floats [0, 1, 2, 3]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: tiledb==0.36.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import tempfile

import numpy
import tiledb


def array(folder, dtype):
    domain = tiledb.Domain(tiledb.Dim("row", domain=(0, 3), tile=4, dtype=numpy.int64))
    attribute = tiledb.Attr("k", dtype=dtype)
    tiledb.Array.create(folder, tiledb.ArraySchema(domain=domain, sparse=True, attrs=[attribute]))
    with tiledb.open(folder, "w") as found:
        found[numpy.arange(4)] = {"k": numpy.arange(4, dtype=dtype)}
    return folder


def show(condition):
    found = []
    for folder in folders:
        with tiledb.open(folder) as values:
            found.append([int(k) for k in values.query(cond=condition)[:]["k"]])
    print("{}: integers {}, floats {}".format(condition, *found))
    return found


with tempfile.TemporaryDirectory() as folder:
    folders = [array(f"{folder}/{dtype.__name__}", dtype) for dtype in (numpy.int32, numpy.float64)]
    assert show("k == 1.5") == [[1], []], "== changed"
    assert show("k < 1.5") == [[0], [0, 1]], "< changed"
    assert show("k >= 1.5") == [[1, 2, 3], [2, 3]], ">= changed"
    assert show("k != 1.5") == [[0, 2, 3], [0, 1, 2, 3]], "!= changed"
END
