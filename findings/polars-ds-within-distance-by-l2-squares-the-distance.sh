#!/usr/bin/env bash
# In polars-ds, within_dist_from(pt=[0], r=2, dist="l2") leaves out the point at distance 2, and query_nb_cnt finds it.
#
# Expected: the points at most 2 away, as for dist="l1" in one dimension. The documentation lists l2 and sql2 beside each other and
#   says "sql2 stands for squared l2", so l2 is the distance itself; query_nb_cnt and query_radius_ptwise take it so.
# Seen: within_dist_from compares the squared distance with r for both names. With r below 1 it finds too many points, above 1 too
#   few. No error, no warning.
# Versions: polars-ds 0.13.0, polars 1.35.2. Date: 2026-12-01.
# Output seen:
#   within 2 of 0 by l1            [0.0, 0.6, 1.0, 2.0]   counted by query_nb_cnt 4
#   within 2 of 0 by l2            [0.0, 0.6, 1.0]        counted by query_nb_cnt 4
#   within 2 of 0 by sql2          [0.0, 0.6, 1.0]        counted by query_nb_cnt 3
#   within 0.5 of 0 by l1          [0.0]                  counted by query_nb_cnt 1
#   within 0.5 of 0 by l2          [0.0, 0.6]             counted by query_nb_cnt 1
#   within 0.5 of 0 by sql2        [0.0, 0.6]             counted by query_nb_cnt 2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: polars-ds==0.13.0 polars==1.35.2
"$folder/venv/bin/python" - << 'END'
import polars
import polars_ds

table = polars.DataFrame({"x": [0.0, 0.6, 1.0, 2.0, 4.0]})


def both(radius, distance):
    near = polars_ds.within_dist_from("x", pt=[0.0], r=radius, dist=distance)
    found = table.filter(near)["x"].to_list()
    count = table.select(polars_ds.query_nb_cnt("x", r=radius, dist=distance)).to_series()[0]
    print(f"{f'within {radius} of 0 by {distance}':30} {str(found):22} counted by query_nb_cnt {count}")
    return found, count


assert both(2, "l1") == ([0, 0.6, 1, 2], 4), "l1 changed"
assert both(2, "l2") == ([0, 0.6, 1], 4), "l2 takes the distance now"
assert both(2, "sql2") == ([0, 0.6, 1], 3), "sql2 changed"
assert both(0.5, "l1") == ([0], 1), "l1 below 1 changed"
assert both(0.5, "l2") == ([0, 0.6], 1), "l2 below 1 takes the distance now"
assert both(0.5, "sql2") == ([0, 0.6], 2), "sql2 below 1 changed"
END
