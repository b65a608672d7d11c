#!/usr/bin/env bash
# A set of 2-5 and 9-14 of int-interval-set holds 2-5 only once 2-5 is added again.
#
# Expected: 2-5 and 9-14, as the union with a part of the set is the set.
# Seen: an interval that ends within another takes the one that follows away with it. Adding 3-4 or 0-3 does the same, and unionAll
#   of 9-14, 2-5 and 0-5 has no 9-14. An interval that lies in the last one does no harm. No warning.
# Versions: int-interval-set 0.1.3, Node.js 20. Date: 2026-12-01.
# Output seen:
#   2-5 9-14 and 2-5: 2-5
#   2-5 9-14 and 3-4: 2-5
#   2-5 9-14 and 0-3: 0-5
#   2-5 9-14 and 10-11: 2-5 9-14
#   unionAll of 9-14 2-5 0-5: 0-5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund int-interval-set@0.1.3
node --input-type=module - << 'END'
import assert from "node:assert";
import IntIntervalSet from "int-interval-set";

const text = (intervals) => intervals.map(({ lower, upper }) => `${lower}-${upper}`).join(" ");

function add(lower, upper) {
  const set = new IntIntervalSet().union(2, 5).union(9, 14);
  const before = text(set.intervals);
  const found = text(set.union(lower, upper).intervals);
  console.log(`${before} and ${lower}-${upper}: ${found}`);
  return found;
}

assert.equal(add(2, 5), "2-5", "adding an interval again changed");
assert.equal(add(3, 4), "2-5", "adding a part of an interval changed");
assert.equal(add(0, 3), "0-5", "adding an overlapping interval changed");
assert.equal(add(10, 11), "2-5 9-14", "adding a part of the last interval changed");
const all = [[9, 14], [2, 5], [0, 5]].map(([lower, upper]) => ({ lower, upper }));
const union = text(new IntIntervalSet().unionAll(all).intervals);
console.log(`unionAll of ${text(all)}: ${union}`);
assert.equal(union, "0-5", "unionAll changed");
END
