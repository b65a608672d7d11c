#!/usr/bin/env bash
# Frame.pivot of StaticFrame makes a row for each NaN in the column it groups by, while iter_group_items makes one group of them.
#
# Expected: one row for all NaNs, as iter_group_items and pandas.pivot_table(dropna=False) have one group.
# Seen: rows 1.0: 3, 2.0: 1, nan: 2, nan: 4. The sum of the group is never formed, and two rows have one label, which an Index of
#   StaticFrame itself refuses. unique() keeps every NaN too.
# Versions: static-frame 5.1.1, pandas 3.1.1, numpy 2.4.6. Date: 2026-11-30.
# Output seen:
#   groups  [(1.0, 3), (2.0, 1), (nan, 6)]
#   pandas  [(1.0, 3), (2.0, 1), (nan, 6)]
#   pivot   [(1.0, 3), (2.0, 1), (nan, 2), (nan, 4)]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet static-frame==5.1.1 pandas==3.1.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import numpy
import pandas
import static_frame

columns = {"key": [2.0, numpy.nan, 1.0, numpy.nan], "value": [1, 2, 3, 4]}
frame = static_frame.Frame.from_dict({name: tuple(values) for name, values in columns.items()})
groups = [(float(key), int(part["value"].sum())) for key, part in frame.iter_group_items("key")]
summed = pandas.DataFrame(columns).pivot_table(index="key", values="value", aggfunc="sum", dropna=False)
of_pandas = [(float(key), int(value)) for key, value in summed["value"].items()]
pivot = frame.pivot("key", data_fields="value", func=numpy.sum)
of_pivot = [(float(key), int(value)) for key, value in zip(pivot.index.values, pivot["value"].values)]
for title, found in [("groups", groups), ("pandas", of_pandas), ("pivot", of_pivot)]:
    print(f"{title:7} {found}")
one = "[(1.0, 3), (2.0, 1), (nan, 6)]"
assert str(groups) == one and str(of_pandas) == one, "the groups changed"
assert str(of_pivot) == "[(1.0, 3), (2.0, 1), (nan, 2), (nan, 4)]", "the pivot changed"
END
