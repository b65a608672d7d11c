#!/usr/bin/env bash
# diskcsvsort, which sorts a CSV file in place, loses rows whose key is NaN once the file exceeds memory_limit, and all if the first is one.
#
# Expected: the rows, in another order. Below the limit the file keeps all of them.
# Seen: on disk, rows are parted into those less than, equal to and greater than the first one. NaN is none of these, so its row goes
#   nowhere; if it is the first row, no other is either, and the file has only a header left. The command line with --by value:float
#   reads the text nan as NaN too. No error, no warning.
# Versions: diskcsvsort 0.1.1. Date: 2026-12-01.
# Output seen:
#   in memory               a,3 b,nan c,1 d,2 f,4 e,5
#   on disk                 c,1 d,2 a,3 f,4 e,5
#   on disk, with NaN first nothing
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: diskcsvsort==0.1.1
"$folder/venv/bin/python" - << 'END'
import pathlib
import tempfile

from diskcsvsort import CSVSort

ROWS = ["a,3", "b,nan", "c,1", "d,2", "e,5", "f,4"]


def sort(title, rows, limit):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "table.csv")
        path.write_text("\n".join(["id,value", *rows, ""]))
        CSVSort(src=path, key=lambda row: float(row["value"]), workdir=path.parent, memory_limit=limit).apply()
        kept = " ".join(path.read_text().split()[1:])
    print(f"{title:23} {kept or 'nothing'}")
    return kept


assert sort("in memory", ROWS, 300 << 20) == "a,3 b,nan c,1 d,2 f,4 e,5", "the sort in memory changed"
assert sort("on disk", ROWS, 600) == "c,1 d,2 a,3 f,4 e,5", "the sort on disk changed"
assert sort("on disk, with NaN first", [ROWS[1], *ROWS[:1], *ROWS[2:]], 600) == "", "the sort on disk with NaN first changed"
END
