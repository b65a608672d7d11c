#!/usr/bin/env bash
# In DuckDB the maximum of the JSON numbers 2.5, 10 and 9 as VARIANT is 2.5: every double is more than every integer.
#
# Expected: numbers of a VARIANT are compared by value. Integers of several widths and decimals are.
# Seen: ORDER BY puts integers and decimals first and doubles after them; max, greatest, WHERE and LIMIT agree with it. In JSON the
#   type of a number depends on how it is written, so a column with 10 and 2.5 has both. 1 and 1.0 are not equal, either. No error,
#   no warning.
# Version: duckdb 2.0.1. Date: 2026-11-29.
# Output seen:
#   SELECT x FROM t ORDER BY x                                 [9, 10, 2.5]
#   SELECT max(x) FROM t                                       [2.5]
#   SELECT x FROM t WHERE x > 5::VARIANT                       [2.5, 10, 9]
#   SELECT '1.0'::JSON::VARIANT = '1'::JSON::VARIANT           [False]
#   SELECT 300::INTEGER::VARIANT > 9::BIGINT::VARIANT          [True]
#   SELECT max(x::DOUBLE) FROM t                               [10.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet duckdb==2.0.1
cd "$folder"
venv/bin/python - << 'END'
import duckdb

duckdb.sql("CREATE TABLE t AS SELECT j::VARIANT AS x FROM (VALUES ('2.5'::JSON), ('10'), ('9')) v(j)")


def show(query):
    found = [row[0] for row in duckdb.sql(query).fetchall()]
    print(f"{query:58} {found}")
    return found


assert show("SELECT x FROM t ORDER BY x") == [9, 10, 2.5], "ORDER BY goes by value now"
assert show("SELECT max(x) FROM t") == [2.5], "max goes by value now"
assert show("SELECT x FROM t WHERE x > 5::VARIANT") == [2.5, 10, 9], "comparisons go by value now"
assert show("SELECT '1.0'::JSON::VARIANT = '1'::JSON::VARIANT") == [False], "1.0 equals 1 now"
assert show("SELECT 300::INTEGER::VARIANT > 9::BIGINT::VARIANT") == [True], "integers of two widths changed"
assert show("SELECT max(x::DOUBLE) FROM t") == [10], "the cast changed"
END
