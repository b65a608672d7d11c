#!/usr/bin/env bash
# DataFusion sorts the NaN of 0/0 before every number, and the NaN of a file or a literal after every number.
#
# Expected: NaN has one place in ORDER BY (the last, as in DuckDB, Polars and PostgreSQL), is what max returns or never is, and is one
#   value for DISTINCT.
# Seen: the order is IEEE 754's total order, which reads the sign of a NaN. x86-64 processors set that sign in the NaN that they
#   compute: 0/0, inf - inf, sqrt(-1). Both print as "NaN". So max skips the computed NaN and min returns it, the other one the other
#   way round, an interpolated median moves, and DISTINCT keeps both. ARM processors compute the positive NaN, so the same query on
#   the same data has another answer there (not run here).
# Versions: datafusion 55.0.0 (Python), duckdb 2.0.1, on x86-64. Date: 2026-11-29.
# Output seen:
#   read      ORDER BY [1.0, 3.0, nan]  max nan  min 1.0  median 3.0
#   computed  ORDER BY [nan, 1.0, 3.0]  max 3.0  min nan  median 1.0
#   DISTINCT of the two NaNs: 2 rows
#   duckdb, computed  ORDER BY [1.0, 3.0, nan]  max nan
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[ "$(uname -m)" = x86_64 ] || { echo "needs an x86-64 processor" >&2; exit 1; }
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet datafusion==55.0.0 duckdb==2.0.1
cd "$folder"
printf 'x,y\n3,1\n0,0\n1,1\n' > computed.csv
printf 'q\n3\nNaN\n1\n' > read.csv
venv/bin/python - << 'END'
import duckdb
from datafusion import SessionContext

context = SessionContext()
context.register_csv("source", "computed.csv")
context.register_csv("read", "read.csv")
context.sql("CREATE VIEW computed AS SELECT x::double / y::double AS q FROM source")


def column(query):
    return next(iter(context.sql(query).to_pydict().values()))


def answers(table):
    rows = column(f"SELECT q::double AS q FROM {table} ORDER BY q")
    largest, least, median = (column(f"SELECT {name}(q::double) FROM {table}")[0] for name in ("max", "min", "median"))
    print(f"{table:9} ORDER BY {rows}  max {largest}  min {least}  median {median}")
    return [str(value) for value in (*rows, largest, least, median)]


assert answers("read") == ["1.0", "3.0", "nan", "nan", "1.0", "3.0"], "the NaN of a file moved"
assert answers("computed") == ["nan", "1.0", "3.0", "3.0", "nan", "1.0"], "the NaN of 0/0 moved"
both = "SELECT q::double AS q FROM read UNION ALL SELECT q FROM computed"
distinct = len(column(f"SELECT DISTINCT q FROM ({both}) WHERE isnan(q)"))
print("DISTINCT of the two NaNs:", distinct, "rows")
assert distinct == 2, "DISTINCT merges them now"
rows = duckdb.sql("SELECT x::double / y::double AS q FROM 'computed.csv' ORDER BY q").fetchall()
largest = duckdb.sql("SELECT max(x::double / y::double) FROM 'computed.csv'").fetchall()[0][0]
rows = [row[0] for row in rows]
print("duckdb, computed  ORDER BY", rows, " max", largest)
assert str(rows) == "[1.0, 3.0, nan]" and str(largest) == "nan", "duckdb changed"
END
