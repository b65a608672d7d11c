#!/usr/bin/env bash
# Whether Dask joins 0.0 with -0.0, or counts them as one value, depends on the number of partitions.
#
# Expected: as pandas, which takes the two zeros for equal in merge, nunique, groupby and drop_duplicates, for any number of partitions.
# Seen: rows are sent to partitions by a hash of their bits. With 2, 3 or 5 partitions both zeros land in one, and pandas compares them
#   there. With 4, 7 or 8 they land in two, and do not meet: merge loses rows, nunique says 2. No error, no warning.
# Versions: dask 2026.8.0, pandas 3.0.6, pyarrow 24.0.0. Date: 2026-11-30.
# Output seen:
#   pandas       merge 25 nunique 1
#   2 partitions merge 25 nunique 1
#   4 partitions merge 0 nunique 2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet dask[dataframe]==2026.8.0 pandas==3.0.6 pyarrow==24.0.0
"$folder/venv/bin/python" - << 'END'
import dask
import dask.dataframe
import pandas

dask.config.set(scheduler="synchronous")
left = pandas.DataFrame({"key": [0.0, 1.0] * 5})
right = pandas.DataFrame({"key": [-0.0, 2.0] * 5})
both = pandas.Series([0.0, -0.0] * 10)


def show(name, merged, distinct):
    print(f"{name:12} merge {merged} nunique {distinct}")
    return merged, distinct


def with_partitions(count):
    parts = [dask.dataframe.from_pandas(frame, npartitions=count) for frame in (left, right, both)]
    merged = parts[0].merge(parts[1], on="key")
    return show(f"{count} partitions", len(merged.compute()), int(parts[2].nunique().compute()))


assert show("pandas", len(left.merge(right, on="key")), both.nunique()) == (25, 1), "pandas changed"
assert with_partitions(2) == (25, 1), "two partitions changed"
assert with_partitions(4) == (0, 2), "four partitions agree with pandas now"
END
