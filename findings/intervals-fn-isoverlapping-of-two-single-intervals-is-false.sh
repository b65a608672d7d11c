#!/usr/bin/env bash
# isOverlapping of intervals-fn is false for the intervals from 0 to 10 and from 3 to 7, and true for arrays of one such interval each.
#
# Expected: true for both. The README marks the function as one that accepts both an interval and an array of them, and this very pair
#   stands as an example in the comment of the function, with the result true.
# Seen: an interval is taken for an array, and as it has no elements, it overlaps with no other interval. isOverlappingSimple of two
#   intervals is right. No error, no warning.
# Versions: intervals-fn 3.0.3, Node.js 20. Date: 2026-12-01.
# Output seen:
#   0-10 and 3-7: single false, arrays true, simple true
#   1-3 and 2-7: single false, arrays true, simple true
#   1-4 and 6-7: single false, arrays false, simple false
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund intervals-fn@3.0.3
node --input-type=module - << 'END'
import assert from "node:assert";
import { isOverlapping, isOverlappingSimple } from "intervals-fn";

const interval = ([start, end]) => ({ start, end });

function show(...pair) {
  const [first, second] = pair.map(interval);
  const found = [isOverlapping(first, second), isOverlapping([first], [second]), isOverlappingSimple(first, second)];
  console.log(`${pair.map((ends) => ends.join("-")).join(" and ")}: single ${found[0]}, arrays ${found[1]}, simple ${found[2]}`);
  return found;
}

assert.deepEqual(show([0, 10], [3, 7]), [false, true, true], "an interval within another changed");
assert.deepEqual(show([1, 3], [2, 7]), [false, true, true], "intervals that overlap changed");
assert.deepEqual(show([1, 4], [6, 7]), [false, false, false], "disjoint intervals changed");
END
