#!/usr/bin/env bash
# percentile of stats-lite returns -29 for 1, 101 and 0.1, a number below both.
#
# Expected: a number from 1 to 101, as every percentile lies between the least and the largest number; simple-statistics returns 11.
# Seen: in the lower part the line through the first two numbers is followed beyond the first one. In the upper part the largest number is
#   the limit: 0.9 is 101. The README allows 0 < p <= 1. No warning.
# Versions: stats-lite 2.2.0, simple-statistics 7.12.1, Node.js 20. Date: 2026-12-01.
# Output seen:
#   0.1 of 1 and 101: stats-lite -29, simple-statistics 11
#   0.25 of 1 and 101: stats-lite 1, simple-statistics 26
#   0.9 of 1 and 101: stats-lite 101, simple-statistics 91
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund stats-lite@2.2.0 simple-statistics@7.12.1
node --input-type=module - << 'END'
import assert from "node:assert";
import { quantile } from "simple-statistics";
import stats from "stats-lite";

const numbers = [1, 101];

function show(part) {
  const found = [+stats.percentile(numbers, part).toFixed(9), +quantile(numbers, part).toFixed(9)];
  console.log(`${part} of ${numbers.join(" and ")}: stats-lite ${found[0]}, simple-statistics ${found[1]}`);
  return found;
}

assert.deepEqual(show(0.1), [-29, 11], "the lower part changed");
assert.deepEqual(show(0.25), [1, 26], "the first quartile changed");
assert.deepEqual(show(0.9), [101, 91], "the upper part changed");
END
