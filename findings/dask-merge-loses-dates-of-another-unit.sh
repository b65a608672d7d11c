#!/usr/bin/env bash
# Dask's merge loses rows if one side has its dates in microseconds and the other in nanoseconds, by the number of partitions.
#
# Expected: the result of pandas, which compares the instants: equal dates join whatever their units are.
# Seen: rows are sent to partitions by a hash of the raw integers, which differ between the units, and only then compared as dates.
#   Rows that meet by chance join, the others are lost. Units differ easily: pandas 3 parses text to microseconds, and older files
#   have nanoseconds. A warning says "cast dtypes explicitly to avoid unexpected results", not that rows will be missing.
# Versions: dask 2026.8.0, pandas 3.0.6, pyarrow 24.0.0. Date: 2026-11-30.
# Output seen:
#   pandas 72   partitions: 1: 72, 2: 48, 3: 24, 7: 0   both in nanoseconds: 1: 72, 2: 72, 3: 72, 7: 72
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet dask[dataframe]==2026.8.0 pandas==3.0.6 pyarrow==24.0.0
"$folder/venv/bin/python" -W ignore - << 'END'
import dask
import dask.dataframe
import pandas

dask.config.set(scheduler="synchronous")
days = pandas.Series(pandas.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"] * 6))
left = pandas.DataFrame({"day": days.astype("datetime64[us]"), "x": range(18)})
right = pandas.DataFrame({"day": days[:12].astype("datetime64[ns]"), "y": range(12)})


def rows(left, right):
    counts = {}
    for count in 1, 2, 3, 7:
        parts = [dask.dataframe.from_pandas(frame, npartitions=count) for frame in (left, right)]
        counts[count] = len(parts[0].merge(parts[1], on="day").compute())
    return counts


def text(counts):
    return ", ".join(f"{key}: {value}" for key, value in counts.items())


expected = len(left.merge(right, on="day"))
mixed, same = rows(left, right), rows(left.astype({"day": "datetime64[ns]"}), right)
print(f"pandas {expected}   partitions: {text(mixed)}   both in nanoseconds: {text(same)}")
assert set(same.values()) == {expected} == {72}, "the merge of one unit changed"
assert mixed[1] == 72 and max(mixed[2], mixed[3], mixed[7]) < 72, "the merge of two units finds all rows now"
END
