#!/usr/bin/env bash
# median of ml-array-median returns 2 for the numbers 1, 2, 3 and 4.
#
# Expected: 2.5, the mean of the two in the middle. The README says "Get the median value in an array" and has an example of five numbers.
# Seen: the lower one of the two. Nothing in the README or in the type declaration says so; median-quickselect, of which the
#   code was taken, does. The median of the negated numbers is -3, so it is not the negated median. No warning.
# Versions: ml-array-median 2.0.0, simple-statistics 7.12.1, Node.js 20. Date: 2026-12-01.
# Output seen:
#   ml-array-median 2, simple-statistics 2.5
#   of the negated numbers: ml-array-median -3, simple-statistics -2.5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund ml-array-median@2.0.0 simple-statistics@7.12.1
node --input-type=module - << 'END'
import assert from "node:assert";
import median from "ml-array-median";
import { median as other } from "simple-statistics";

const numbers = [4, 1, 3, 2];
const negated = numbers.map((number) => -number);
console.log(`ml-array-median ${median(numbers)}, simple-statistics ${other(numbers)}`);
console.log(`of the negated numbers: ml-array-median ${median(negated)}, simple-statistics ${other(negated)}`);
assert.equal(median(numbers), 2, "the median of 1 to 4 changed");
assert.equal(median(negated), -3, "the median of the negated numbers changed");
assert.equal(other(numbers), 2.5, "simple-statistics changed");
END
