#!/usr/bin/env bash
# pandas merges an unsigned key with a signed key that is another number, if a second key or a negative number is in the frames.
#
# Expected: merge joins equal keys. 2^53 and 2^53 + 1 are not equal, and pandas says so when it compares the two columns.
# Seen: for uint64 beside int64, merge converts both columns to doubles, which round identifiers of more than 53 bits. With one key and
#   no negative number the result is right; one more key, or one negative number anywhere in the signed column, changes it. Hashes as
#   identifiers are often uint64 in one table and int64 in another. No error, no warning.
# Versions: pandas 3.1.1, numpy 2.4.6. Date: 2026-11-29.
# Output seen:
#   l.k == r.k                  [False]
#   one key                     0 rows
#   one key, and a row of -1    1 rows
#   two keys                    1 rows
#   two keys, nullable types    1 rows
#   two keys, both signed       0 rows
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pandas==3.1.1 numpy==2.4.6
"$folder/venv/bin/python" -W error - << 'END'
import pandas

left = pandas.DataFrame({"k": [2**53], "g": 1}).astype({"k": "uint64"})
right = pandas.DataFrame({"k": [2**53 + 1], "g": 1}).astype({"k": "int64"})
negative = pandas.DataFrame({"k": [2**53 + 1, -1], "g": 1})
rows = {
    "one key": len(left.merge(right, on="k")),
    "one key, and a row of -1": len(left.merge(negative, on="k")),
    "two keys": len(left.merge(right, on=["k", "g"])),
    "two keys, nullable types": len(left.astype({"k": "UInt64"}).merge(right.astype({"k": "Int64"}), on=["k", "g"])),
    "two keys, both signed": len(left.astype({"k": "int64"}).merge(right, on=["k", "g"])),
}
equal = (left.k == right.k).tolist()
print(f"{'l.k == r.k':27} {equal}")
for name, count in rows.items():
    print(f"{name:27} {count} rows")
assert equal == [False], "the comparison of the columns changed"
assert list(rows.values()) == [0, 1, 1, 1, 0], "merge changed"
END
