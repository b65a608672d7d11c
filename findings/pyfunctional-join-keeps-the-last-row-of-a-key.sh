#!/usr/bin/env bash
# join of PyFunctional returns one pair for a key with two rows, the last of them, and outer_join too.
#
# Expected: a pair for each two rows of one key, (1, 3), (1, 4), (2, 3) and (2, 4), as a join of SQL or of Spark returns; the README says
#   that the functions take after the data sets of Spark. The documentation says nothing of keys that repeat.
# Seen: both sides are turned into a dictionary first, so each key keeps its last row, and the others are lost. No warning.
# Version: pyfunctional 1.5.0. Date: 2026-12-01.
# Output seen:
#   inner_join [('a', (2, 4))]
#   left_join  [('a', (2, 4)), ('b', (5, None))]
#   outer_join [('a', (2, 4)), ('b', (5, None))]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pyfunctional==1.5.0
"$folder/venv/bin/python" - << 'END'
from functional import seq

left = [("a", 1), ("a", 2), ("b", 5)]
right = [("a", 3), ("a", 4)]


def show(name):
    found = sorted(getattr(seq(left), name)(right).to_list())
    print(f"{name:10} {found}")
    return found


assert show("inner_join") == [("a", (2, 4))], "inner_join changed"
assert show("left_join") == [("a", (2, 4)), ("b", (5, None))], "left_join changed"
assert show("outer_join") == [("a", (2, 4)), ("b", (5, None))], "outer_join changed"
END
