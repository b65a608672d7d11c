#!/usr/bin/env bash
# Dask's max of an ordered categorical column depends on the number of partitions: "hi" with one, "mid" with three.
#
# Expected: the greatest category by the declared order lo < mid < hi, as pandas and Dask's own sort_values, cummax and comparisons.
# Seen: each partition finds its maximum by that order. Then the maxima, now without their type, are compared as strings. The max of
#   a sorted index is found the same way and is the least category. min is alike. group_by(..).max() is right.
# Versions: dask 2026.8.0, pandas 3.1.1, pyarrow 26.0.1. Date: 2026-11-29.
# Output seen:
#   pandas               max hi
#   dask, 1 partition    max hi
#   dask, 3 partitions   max mid  last of sort_values: hi  max of the index: lo
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "dask[dataframe]==2026.8.0" pandas==3.1.1 pyarrow==26.0.1
"$folder/venv/bin/python" - << 'END'
import dask.dataframe
import pandas

levels = pandas.Categorical(["lo", "hi", "mid", "lo", "hi", "mid"], categories=["lo", "mid", "hi"], ordered=True)
frame = pandas.DataFrame({"level": levels, "row": range(6)})
one, three = (dask.dataframe.from_pandas(frame, npartitions=parts) for parts in (1, 3))
right, whole, split = frame["level"].max(), one["level"].max().compute(), three["level"].max().compute()
last = three.sort_values("level").compute()["level"].iloc[-1]
index = three.set_index("level").index.max().compute()
print("pandas               max", right)
print("dask, 1 partition    max", whole)
print("dask, 3 partitions   max", split, " last of sort_values:", last, " max of the index:", index)
assert right == whole == last == "hi", "pandas or Dask's sort changed"
assert split == "mid", "the maximum of three partitions changed"
assert index == "lo", "the maximum of the index changed"
END
