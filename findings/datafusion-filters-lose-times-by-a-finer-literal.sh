#!/usr/bin/env bash
# In DataFusion, a filter of a column of milliseconds by a finer time loses rows: 1 ms is not found before 1.5 ms.
#
# Expected: the rows with 0 and 1 ms are before 1.5 ms, and none equals it, as a comparison of two columns says.
# Seen: the literal is cut to the unit of the column, and the operator stays: x < 1.5 ms is carried out as x < 1 ms. A text literal is cut,
#   too, so = finds a time that is not equal. No error, no warning, default settings.
# Versions: datafusion 55.0.0 (Python), pyarrow 26.0.1. Date: 2026-11-29.
# Output seen:
#   x < y, two columns       [0, 1]
#   x < TIMESTAMP literal    [0]
#   x >= TIMESTAMP literal   [1, 2]
#   x = text literal         [1]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet datafusion==55.0.0 pyarrow==26.0.1
"$folder/venv/bin/python" - << 'END'
import datafusion
import pyarrow

times = pyarrow.table({
    "x": pyarrow.array([0, 1, 2], pyarrow.timestamp("ms")),
    "y": pyarrow.array([1500, 1500, 1500], pyarrow.timestamp("us")),
})
session = datafusion.SessionContext()
session.register_record_batches("t", [times.to_batches()])
literal = "'1970-01-01 00:00:00.0015'"


def query(title, condition):
    rows = session.sql(f"SELECT CAST(x AS BIGINT) AS x FROM t WHERE {condition}").to_pydict()["x"]
    print(f"{title:24} {sorted(rows)}")
    return sorted(rows)


assert query("x < y, two columns", "x < y") == [0, 1], "the comparison of columns changed"
assert query("x < TIMESTAMP literal", f"x < TIMESTAMP {literal}") == [0], "x < finds 1 ms now"
assert query("x >= TIMESTAMP literal", f"x >= TIMESTAMP {literal}") == [1, 2], "x >= leaves out 1 ms now"
assert query("x = text literal", f"x = {literal}") == [1], "x = finds no row now"
END
