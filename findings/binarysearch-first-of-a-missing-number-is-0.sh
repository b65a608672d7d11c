#!/usr/bin/env bash
# first and last of binarysearch return 0, the index of another number, for a number that is not in the array.
#
# Expected: -1. The README says "returns the matched key or -1 if not found", and the main function of the package does.
# Seen: 0 for each number that is missing, be it below, between or above the others. 0 is the right answer too when the first number is
#   looked for, so the two cannot be told apart. No warning.
# Versions: binarysearch 1.0.1, Node.js 20. Date: 2026-12-01.
# Output seen:
#   0 in 2, 4, 6, 8: main -1, first 0, last 0
#   2 in 2, 4, 6, 8: main 0, first 0, last 0
#   5 in 2, 4, 6, 8: main -1, first 0, last 0
#   9 in 2, 4, 6, 8: main -1, first 0, last 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund binarysearch@1.0.1
node --input-type=module - << 'END'
import assert from "node:assert";
import search from "binarysearch";

const numbers = [2, 4, 6, 8];

function show(number) {
  const found = [search(numbers, number), search.first(numbers, number), search.last(numbers, number)];
  console.log(`${number} in ${numbers.join(", ")}: main ${found[0]}, first ${found[1]}, last ${found[2]}`);
  return found;
}

assert.deepEqual(show(0), [-1, 0, 0], "a number below all others changed");
assert.deepEqual(show(2), [0, 0, 0], "a number of the array changed");
assert.deepEqual(show(5), [-1, 0, 0], "a number between two others changed");
assert.deepEqual(show(9), [-1, 0, 0], "a number above all others changed");
END
