#!/usr/bin/env bash
# In portion, sorted() returns [5,9] before [0,2], though [0,2] < [5,9] is true, if an interval that overlaps both stands between them.
#
# Expected: intervals have <, <=, > and >=, so sorted, min, max and bisect order them, by the lower bound or in another way. At least of
#   two intervals without a common point the left one comes first, and the result is the same for each order of the input.
# Seen: < means "entirely to the left", so overlapping intervals are neither less, nor greater, nor equal. That is no order for sorting, and
#   three intervals come out in four of their six orders. An error, as for a list of unlike types, is not raised. max of [0,4] and [3,5] is
#   the one that stands first, although [0,4] <= [3,5] is true and the other way round is not. With a key of the lower bound all is well.
# Version: portion 2.6.3. Date: 2026-11-30.
# Output seen:
#   [5,9] [1,6] [0,2] sorted: [5,9] [1,6] [0,2], first < last: False, last < first: True
#   orders that sorted returns for the 6 orders of three intervals: 4, with a key of the lower bound: 1
#   max of [0,4] and [3,5]: [0,4], max of [3,5] and [0,4]: [3,5], [0,4] <= [3,5]: True, [3,5] <= [0,4]: False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: portion==2.6.3 sortedcontainers==2.4.0
"$folder/venv/bin/python" - << 'END'
import itertools

import portion

intervals = [portion.closed(5, 9), portion.closed(1, 6), portion.closed(0, 2)]
result = sorted(intervals)
print(*intervals, "sorted:", " ".join(map(str, result)) + ",", f"first < last: {result[0] < result[-1]}, last < first: {result[-1] < result[0]}")
assert result == intervals and result[-1] < result[0], "disjoint intervals are sorted now"

orders = {tuple(map(str, sorted(order))) for order in itertools.permutations(intervals)}
keyed = {tuple(map(str, sorted(order, key=lambda interval: interval.lower))) for order in itertools.permutations(intervals)}
print(f"orders that sorted returns for the 6 orders of three intervals: {len(orders)}, with a key of the lower bound: {len(keyed)}")
assert len(orders) == 4 and len(keyed) == 1, "the orders changed"

a, b = portion.closed(0, 4), portion.closed(3, 5)
print(f"max of {a} and {b}: {max(a, b)}, max of {b} and {a}: {max(b, a)}, {a} <= {b}: {a <= b}, {b} <= {a}: {b <= a}")
assert max(a, b) == a and max(b, a) == b and a <= b and not b <= a, "the maximum changed"
END
