#!/usr/bin/env bash
# The percentile rank of 3 among 1, 2, 3 and 4 is 0.67, and among the same numbers from 4 to 1 it is 0.33.
#
# Expected: 0.67 in any order. The README promises the values of PERCENTRANK and PERCENTRANK.INC of Excel, which take a range in any order.
# Seen: the index at which the number stands is divided by the length less one. The numbers are not sorted, and neither the README nor an
#   error says that they have to be. Of 2, 4, 1 and 3, 2.5 is 0.08 instead of 0.5.
# Versions: percentile-rank 1.0.6, Node.js 20. Date: 2026-12-01.
# Output seen:
#   3 among 1 2 3 4: 0.67
#   3 among 4 3 2 1: 0.33
#   2.5 among 1 2 3 4: 0.50
#   2.5 among 2 4 1 3: 0.08
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund percentile-rank@1.0.6
node --input-type=module - << 'END'
import assert from "node:assert";
import rank from "percentile-rank";

function show(number, ...numbers) {
  const found = rank(numbers, number).toFixed(2);
  console.log(`${number} among ${numbers.join(" ")}: ${found}`);
  return found;
}

assert.equal(show(3, 1, 2, 3, 4), "0.67", "ascending numbers changed");
assert.equal(show(3, 4, 3, 2, 1), "0.33", "descending numbers changed");
assert.equal(show(2.5, 1, 2, 3, 4), "0.50", "interpolation among ascending numbers changed");
assert.equal(show(2.5, 2, 4, 1, 3), "0.08", "interpolation among other numbers changed");
END
