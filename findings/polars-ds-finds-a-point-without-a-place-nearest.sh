#!/usr/bin/env bash
# is_knn_from of polars-ds says that a point whose x is null is among the two nearest of 0, before one at 2.
#
# Expected: a point without a place is not near anything: null or false, and the two nearest of 0 are those at 1 and 2.
# Seen: the distance is a sum over the columns that passes over nulls, so that of a null is 0, the least of all; with two columns, a
#   point whose y is null is as near as its x says. within_dist_from finds it within each radius. query_knn_ptwise leaves it out. No
#   warning.
# Versions: polars-ds 0.13.0, polars 1.35.2. Date: 2026-12-01.
# Output seen:
#   is_knn_from, k=2            ['a', 'c']
#   within_dist_from, r=0.5     ['c']
#   query_knn_ptwise, k=1, of a at 1: [0, 1]
#   is_knn_from by x and y, k=1 ['q']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: polars-ds==0.13.0 polars==1.35.2
"$folder/venv/bin/python" - << 'END'
import polars
import polars_ds

table = polars.DataFrame({"name": ["a", "b", "c", "d"], "x": [1.0, 2.0, None, 4.0]}).with_row_index("index")


def show(title, table, condition):
    found = table.filter(condition)["name"].to_list()
    print(f"{title:27} {found}")
    return found


assert show("is_knn_from, k=2", table, polars_ds.is_knn_from("x", pt=[0.0], k=2)) == ["a", "c"], "is_knn_from changed"
assert show("within_dist_from, r=0.5", table, polars_ds.within_dist_from("x", pt=[0.0], r=0.5)) == ["c"], "within_dist_from changed"
near = table.select(polars_ds.query_knn_ptwise("x", index="index", k=1)).to_series()[0].to_list()
print("query_knn_ptwise, k=1, of a at 1:", near)
assert near == [0, 1], "query_knn_ptwise changed"
plane = polars.DataFrame({"name": ["p", "q"], "x": [1.0, 2.0], "y": [3.0, None]})
assert show("is_knn_from by x and y, k=1", plane, polars_ds.is_knn_from("x", "y", pt=[0.0, 0.0], k=1)) == ["q"], "two columns changed"
END
