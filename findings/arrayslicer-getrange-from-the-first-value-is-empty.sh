#!/usr/bin/env bash
# getRange(1, 9) of arrayslicer returns nothing of the values 1, 5 and 9, and getRange(2, 9) returns 5 and 9.
#
# Expected: 1, 5 and 9. The README says that both ends are in the result if they are in the data.
# Seen: the position of the first value is 0, which is taken for none, so a range that begins at the first value is empty, whatever its
#   end. get(0) never finds the value 0 either, and before another search it returns null. No warning.
# Versions: arrayslicer 1.2.3, Node.js 20. Date: 2026-12-01.
# Output seen:
#   1 to 9: nothing
#   1 to 1: nothing
#   2 to 9: 5 9
#   5 to 9: 5 9
#   get(0) of 0 and 3: null
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund arrayslicer@1.2.3
node --input-type=module - << 'END'
import assert from "node:assert";
import IndexedArray from "arrayslicer";

const indexed = (...values) => new IndexedArray(values.map((x) => ({ x })), "x");

function range(begin, end) {
  const found = indexed(1, 5, 9).getRange(begin, end).map(({ x }) => x).join(" ") || "nothing";
  console.log(`${begin} to ${end}: ${found}`);
  return found;
}

assert.equal(range(1, 9), "nothing", "a range from the first value changed");
assert.equal(range(1, 1), "nothing", "a range of the first value changed");
assert.equal(range(2, 9), "5 9", "a range from between two values changed");
assert.equal(range(5, 9), "5 9", "a range from the second value changed");
const zero = indexed(0, 3).get(0);
console.log(`get(0) of 0 and 3: ${zero}`);
assert.equal(zero, null, "get(0) changed");
END
