#!/usr/bin/env bash
# sqlite-utils reads the CSV column 3, nan, 1, 20 as numbers, and their maximum is the text nan; the largest of 1_000, 2, 30, 4 is 1_000
# as text, and their sum 37.
#
# Expected: a column of type TEXT, as with any other word, or NULL for nan and 1000 for 1_000. Types of CSV columns are detected unless
#   --no-detect-types is given.
# Seen: a value counts as a number if Python reads it as one, and is stored as SQLite does, which does not: as a text in a column of
#   numbers. Texts come after all numbers, so x > 100 finds nan, an order ends with it, and the sum of y leaves 999 out. No warning.
# Version: sqlite-utils 4.2.1. Date: 2026-12-01.
# Output seen:
#   x REAL, y INTEGER
#   [{"max(x)": "nan", "max(y)": "1_000", "sum(y)": 37.0}]
#   x > 100: [{"x": "nan"}]
#   by y: [{"y": 2}, {"y": 4}, {"y": 30}, {"y": "1_000"}]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sqlite-utils==4.2.1
cd "$folder"
printf 'x,y\n3,1_000\nnan,2\n1,30\n20,4\n' > table.csv
venv/bin/sqlite-utils insert table.db data table.csv --csv --silent

query() { venv/bin/sqlite-utils table.db "$1" | tr -d '\n' | sed 's/},  *{/}, {/g'; }
types=$(query "select group_concat(name || ' ' || type, ', ') as types from pragma_table_info('data')")
echo "${types//[\[\]\{\}\"]/}" | sed 's/^types: //'
[ "$types" = '[{"types": "x REAL, y INTEGER"}]' ] || { echo 'the types changed'; exit 1; }
largest=$(query 'select max(x), max(y), sum(y) from data')
echo "$largest"
[ "$largest" = '[{"max(x)": "nan", "max(y)": "1_000", "sum(y)": 37.0}]' ] || { echo 'the maxima changed'; exit 1; }
above=$(query 'select x from data where x > 100')
echo "x > 100: $above"
[ "$above" = '[{"x": "nan"}]' ] || { echo 'the filter changed'; exit 1; }
ordered=$(query 'select y from data order by y')
echo "by y: $ordered"
[ "$ordered" = '[{"y": 2}, {"y": 4}, {"y": 30}, {"y": "1_000"}]' ] || { echo 'the order changed'; exit 1; }
