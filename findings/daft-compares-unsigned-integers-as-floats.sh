#!/usr/bin/env bash
# Daft compares a UInt64 column with an integer as floats: a filter for one identifier returns its neighbours, and > loses rows.
#
# Expected: x == 2^53 finds 2^53, and x > 2^53 finds 2^53 + 1. Both are integers, and Daft sorts the column rightly.
# Seen: an integer of Python and an Int64 column are signed, and Daft converts UInt64 beside a signed integer to doubles. ==, >, is_in,
#   between and join take numbers for equal that round to the same double. Hashes as identifiers are often UInt64. No error, no warning.
# Versions: daft 0.7.26, pyarrow 25.0.1. Date: 2026-11-29.
# Output seen:
#   x == 2^53              [9007199254740992, 9007199254740993]
#   x > 2^53               []
#   x in [2^53]            [9007199254740992, 9007199254740993]
#   join with Int64 2^53   [9007199254740992, 9007199254740993]
#   as Int64, x == 2^53    [9007199254740992]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet daft==0.7.26 pyarrow==25.0.1
DAFT_PROGRESS_BAR=0 "$folder/venv/bin/python" -W error::UserWarning - << 'END'
import daft
import pyarrow

value = 2**53
frame = daft.from_arrow(pyarrow.table({"x": pyarrow.array([value, value + 1], pyarrow.uint64())}))
signed = daft.from_arrow(pyarrow.table({"x": pyarrow.array([value], pyarrow.int64())}))
x = daft.col("x")
results = {
    "x == 2^53": frame.where(x == value),
    "x > 2^53": frame.where(x > value),
    "x in [2^53]": frame.where(x.is_in([value])),
    "join with Int64 2^53": frame.join(signed, on="x"),
    "as Int64, x == 2^53": frame.select(x.cast(daft.DataType.int64())).where(x == value),
}
results = {name: sorted(result.to_pydict()["x"]) for name, result in results.items()}
for name, values in results.items():
    print(f"{name:22} {values}")
both = [value, value + 1]
assert list(results.values()) == [both, [], both, both, [value]], "the comparison changed"
END
