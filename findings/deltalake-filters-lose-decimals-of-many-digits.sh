#!/usr/bin/env bash
# A filter on a Delta table drops rows whose DECIMAL has more digits than a double holds: the maximum of a file is not found.
#
# Expected: decimals are exact. x >= 2, where the table has 2.000000000000000002, returns that row.
# Seen: write_deltalake records the bounds of each file as JSON numbers, rounded to doubles: the maximum becomes 2.0. Readers take
#   the bounds for exact and skip the file. Filters by SQL, by PyArrow and by to_pandas lose the row, and delete leaves it in the
#   table. If the rounded bounds of a file are equal, a filter by SQL returns the bound in place of its values. No error, no warning.
#   decimal(38,18) is the usual type for token amounts; decimal(18,9) has the same gap.
# Versions: deltalake 1.6.6, pyarrow 26.0.1. Date: 2026-11-29.
# Output seen:
#   ORDER BY x               ['1.000000000000000001', '2.000000000000000002']
#   x > 2, SQL               []
#   x > 2, PyArrow dataset   []
#   x > 2, in memory         ['2.000000000000000002']
#   delete x > 2             0 rows
#   one row, x < 1.1         ['1.000000000000000000']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet deltalake==1.6.6 pyarrow==26.0.1
cd "$folder"
venv/bin/python - << 'END'
from decimal import Decimal

import pyarrow
import pyarrow.dataset
from deltalake import DeltaTable, QueryBuilder, write_deltalake


def create(name, values):
    column = pyarrow.array([Decimal(value) for value in values], pyarrow.decimal128(38, 18))
    write_deltalake(name, pyarrow.table({"x": column}))
    return DeltaTable(name)


def query(table, rest):
    result = pyarrow.table(QueryBuilder().register("t", table).execute(f"SELECT x FROM t {rest}"))
    return [str(value) for value in result["x"].to_pylist()]


def show(name, value):
    print(f"{name:24} {value}")
    return value


table = create("two", ["1.000000000000000001", "2.000000000000000002"])
two = ["2.000000000000000002"]
above = pyarrow.dataset.field("x") > Decimal(2)
values = show("ORDER BY x", query(table, "ORDER BY x"))
assert values == ["1.000000000000000001", *two], "the values themselves changed"
assert show("x > 2, SQL", query(table, "WHERE x > 2")) == [], "SQL finds the row now"
read = [str(value) for value in table.to_pyarrow_dataset().to_table(filter=above)["x"].to_pylist()]
assert show("x > 2, PyArrow dataset", read) == [], "the dataset finds the row now"
whole = [str(value) for value in table.to_pyarrow_table().filter(above)["x"].to_pylist()]
assert show("x > 2, in memory", whole) == two, "the filter in memory changed"
deleted = table.delete("x > 2")["num_deleted_rows"]
show("delete x > 2", f"{deleted} rows")
assert deleted == 0, "delete finds the row now"
one = create("one", ["1.000000000000000001"])
assert show("one row, x < 1.1", query(one, "WHERE x < 1.1")) == ["1.000000000000000000"], "the value is read now"
END
