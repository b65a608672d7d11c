#!/usr/bin/env bash
# sqlglot translates FETCH FIRST 10 PERCENT ROWS to LIMIT 10 for DuckDB, which has LIMIT 10%.
#
# Expected: a translation, since DuckDB can say it, or the error "unsupported" at the level RAISE.
# Seen: PERCENT is dropped without a word: 10 rows of a table of 1,000 instead of 100. WITH TIES is dropped, too.
# Versions: sqlglot 30.30.0, duckdb 2.0.1. Date: 2026-11-30.
# Output seen:
#   SELECT x FROM t ORDER BY x LIMIT 10   10 rows   SELECT x FROM t ORDER BY x LIMIT 10%  100 rows
#   SELECT x FROM t ORDER BY x LIMIT 3
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sqlglot==30.30.0 duckdb==2.0.1
"$folder/venv/bin/python" - << 'END'
import duckdb
import sqlglot

select = "SELECT x FROM t ORDER BY x "


def translate(text):
    [result] = sqlglot.transpile(select + text, read="oracle", write="duckdb", unsupported_level=sqlglot.ErrorLevel.RAISE)
    return result


duckdb.sql("CREATE TABLE t AS SELECT range AS x FROM range(1000)")
got = translate("FETCH FIRST 10 PERCENT ROWS ONLY")
rows, expected = len(duckdb.sql(got).fetchall()), len(duckdb.sql(select + "LIMIT 10%").fetchall())
print(f"{got}   {rows} rows   {select}LIMIT 10%  {expected} rows")
ties = translate("FETCH FIRST 3 ROWS WITH TIES")
print(ties)
assert (rows, expected) == (10, 100), "sqlglot translates PERCENT now"
assert ties == select + "LIMIT 3", "sqlglot minds WITH TIES now"
END
