#!/usr/bin/env bash
# In Mongita, the filter {"x": {"$gt": 5}} of 2, 10 and NaN finds nothing once x has an index, and {"$lt": 5} of 10, NaN and 2 finds 10.
#
# Expected: the same documents as without an index, by which a query is only faster: 10, and 2. In MongoDB NaN is less than all numbers.
# Seen: the values are keys of a sorted dictionary that compares NaN with <, which is no order, so that parts of it are not reached, and
#   which ones changes with the order of the documents. Without an index NaN is more than 5 and less than 5. A list, [1, 20], is found by
#   "$gt" and "$lt" once there is an index, as in MongoDB, and by neither without. No warning.
# Version: mongita 1.2.0. Date: 2026-12-01.
# Output seen:
#   2, 10:          $gt 5: [10] indexed [10]   $lt 5: [2] indexed [2]
#   2, 10, nan:     $gt 5: [10, nan] indexed []   $lt 5: [2, nan] indexed [2]
#   10, nan, 2:     $gt 5: [10, nan] indexed []   $lt 5: [nan, 2] indexed [10, nan, 2]
#   2, 10, [1, 20]: $gt 5: [10] indexed [10, [1, 20]]   $lt 5: [2] indexed [2, [1, 20]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet mongita==1.2.0
"$folder/venv/bin/python" - << 'END'
from mongita import MongitaClientMemory


def show(*values):
    title = ", ".join(map(str, values))
    documents = MongitaClientMemory()["test"][f"c{len(title)}x{values[0]}"]
    documents.insert_many([{"_id": str(place), "x": value} for place, value in enumerate(values)])
    filters = [{"x": {sign: 5}} for sign in ("$gt", "$lt")]

    def find():
        return [[values[place] for place in sorted(int(found["_id"]) for found in documents.find(one))] for one in filters]

    plain = find()
    documents.create_index("x")
    indexed = find()
    more, less = (f"{before} indexed {after}" for before, after in zip(plain, indexed))
    print(f"{title + ':':15} $gt 5: {more}   $lt 5: {less}")
    return f"{more} {less}"


nan = float("nan")
assert show(2, 10) == "[10] indexed [10] [2] indexed [2]", "numbers changed"
assert show(2, 10, nan) == "[10, nan] indexed [] [2, nan] indexed [2]", "a NaN at the end changed"
assert show(10, nan, 2) == "[10, nan] indexed [] [nan, 2] indexed [10, nan, 2]", "a NaN in the middle changed"
assert show(2, 10, [1, 20]) == "[10] indexed [10, [1, 20]] [2] indexed [2, [1, 20]]", "a list changed"
END
