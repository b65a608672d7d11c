#!/usr/bin/env bash
# In heap-js, Heap.nsmallest(2, [5, 1, 4, 2, 3]) returns [4, 5], and Heap.nlargest(2, ...) returns [2, 1].
#
# Expected: nlargest and nsmallest are "as in heapq" of Python, as the README says: the two largest are [5, 4], the two smallest [1, 2].
# Seen: the two are exchanged, because nlargest returns what a heap holds at its top, and the default heap has the least number there. The
#   README calls it "most valuable". With Heap.maxComparator they return what their names say. The results are not sorted, and
#   nsmallest(3, ...) is [3, 5, 4]. No warning.
# Versions: heap-js 2.7.1, Node.js 20. Date: 2026-11-30.
# Output seen:
#   n=1: nlargest 1, nsmallest 5, with maxComparator 5 and 1
#   n=2: nlargest 2,1, nsmallest 4,5, with maxComparator 4,5 and 2,1
#   n=3: nlargest 3,1,2, nsmallest 3,5,4, with maxComparator 3,5,4 and 3,2,1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund heap-js@2.7.1
node --input-type=module - << 'END'
import assert from "node:assert";
import { Heap } from "heap-js";

const numbers = [5, 1, 4, 2, 3];
const ascending = (values) => [...values].sort((a, b) => a - b).join();
const sorted = [...numbers].sort((a, b) => a - b);
for (const n of [1, 2, 3]) {
  const [large, small] = [Heap.nlargest(n, numbers), Heap.nsmallest(n, numbers)];
  const [byMax, byMin] = [Heap.nlargest(n, numbers, Heap.maxComparator), Heap.nsmallest(n, numbers, Heap.maxComparator)];
  console.log(`n=${n}: nlargest ${large}, nsmallest ${small}, with maxComparator ${byMax} and ${byMin}`);
  const [least, most] = [sorted.slice(0, n).join(), sorted.slice(-n).join()];
  assert.equal(ascending(large), least, "nlargest does not return the smallest any more");
  assert.equal(ascending(small), most, "nsmallest does not return the largest any more");
  assert.equal(ascending(byMax), most, "nlargest with maxComparator changed");
  assert.equal(ascending(byMin), least, "nsmallest with maxComparator changed");
}
assert.equal(Heap.nsmallest(3, numbers).join(), "3,5,4", "the results are in another order now");
END
