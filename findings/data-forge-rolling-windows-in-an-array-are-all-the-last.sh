#!/usr/bin/env bash
# In data-forge, the windows of rollingWindow(2) over 1, 2, 3 and 4 are all [4] once they are in an array.
#
# Expected: the windows [1, 2], [2, 3] and [3, 4]. The declaration of rollingWindow says "a new series, each value of which is a rolling
#   chunk of the original series", so toArray() holds those chunks.
# Seen: each window refers to one buffer that moves on, and reads it when it is asked for its values. With select(), which asks at once, the
#   sums are right; after toArray() or a spread all are those of the end, and one value short. window(2) keeps its chunks. No warning.
# Versions: data-forge 1.10.5, Node.js 20. Date: 2026-12-01.
# Output seen:
#   rollingWindow(2): select, then toArray: 3 5 7; toArray, then map: 4 4 4
#   window(2): select, then toArray: 3 7; toArray, then map: 3 7
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund data-forge@1.10.5
node --input-type=module - << 'END'
import assert from "node:assert";
import forge from "data-forge";

const series = new forge.Series([1, 2, 3, 4]);

function sums(name) {
  const early = series[name](2).select((window) => window.sum()).toArray().join(" ");
  const late = series[name](2).toArray().map((window) => window.sum()).join(" ");
  console.log(`${name}(2): select, then toArray: ${early}; toArray, then map: ${late}`);
  return [early, late];
}

assert.deepEqual(sums("rollingWindow"), ["3 5 7", "4 4 4"], "rollingWindow changed");
assert.deepEqual(sums("window"), ["3 7", "3 7"], "window changed");
END
