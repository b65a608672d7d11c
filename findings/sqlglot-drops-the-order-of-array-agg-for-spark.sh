#!/usr/bin/env bash
# sqlglot drops the order of array_agg and turns the 90th percentile from above into that from below, from Postgres to Spark.
#
# Expected: the order is kept, since Spark can say it (sort_array, percentile_disc WITHIN GROUP), or the error "unsupported" at the level RAISE.
# Seen: array_agg(x ORDER BY x DESC) becomes collect_list(x), in any order. percentile_disc(0.9) WITHIN GROUP (ORDER BY x DESC), which is 11
#   for the numbers 1 to 100, becomes percentile_approx(x, 0.9), which is 90. string_agg of the same rows keeps its order. No warning.
# Version: sqlglot 30.30.0. Date: 2026-11-30.
# Output seen:
#   SELECT COLLECT_LIST(x) FROM t
#   SELECT PERCENTILE_APPROX(x, 0.9) FROM t
#   SELECT LISTAGG(x, ',') WITHIN GROUP (ORDER BY x DESC NULLS FIRST) FROM t
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sqlglot==30.30.0
"$folder/venv/bin/python" - << 'END'
import sqlglot


def translate(text):
    [result] = sqlglot.transpile(text, read="postgres", write="spark", unsupported_level=sqlglot.ErrorLevel.RAISE)
    print(result)
    return result


array = translate("SELECT array_agg(x ORDER BY x DESC) FROM t")
percentile = translate("SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY x DESC) FROM t")
text = translate("SELECT string_agg(x, ',' ORDER BY x DESC) FROM t")
assert array == "SELECT COLLECT_LIST(x) FROM t", "array_agg keeps its order now"
assert percentile == "SELECT PERCENTILE_APPROX(x, 0.9) FROM t", "percentile_disc keeps its order now"
assert "ORDER BY x DESC" in text, "string_agg lost its order"
END
