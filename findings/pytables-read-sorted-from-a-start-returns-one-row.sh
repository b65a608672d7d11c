#!/usr/bin/env bash
# PyTables' read_sorted("x", start=5) returns one row of three, and with a negative step it returns other rows than itersorted.
#
# Expected: the rows of the sorted table from the start to the end, and itersorted returns them. The manual says of both that start, stop and
#   step mean the same as in read, where they are "the same as in the built-in Python slices".
# Seen: without stop the row of start alone, whatever the step. With step=-1, start and stop count from the end of the table: from 6 down
#   to 2 is nothing, and down to 5 the last five rows instead of two. No warning.
# Versions: tables 3.11.1, numpy 2.4.6. Date: 2026-11-30.
# Output seen:
#   start=5                itersorted [50, 60, 70]     read_sorted [50]
#   start=1 step=3         itersorted [10, 40, 70]     read_sorted [10]
#   start=6 stop=2 step=-1 itersorted [60, 50, 40, 30] read_sorted []
#   stop=5 step=-1         itersorted [70, 60]         read_sorted [70, 60, 50, 40, 30]
#   start=2 stop=6         itersorted [20, 30, 40, 50] read_sorted [20, 30, 40, 50]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tables==3.11.1 numpy==2.4.6
cd "$folder"
venv/bin/python - << 'END'
import numpy
import tables

values = [30, 10, 50, 70, 20, 60, 0, 40]
expected = [({"start": 5}, [50]), ({"start": 1, "step": 3}, [10]), ({"start": 6, "stop": 2, "step": -1}, [])]
expected += [({"stop": 5, "step": -1}, [70, 60, 50, 40, 30]), ({"start": 2, "stop": 6}, [20, 30, 40, 50])]
with tables.open_file("table.h5", "w") as file:
    table = file.create_table("/", "rows", numpy.array([(value,) for value in values], dtype=[("x", "i8")]))
    table.cols.x.create_csindex()
    for part, rows in expected:
        iterated = [int(row["x"]) for row in table.itersorted("x", **part)]
        found = table.read_sorted("x", **part)["x"].tolist()
        name = " ".join(f"{key}={value}" for key, value in part.items())
        print(f"{name:22} itersorted {str(iterated):16} read_sorted {found}")
        assert iterated == sorted(values)[slice(part.get("start"), part.get("stop"), part.get("step"))], "itersorted changed"
        assert found == rows, f"read_sorted with {name} changed"
END
