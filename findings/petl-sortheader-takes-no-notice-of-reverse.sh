#!/usr/bin/env bash
# petl's sortheader(reverse=True) returns the columns in ascending order.
#
# Expected: the columns by name, descending. The argument is in the signature, and sort(reverse=True) of petl descends.
# Seen: the argument is stored and not read, so both calls return the same table. No error, no warning.
# Version: petl 1.7.30. Date: 2026-11-29.
# Output seen:
#   sortheader                 ('a', 'b', 'c')
#   sortheader, reverse=True   ('a', 'b', 'c')
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet petl==1.7.30
"$folder/venv/bin/python" - << 'END'
import petl

table = [["b", "c", "a"], [2, 3, 1]]
ascending, descending = petl.header(petl.sortheader(table)), petl.header(petl.sortheader(table, reverse=True))
print(f"sortheader                 {ascending}")
print(f"sortheader, reverse=True   {descending}")
assert ascending == ("a", "b", "c"), "sortheader changed"
assert descending == ascending, "reverse has an effect now"
END
