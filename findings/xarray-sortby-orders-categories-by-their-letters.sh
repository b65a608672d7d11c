#!/usr/bin/env bash
# xarray's sortby sorts an ordered categorical coordinate by the letters of its categories, not by their declared order.
#
# Expected: lo, mid, hi, as the index declares and as xarray's own groupby and pandas' sort_index order the same coordinate.
# Seen: xarray keeps the categorical index of pandas through to_xarray and sortby, but sorts the plain strings of it. The result still
#   has the index with lo < mid < hi, in the order hi, lo, mid. No warning.
# Versions: xarray 2026.9.0, pandas 3.1.1, numpy 2.4.6. Date: 2026-11-29.
# Output seen:
#   declared            ['lo', 'mid', 'hi']
#   pandas sort_index   ['lo', 'mid', 'hi']
#   xarray groupby      ['lo', 'mid', 'hi']
#   xarray sortby       ['hi', 'lo', 'mid']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet xarray==2026.9.0 pandas==3.1.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import pandas
import xarray  # noqa: F401, for Series.to_xarray

declared = ["lo", "mid", "hi"]
index = pandas.CategoricalIndex(["mid", "hi", "lo"], categories=declared, ordered=True, name="level")
series = pandas.Series([1, 2, 3], index=index)
array = series.to_xarray()
by_sort = array.sortby("level")
results = {
    "declared": declared,
    "pandas sort_index": series.sort_index().index.tolist(),
    "xarray groupby": array.groupby("level").max()["level"].values.tolist(),
    "xarray sortby": by_sort["level"].values.tolist(),
}
for name, values in results.items():
    print(f"{name:19} {values}")
assert results["pandas sort_index"] == results["xarray groupby"] == declared, "pandas or groupby changed"
assert results["xarray sortby"] == ["hi", "lo", "mid"], "sortby follows the declared order now"
assert by_sort.indexes["level"].ordered, "the index is no longer an ordered categorical"
END
