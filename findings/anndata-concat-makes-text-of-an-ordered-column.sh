#!/usr/bin/env bash
# If an AnnData object is split and concatenated again, an ordered categorical of its rows becomes text and sorts by letters.
#
# Expected: lo < mid < hi survives, as it does when pandas splits and concatenates the same obs frame.
# Seen: a part drops the categories that it has no row of. concat takes the union of categories for unordered columns, but for ordered
#   ones that differ it falls back to plain strings: the sorted column is hi, lo, mid, and its maximum mid. No error, no warning.
# Versions: anndata 0.12.19, pandas 2.3.3, numpy 2.4.6. Date: 2026-11-29.
# Output seen:
#   whole               category ['lo', 'mid', 'hi'] max hi
#   pandas.concat       category ['lo', 'mid', 'hi'] max hi
#   anndata.concat      object ['hi', 'lo', 'mid'] max mid
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet anndata==0.12.19 pandas==2.3.3 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import anndata
import numpy
import pandas

level = pandas.Categorical(["mid", "hi", "lo"], categories=["lo", "mid", "hi"], ordered=True)
whole = anndata.AnnData(numpy.ones((3, 1)), obs=pandas.DataFrame({"level": level}, index=["a", "b", "c"]))


def show(title, column):
    values = column.sort_values().tolist()
    print(f"{title:19} {column.dtype} {values} max {column.max()}")
    return values


declared = ["lo", "mid", "hi"]
assert show("whole", whole.obs["level"]) == declared, "the order of the whole changed"
assert show("pandas.concat", pandas.concat([whole.obs[:2], whole.obs[2:]])["level"]) == declared, "pandas changed"
assert show("anndata.concat", anndata.concat([whole[:2], whole[2:]]).obs["level"]) == ["hi", "lo", "mid"], "concat keeps the order now"
END
