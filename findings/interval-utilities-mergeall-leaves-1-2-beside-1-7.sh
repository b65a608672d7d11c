#!/usr/bin/env bash
# mergeAll of interval-utilities merges 1-2, 3-6 and 1-7 into 1-2 and 1-7.
#
# Expected: 1-7. The README says "Merges a set of intervals into the smallest subset", and its tests merge 2-7 and 1-5 in that order.
# Seen: each interval is merged with the one before it only, and those further back stay as they are, so the result can overlap and is not
#   sorted either. That they have to be sorted is said by the name of an argument in the source; the README and the type
#   declaration, where it is called intervals, do not. After sort of the package the result is right. No warning.
# Versions: interval-utilities 0.1.0, Node.js 20. Date: 2026-12-01.
# Output seen:
#   1-2 3-6 1-7: merged 1-2 1-7, sorted first 1-7
#   1-2 5-6 0-3: merged 1-2 0-3 5-6, sorted first 0-3 5-6
#   2-7 1-5: merged 1-7, sorted first 1-7
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund interval-utilities@0.1.0
node --input-type=module - << 'END'
import assert from "node:assert";
import { configure } from "interval-utilities";

const { mergeAll, sort } = configure((a, b) => a - b);
const text = (intervals) => intervals.map((interval) => interval.join("-")).join(" ");

function show(...intervals) {
  const found = [text(mergeAll(...intervals)), text(mergeAll(...sort(...intervals)))];
  console.log(`${text(intervals)}: merged ${found[0]}, sorted first ${found[1]}`);
  return found;
}

assert.deepEqual(show([1, 2], [3, 6], [1, 7]), ["1-2 1-7", "1-7"], "an interval around two others changed");
assert.deepEqual(show([1, 2], [5, 6], [0, 3]), ["1-2 0-3 5-6", "0-3 5-6"], "an interval around the first changed");
assert.deepEqual(show([2, 7], [1, 5]), ["1-7", "1-7"], "two intervals changed");
END
