#!/usr/bin/env bash
# calculate of mediana returns 6 for NaN, 4 and 6, and for 0, 4 and 6 with no_data: 0.
#
# Expected: 5, as for 4 and 6 alone. The README says that no_data is ignored; NaN, null and undefined are taken out as well.
# Seen: whether the two in the middle are averaged is decided by the number of all values, the ignored ones among them. With an odd number
#   of ignored ones the median of an even number of values is the upper one in the middle. No warning.
# Versions: mediana 2.0.0, Node.js 20. Date: 2026-12-01.
# Output seen:
#   4, 6: 5
#   NaN, 4, 6: 6
#   NaN, NaN, 4, 6: 5
#   0, 4, 6 without 0: 6
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund mediana@2.0.0
node --input-type=module - << 'END'
import assert from "node:assert";
import mediana from "mediana";

function show(title, numbers, options) {
  const found = mediana.calculate(numbers, options);
  console.log(`${numbers.join(", ")}${title}: ${found}`);
  return found;
}

assert.equal(show("", [4, 6]), 5, "the median of 4 and 6 changed");
assert.equal(show("", [NaN, 4, 6]), 6, "the median beside one NaN changed");
assert.equal(show("", [NaN, NaN, 4, 6]), 5, "the median beside two NaN changed");
assert.equal(show(" without 0", [0, 4, 6], { no_data: 0 }), 6, "the median with no_data changed");
END
