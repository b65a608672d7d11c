#!/usr/bin/env bash
# A join on 0.0 and -0.0 finds no row in pyarrow and ClickHouse, and a group-by makes two groups of them.
#
# Expected: one row and one group. The two are equal by IEEE 754 and by both engines' own comparison, and pandas, Polars, DuckDB
#   and DataFusion join and group them as one.
# Seen: both hash the bytes of a float. Their sorts treat the two as ties, so a merge join of sorted tables and a hash join of the
#   same keys give different rows.
# Versions: pyarrow 26.0.1, chdb 4.4.0 (ClickHouse in a Python package). Date: 2026-11-27.
# Output seen:
#   pyarrow     equal: True  rows joined: 0  groups: 2
#   clickhouse  equal: True  rows joined: 0  groups: 2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pyarrow==26.0.1
python3 -m venv "$folder/chdb"
"$folder/chdb/bin/pip" install --quiet chdb==4.4.0

"$folder/venv/bin/python" - << 'END'
import pyarrow
import pyarrow.compute

left, right = pyarrow.table({"x": [0.0]}), pyarrow.table({"x": [-0.0], "v": [1]})
equal = pyarrow.compute.equal(left["x"], right["x"]).to_pylist() == [True]
joined = left.join(right, "x", join_type="inner").num_rows
groups = pyarrow.table({"x": [0.0, -0.0]}).group_by("x").aggregate([([], "count_all")]).num_rows
print("pyarrow     equal:", equal, " rows joined:", joined, " groups:", groups)
assert (equal, joined, groups) == (True, 0, 2), "pyarrow changed"
assert pyarrow.compute.sort_indices(pyarrow.array([0.0, -0.0, 0.0])).to_pylist() == [0, 1, 2], "its sort tells them apart now"
END
"$folder/chdb/bin/python" - << 'END'
import chdb


def number(query):
    return int(chdb.query(query, "CSV").bytes().decode())


equal = number("SELECT 0.0 = -0.0") == 1
joined = number("SELECT count() FROM (SELECT 0.0 AS x) AS a JOIN (SELECT -0.0 AS x) AS b USING (x)")
groups = number("SELECT count() FROM (SELECT x FROM (SELECT arrayJoin([0.0, -0.0]) AS x) GROUP BY x)")
print("clickhouse  equal:", equal, " rows joined:", joined, " groups:", groups)
assert (equal, joined, groups) == (True, 0, 2), "ClickHouse changed"
END
