#!/usr/bin/env bash
# Spark's percentile_approx of 1, NaN, 2 and 3 depends on the number of partitions, and with two its percentile 0 is not the minimum.
#
# Expected: NaN is greater than every number, as in ORDER BY, max, percentile and percentile_disc, so the percentiles 0 and 0.5 are 1 and 2,
#   on one machine or many. Or NaN is left out, as approxQuantile does.
# Seen: each partition sorts its rows with NaN last, but partitions are merged with a comparison that is false for NaN on either side. If
#   1 and NaN are in one partition and 2 and 3 in another, percentile 0 is 2 and percentile 0.5 is 3. No warning.
# Versions: pyspark 4.3.0, OpenJDK 17 of Debian 12. Date: 2026-11-30.
# Output seen:
#   1 partition:  percentile_approx [1.0, 2.0] percentile [1.0, 2.5]
#   2 partitions: percentile_approx [2.0, 3.0] percentile [1.0, 2.5]
set -euo pipefail
java -version 2> /dev/null || { echo 'this needs Java 17 or later (apt-get install openjdk-17-jre-headless)'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pyspark==4.3.0
cd "$folder"
venv/bin/python - 2> log << 'END' || { cat log; exit 1; }
from pyspark.sql import SparkSession

local = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
session = SparkSession.builder.master("local[2]").config(map=local).getOrCreate()
rows = session.range(0, 4, 1, 2).selectExpr("array(1, double('NaN'), 2, 3)[int(id)] AS x")


def show(name, rows):
    [[approximate, exact]] = rows.selectExpr("percentile_approx(x, array(0, 0.5))", "percentile(x, array(0, 0.5))").collect()
    print(f"{name:13} percentile_approx {approximate} percentile {exact}")
    return approximate, exact


assert show("1 partition:", rows.coalesce(1)) == ([1.0, 2.0], [1.0, 2.5]), "one partition changed"
assert show("2 partitions:", rows) == ([2.0, 3.0], [1.0, 2.5]), "two partitions changed"
END
