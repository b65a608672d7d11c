#!/usr/bin/env bash
# A heap of heap-js with limit 3 holds 1, 2 and 4 of the numbers 5, 1, 4, 2 and 3, and one with limit 2 holds 1 and 5 of 5, 4, 3, 2 and 1.
#
# Expected: a heap with a limit keeps the best ones, so that the least n of a stream need a heap of n elements; the result is the same for
#   each order of the stream. The README says "limit the number of elements in the heap".
# Seen: the end of the array is cut off, which is some leaf of the tree and not its worst element. A new element may push out a better one,
#   and the worst one of all stays as long as it is no leaf at the end. The type declaration says that "leafs" are removed. No warning.
# Versions: heap-js 2.7.1, Node.js 20. Date: 2026-11-30.
# Output seen:
#   limit 2, pushed 1,2,3,4,5: 1,2
#   limit 2, pushed 3,1,2,5,4: 1,3
#   limit 2, pushed 5,4,3,2,1: 1,5
#   limit 3, pushed 5,1,4,2,3: 1,2,4
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund heap-js@2.7.1
node --input-type=module - << 'END'
import assert from "node:assert";
import { Heap } from "heap-js";

function show(limit, numbers) {
  const heap = new Heap();
  heap.limit = limit;
  for (const number of numbers) heap.push(number);
  const kept = [];
  while (heap.length) kept.push(heap.pop());
  console.log(`limit ${limit}, pushed ${numbers}: ${kept}`);
  return kept.join();
}

assert.equal(show(2, [1, 2, 3, 4, 5]), "1,2", "an ascending stream changed");
assert.equal(show(2, [3, 1, 2, 5, 4]), "1,3", "limit 2 keeps others now");
assert.equal(show(2, [5, 4, 3, 2, 1]), "1,5", "a descending stream keeps others now");
assert.equal(show(3, [5, 1, 4, 2, 3]), "1,2,4", "limit 3 keeps others now");
END
