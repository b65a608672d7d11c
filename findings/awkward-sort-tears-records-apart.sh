#!/usr/bin/env bash
# ak.sort of an array of records sorts each field by itself, so the rows are no longer those of the input.
#
# Expected: records in order of their first field, then the next, as NumPy sorts structured arrays; or an error.
# Seen: each field becomes a sorted column of its own. (2, "y") and (1, "z") come back as (1, "y") and (2, "z"): two rows
#   that were never in the input. No warning. ak.argsort of the same array
#   raises NotImplementedError, so there is no order by which the rows could be taken.
# Version: awkward 2.14.0. Date: 2026-11-27.
# Output seen:
#   input     [{'x': 2, 'name': 'y'}, {'x': 1, 'name': 'z'}]
#   ak.sort   [{'x': 1, 'name': 'y'}, {'x': 2, 'name': 'z'}]
#   ak.argsort NotImplementedError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet awkward==2.14.0 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import awkward

rows = awkward.Array([{"x": 2, "name": "y"}, {"x": 1, "name": "z"}])
in_order = awkward.sort(rows).to_list()
print("input    ", rows.to_list())
print("ak.sort  ", in_order)
assert in_order == [{"x": 1, "name": "y"}, {"x": 2, "name": "z"}], "records are sorted in another way now"
assert not any(row in rows.to_list() for row in in_order), "rows of the input are kept now"
try:
    awkward.argsort(rows)
except NotImplementedError:
    print("ak.argsort NotImplementedError")
else:
    raise AssertionError("records can be argsorted now")
END
