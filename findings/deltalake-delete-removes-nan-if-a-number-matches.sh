#!/usr/bin/env bash
# Whether delete("x >= limit") of deltalake removes NaN depends on whether the file has a number at or above the limit.
#
# Expected: one answer. NaN is greater than every number, as in the comparisons of Delta Lake and DataFusion, and goes, or it is not, and stays.
# Seen: a file is skipped by its largest number, since bounds have no NaN. With the numbers 1 and 2, x >= 3 deletes nothing, and x >= 2
#   deletes 2 and NaN. After optimize has joined files, the same predicate removes rows that it kept before. SELECT does the same. No warning.
# Versions: deltalake 1.6.6, pyarrow 26.0.1. Date: 2026-11-30.
# Output seen:
#   x >= 2 deleted 2 left [1.0]
#   x >= 3 deleted 0 left [1.0, nan, 2.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet deltalake==1.6.6 pyarrow==26.0.1
cd "$folder"
venv/bin/python - << 'END'
import deltalake
import pyarrow


def delete(number):
    folder = f"table{number}"
    deltalake.write_deltalake(folder, pyarrow.table({"x": [1.0, float("nan"), 2.0]}))
    table = deltalake.DeltaTable(folder)
    deleted = table.delete(f"x >= {number}")["num_deleted_rows"]
    left = table.to_pyarrow_table()["x"].to_pylist()
    print(f"x >= {number} deleted {deleted} left {left}")
    return deleted, len(left)


assert delete(2) == (2, 1), "NaN beside a number that matches stays now"
assert delete(3) == (0, 3), "NaN above all numbers goes now"
END
