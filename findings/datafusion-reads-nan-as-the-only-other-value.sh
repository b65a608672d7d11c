#!/usr/bin/env bash
# DataFusion reads NaN as another value where a float column of a Parquet file has one other value: [1.5, NaN] is read as [1.5, 1.5].
#
# Expected: the values that are in the file, as pyarrow, Polars and DuckDB read them. ORDER BY puts the row with NaN last.
# Happens:  the bounds of a column in Parquet leave NaN out, as the format says. DataFusion takes a column with equal bounds and
#           no nulls for constant, and does not read it. COPY of the table then writes 1.5 in the place of NaN. Default settings;
#           no error, no warning.
# Version:  datafusion 55.0.0 (Python), pyarrow 26.0.1; 2026-11-27
# Output:   pyarrow     [1.5, nan]
#           DataFusion  [1.5, 1.5]
#           sum of 5 x NaN and 2.0: 12.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet datafusion==55.0.0 pyarrow==26.0.1
cd "$folder"
venv/bin/python - << 'END'
import math

import datafusion
import pyarrow as pa
import pyarrow.parquet as pq

nan = math.nan
pq.write_table(pa.table({"id": [1, 2], "x": [1.5, nan]}), "pair.parquet")
pq.write_table(pa.table({"x": [nan, 2.0, nan, nan, nan, nan]}), "six.parquet")
session = datafusion.SessionContext()
session.register_parquet("pair", "pair.parquet")
session.register_parquet("six", "six.parquet")
stored = pq.read_table("pair.parquet")["x"].to_pylist()
read = session.sql("SELECT x FROM pair ORDER BY id").to_pydict()["x"]
[total] = session.sql("SELECT sum(x) AS total FROM six").to_pydict()["total"]
print("pyarrow    ", stored)
print("DataFusion ", read)
print("sum of 5 x NaN and 2.0:", total)
assert stored[0] == 1.5 and math.isnan(stored[1])
assert read == [1.5, 1.5]
assert total == 12.0
END
