#!/usr/bin/env bash
# order("x") of TaffyDB returns the numbers 2, -9, 0, -10 and 10 as 0, 2, 10, -9, -10.
#
# Expected: -10, -9, 0, 2, 10. "logical", which is the default, is meant for texts with numbers in them such as item2 and item10.
# Seen: a number becomes a text and is cut into digits and other characters, so -9 is the sign "-" and a 9. Negative numbers come after all
#   others, the nearest to zero first. With "x asec" the order is right; "x logicaldesc" has the negative numbers first. No warning.
# Versions: taffydb 2.7.3, Node.js 20. Date: 2026-12-01.
# Output seen:
#   x             0 2 10 -9 -10
#   x asec        -10 -9 0 2 10
#   x desc        10 2 0 -9 -10
#   x logicaldesc -10 -9 10 2 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund taffydb@2.7.3
node --input-type=module - << 'END'
import assert from "node:assert";
import taffydb from "taffydb";

const table = taffydb.taffy([2, -9, 0, -10, 10].map((x) => ({ x })));

function sort(order) {
  const found = table().order(order).select("x").join(" ");
  console.log(order.padEnd(13), found);
  return found;
}

assert.equal(sort("x"), "0 2 10 -9 -10", "the default changed");
assert.equal(sort("x asec"), "-10 -9 0 2 10", "asec changed");
assert.equal(sort("x desc"), "10 2 0 -9 -10", "desc changed");
assert.equal(sort("x logicaldesc"), "-10 -9 10 2 0", "logicaldesc changed");
END
