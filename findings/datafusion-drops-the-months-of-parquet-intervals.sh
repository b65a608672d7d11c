#!/usr/bin/env bash
# DataFusion drops the months of INTERVAL columns in Parquet files, and so sorts them otherwise than DuckDB, which wrote them.
#
# Expected: an INTERVAL of Parquet has months, days and milliseconds. A year is more than three days, in both programs.
# Happens:  DataFusion reads the column as Interval(DayTime): 1 year becomes 0 days, and comes first. No error, no warning.
# Version:  datafusion 55.0.0 (Python), duckdb 2.0.1, pyarrow 26.0.1; 2026-11-27
# Output:   DuckDB      ['3 days', '1 year', '1 year 2 months 2 days'] [1, 2, 3]
#           DataFusion  ['0 secs', '2 days', '3 days'] [2, 3, 1]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet datafusion==55.0.0 duckdb==2.0.1 pyarrow==26.0.1
cd "$folder"
venv/bin/python - << 'END'
import datafusion
import duckdb

duckdb.sql("""
    COPY (FROM (VALUES (1, INTERVAL '3 days'), (2, INTERVAL '1 year'), (3, INTERVAL '14 months 2 days')) AS t(row, length))
    TO 'lengths.parquet'
""")
QUERY = "SELECT CAST(length AS VARCHAR) AS text, row FROM t ORDER BY length"
wrote = duckdb.sql(QUERY.replace("FROM t", "FROM 'lengths.parquet' AS t")).fetchall()
session = datafusion.SessionContext()
session.register_parquet("t", "lengths.parquet")
read = session.sql(QUERY).to_pydict()
print("DuckDB     ", [length for length, _ in wrote], [row for _, row in wrote])
print("DataFusion ", read["text"], read["row"])
assert [row for _, row in wrote] == [1, 2, 3]
assert read == {"text": ["0 secs", "2 days", "3 days"], "row": [2, 3, 1]}
END
