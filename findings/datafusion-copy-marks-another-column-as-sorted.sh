#!/usr/bin/env bash
# DataFusion's COPY ... ORDER BY marks another column as sorted where a struct comes before the key, and ORDER BY of a column with
# that name then returns rows in the wrong order.
#
# Expected: `sorting_columns` of a Parquet file names leaf columns, as the format says ("the ordinal position of the column (in
#           this row group)"; a struct has one column for each of its leaves). With the columns s.a, s.b, x, b, a file that is
#           sorted by x says 2. ORDER BY b sorts.
# Happens:  the file says 1, which is x among the columns of the table, but s.b among those of the file. A reader of the same
#           version looks for a column with the last name of s.b, takes b for sorted, and does not sort: ORDER BY b returns the
#           rows as they are in the file. No error, no warning, default settings.
# Version:  datafusion 55.0.0 (Python), pyarrow 26.0.1; 2026-11-27
# Output:   columns ['s.a', 's.b', 'x', 'b'], sorted by column 1
#           ORDER BY b: [0, 7, 4, 1, 8, 5, 2, 9, 6, 3]
#           ORDER BY b of the same rows in memory: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet datafusion==55.0.0 pyarrow==26.0.1
cd "$folder"
venv/bin/python - <<'PYTHON'
import datafusion
import pyarrow.parquet as pq

ROWS = "SELECT named_struct('a', y, 'b', y) AS s, x, y AS b FROM (SELECT v AS x, v * 7 % 10 AS y FROM (SELECT unnest(range(0, 10)) AS v))"

session = datafusion.SessionContext()
session.sql(f"COPY ({ROWS} ORDER BY x) TO 'sorted.parquet'").collect()
file = pq.read_metadata("sorted.parquet")
columns = [file.schema.column(i).path for i in range(len(file.schema))]
[key] = file.row_group(0).sorting_columns
print(f"columns {columns}, sorted by column {key.column_index}")

session = datafusion.SessionContext()
session.register_parquet("t", "sorted.parquet")
of_file = session.sql("SELECT b FROM t ORDER BY b").to_pydict()["b"]
print("ORDER BY b:", of_file)
in_memory = session.sql(f"SELECT b FROM ({ROWS}) ORDER BY b").to_pydict()["b"]
print("ORDER BY b of the same rows in memory:", in_memory)

assert columns == ["s.a", "s.b", "x", "b"] and key.column_index == 1
assert of_file == [0, 7, 4, 1, 8, 5, 2, 9, 6, 3]
assert in_memory == list(range(10))
PYTHON
