#!/usr/bin/env bash
# In Narwhals, first().over("group", order_by="time") of a PyArrow table gives the rows of group a the value of group b.
#
# Expected: 30 for both rows of a and 40 for those of b, as with pandas and Polars. The documentation says that the results are returned
#   with the original row order preserved.
# Seen: with PyArrow the results stand in the order of the time, beside rows that stand as before. last has the same. Without order_by, and
#   if the table is sorted by the time, they are right. No warning.
# Versions: narwhals 2.29.0, pyarrow 26.0.1, polars 2.1.0. Date: 2026-12-01.
# Output seen:
#   polars, first: a 30, b 40, a 30, b 40
#   pyarrow, first: a 40, b 30, a 40, b 30
#   polars, last: a 10, b 20, a 10, b 20
#   pyarrow, last: a 20, b 10, a 20, b 10
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: narwhals==2.29.0 pyarrow==26.0.1 polars==2.1.0
"$folder/venv/bin/python" - << 'END'
import narwhals
import polars
import pyarrow

columns = {"group": ["a", "b", "a", "b"], "time": [4, 3, 2, 1], "x": [10, 20, 30, 40]}


def show(title, table, name):
    column = getattr(narwhals.col("x"), name)().over("group", order_by="time").alias("found")
    rows = narwhals.from_native(table).with_columns(column).select("group", "found").rows()
    found = ", ".join("{} {}".format(*row) for row in rows)
    print(f"{title}, {name}: {found}")
    return found


for name, right, wrong in (
    ("first", "a 30, b 40, a 30, b 40", "a 40, b 30, a 40, b 30"),
    ("last", "a 10, b 20, a 10, b 20", "a 20, b 10, a 20, b 10"),
):
    assert show("polars", polars.DataFrame(columns), name) == right, f"{name} of Polars changed"
    assert show("pyarrow", pyarrow.table(columns), name) == wrong, f"{name} of PyArrow changed"
END
