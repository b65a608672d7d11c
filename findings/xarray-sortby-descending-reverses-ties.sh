#!/usr/bin/env bash
# xarray's sortby(ascending=False) reverses rows of equal keys.
#
# Expected: rows of equal keys keep their order, as pandas' sort_values(ascending=False, kind="stable") and xarray's own ascending
#   sort keep it.
# Seen: the ascending order is computed and read backwards, so ties come out in reverse order. With two keys, too.
# Versions: xarray 2026.9.0, numpy 2.4.6, pandas 3.1.1. Date: 2026-11-27.
# Output seen:
#   ascending   ['b', 'a', 'c']
#   descending  ['c', 'a', 'b']   pandas ['a', 'c', 'b']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet xarray==2026.9.0 numpy==2.4.6 pandas==3.1.1
"$folder/venv/bin/python" - << 'END'
import pandas
import xarray

names, keys = ["a", "b", "c"], [2, 1, 2]
array = xarray.DataArray(names, dims="row", coords={"key": ("row", keys)})
ascending, descending = array.sortby("key").values.tolist(), array.sortby("key", ascending=False).values.tolist()
frame = pandas.DataFrame({"name": names, "key": keys})
stable = frame.sort_values("key", ascending=False, kind="stable")["name"].tolist()
print("ascending  ", ascending)
print("descending ", descending, "pandas", stable)
assert ascending == ["b", "a", "c"], "the ascending sort is no longer stable"
assert descending == ["c", "a", "b"], "ties keep their order now"
assert stable == ["a", "c", "b"], "pandas changed"
END
