#!/usr/bin/env bash
# The closest of 10 and 20 to 11 is 20 for array-binarysearch.closest, and the closest to 19 is 10 for binarysearch.
#
# Expected: 10 for 11 and 20 for 19. The README of the first says "Get index of closest value", that of the second "find closest key".
# Seen: the distance is never looked at. The first returns where the number would be inserted, for 99 an index beyond the array; the
#   second returns the number before that place. No warning.
# Versions: array-binarysearch.closest 0.2.4, binarysearch 1.0.1, Node.js 20. Date: 2026-12-01.
# Output seen:
#   array-binarysearch.closest to 11, 19 and 99: 20 20 undefined
#   binarysearch to 11, 19 and 99: 10 10 20
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund array-binarysearch.closest@0.2.4 binarysearch@1.0.1
node --input-type=module - << 'END'
import assert from "node:assert";
import above from "array-binarysearch.closest";
import below from "binarysearch";

const numbers = [10, 20];

function show(title, closest) {
  const found = [11, 19, 99].map((number) => `${numbers[closest(numbers, number)]}`).join(" ");
  console.log(title, found);
  return found;
}

assert.equal(show("array-binarysearch.closest to 11, 19 and 99:", above), "20 20 undefined", "array-binarysearch.closest changed");
assert.equal(show("binarysearch to 11, 19 and 99:", below.closest.bind(below)), "10 10 20", "binarysearch changed");
END
