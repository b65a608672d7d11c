#!/usr/bin/env bash
# DuckDB orders an ENUM by its declaration, but compares it with a text by letters: WHERE size > 'low' loses 'high'.
#
# Expected: ORDER BY and comparisons agree, as in PostgreSQL, where the text becomes an ENUM.
# Seen: ORDER BY, max and a comparison of two ENUMs follow the declaration. If one side is a literal, the ENUM becomes text, so
#   x > 'low' is 'middle' alone, x BETWEEN 'low' AND 'high' is empty, and greatest('middle', 'high') is 'middle'. No error, no
#   warning. A cast of the literal to the ENUM helps.
# Version: duckdb 2.0.1. Date: 2026-11-29.
# Output seen:
#   SELECT x FROM t ORDER BY x                                 ['low', 'middle', 'high']
#   SELECT max(x) FROM t                                       ['high']
#   SELECT x FROM t WHERE x > 'low'                            ['middle']
#   SELECT x FROM t WHERE x > 'low'::size                      ['high', 'middle']
#   SELECT x FROM t WHERE x BETWEEN 'low' AND 'high'           []
#   SELECT greatest('middle'::size, 'high')                    ['middle']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet duckdb==2.0.1
cd "$folder"
venv/bin/python - << 'END'
import duckdb

duckdb.sql("CREATE TYPE size AS ENUM ('low', 'middle', 'high')")
duckdb.sql("CREATE TABLE t AS SELECT unnest(['high', 'low', 'middle'])::size AS x")


def show(query):
    found = [row[0] for row in duckdb.sql(query).fetchall()]
    print(f"{query:58} {found}")
    return found


assert show("SELECT x FROM t ORDER BY x") == ["low", "middle", "high"], "ORDER BY changed"
assert show("SELECT max(x) FROM t") == ["high"], "max changed"
assert show("SELECT x FROM t WHERE x > 'low'") == ["middle"], "a literal is compared by the declaration now"
assert show("SELECT x FROM t WHERE x > 'low'::size") == ["high", "middle"], "a comparison of ENUMs changed"
assert show("SELECT x FROM t WHERE x BETWEEN 'low' AND 'high'") == [], "BETWEEN follows the declaration now"
assert show("SELECT greatest('middle'::size, 'high')") == ["middle"], "greatest follows the declaration now"
END
