#!/usr/bin/env bash
# search(1, 10) of interval-tree2 finds neither 4-9 nor the part of 8-12, though search(4, 10) finds both.
#
# Expected: both, as they overlap 1-10. The README says "get overlapped intervals from a range".
# Seen: a start before all ends of intervals has the position -1, and a slice of the list from -1 on is empty or holds the last end only. A
#   point is passed over in another way: 26 lies in 24-33 and 21-27, and only the first is found, while 24 and 27 find both. No warning.
# Versions: interval-tree2 1.1.0, Node.js 20. Date: 2026-12-01.
# Output seen:
#   4-9 8-12: 1 to 10 finds nothing
#   4-9 8-12: 4 to 10 finds 4-9 8-12
#   24-33 21-27: 26 finds 24-33
#   24-33 21-27: 27 finds 21-27 24-33
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund interval-tree2@1.1.0
node --input-type=module - << 'END'
import assert from "node:assert";
import IntervalTree from "interval-tree2";

function show(intervals, ...query) {
  const tree = new IntervalTree(15);
  for (const [start, end] of intervals) tree.add(start, end, `${start}-${end}`);
  const found = tree.search(...query).map(({ id }) => id).join(" ") || "nothing";
  console.log(`${intervals.map((interval) => interval.join("-")).join(" ")}: ${query.join(" to ")} finds ${found}`);
  return found;
}

assert.equal(show([[4, 9], [8, 12]], 1, 10), "nothing", "a range from before all intervals changed");
assert.equal(show([[4, 9], [8, 12]], 4, 10), "4-9 8-12", "a range from the first start changed");
assert.equal(show([[24, 33], [21, 27]], 26), "24-33", "a point within two intervals changed");
assert.equal(show([[24, 33], [21, 27]], 27), "21-27 24-33", "a point at an end changed");
END
