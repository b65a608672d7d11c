#!/usr/bin/env bash
# rocksdict, the RocksDB of Python, iterates integer keys in the order of numbers and float keys with the negative ones last and backwards.
#
# Expected: keys(), and the range that from_key begins, go by the value of the keys, as they do for negative integers.
# Seen: the bytes of a float are its bits, whose sign makes negative numbers the largest and reverses them. keys(from_key=0.0) includes -2.0.
# Version: rocksdict 0.3.29. Date: 2026-11-30.
# Output seen:
#   integers [-300, -1, 2, 70000]
#   floats   [0.5, 1.5, -1.0, -2.0]
#   from 0.0 [0.5, 1.5, -1.0, -2.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet rocksdict==0.3.29
cd "$folder"
venv/bin/python - << 'END'
import rocksdict


def keys(name, values, **options):
    table = rocksdict.Rdict(name)
    for value in values:
        table[value] = True
    result = list(table.keys(**options))
    table.close()
    print(f"{name:8} {result}")
    return result


integers, floats = [70000, -1, 2, -300], [1.5, -2.0, 0.5, -1.0]
assert keys("integers", integers) == sorted(integers), "the order of integers changed"
assert keys("floats", floats) == [0.5, 1.5, -1.0, -2.0], "floats are in the order of numbers now"
assert -2.0 in keys("from 0.0", floats, from_key=0.0), "from_key=0.0 leaves negative numbers out now"
END
