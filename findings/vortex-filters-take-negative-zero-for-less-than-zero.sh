#!/usr/bin/env bash
# A Vortex file gives other rows for x == 0.0 and x < 0.0 than a Parquet file of the same table, by the same filter of pyarrow or Polars.
#
# Expected: IEEE 754: -0.0 equals 0.0 and is not less, as in pyarrow, Polars, and both on Parquet.
# Seen: the filter is pushed into the scan of Vortex, which compares by the total order: x == 0.0 loses the row with -0.0, and x < 0.0
#   finds it. No error, no warning.
# Versions: vortex-data 0.93.0, pyarrow 26.0.1, polars 2.1.0. Date: 2026-11-30.
# Output seen:
#   x == 0.0   parquet [0, 1] vortex [1]
#   x < 0.0    parquet [] vortex [0]
#   x >= 0.0   parquet [0, 1, 2] vortex [1, 2]
#   polars ==  parquet [0, 1] vortex [1]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet vortex-data==0.93.0 pyarrow==26.0.1 polars==2.1.0
"$folder/venv/bin/python" - "$folder" << 'END'
import sys

import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import vortex

folder = sys.argv[1]
table = pyarrow.table({"x": [-0.0, 0.0, 1.0], "row": [0, 1, 2]})
pyarrow.parquet.write_table(table, folder + "/zeros.parquet")
vortex.io.write(vortex.array(table), folder + "/zeros.vortex")
x = pyarrow.dataset.field("x")
seen = []
for title, condition in [("x == 0.0", x == 0.0), ("x < 0.0", x < 0.0), ("x >= 0.0", x >= 0.0)]:
    parquet = pyarrow.dataset.dataset(folder + "/zeros.parquet").to_table(filter=condition)["row"].to_pylist()
    other = vortex.open(folder + "/zeros.vortex").to_dataset().to_table(filter=condition)["row"].to_pylist()
    assert parquet == table.filter(condition)["row"].to_pylist(), "Parquet and memory differ now"
    seen.append((title, parquet, other))
is_zero = polars.col("x") == 0.0
parquet = polars.scan_parquet(folder + "/zeros.parquet").filter(is_zero).collect()["row"].to_list()
other = vortex.open(folder + "/zeros.vortex").to_polars().filter(is_zero).collect()["row"].to_list()
seen.append(("polars ==", parquet, other))
for title, parquet, other in seen:
    print(f"{title:10} parquet {parquet} vortex {other}")
assert [(parquet, other) for _, parquet, other in seen] == [
    ([0, 1], [1]),
    ([], [0]),
    ([0, 1, 2], [1, 2]),
    ([0, 1], [1]),
], "it changed"
END
