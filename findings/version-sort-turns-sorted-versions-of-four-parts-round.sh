#!/usr/bin/env bash
# version-sort returns 1.1.4, 1.1.4.5 and 1.1.4.469816, which are sorted, as 1.1.4.5, 1.1.4, 1.1.4.469816.
#
# Expected: the order in which they stand. The README lists 1.1.4 and 1.1.4.469816 as examples of valid versions.
# Seen: the parts are padded to one width and joined to one number, which for parts of six digits has 25. Of those JavaScript keeps 16, so
#   versions that differ further to the right tie, and the end of the function turns ties round. In another order of the input the same
#   versions come out sorted. No warning.
# Versions: version-sort 0.1.1, Node.js 20. Date: 2026-12-01.
# Output seen:
#   1.1.4 1.1.4.5 1.1.4.469816: 1.1.4.5 1.1.4 1.1.4.469816
#   1.1.4.5 1.1.4 1.1.4.469816: 1.1.4 1.1.4.5 1.1.4.469816
#   1.0.0.20261128 1.0.0.20261129: 1.0.0.20261129 1.0.0.20261128
#   1.1.4 1.1.4.5: 1.1.4 1.1.4.5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund version-sort@0.1.1
node --input-type=module - << 'END'
import assert from "node:assert";
import sort from "version-sort";

function show(...versions) {
  const found = sort([...versions]).join(" ");
  console.log(`${versions.join(" ")}: ${found}`);
  return found;
}

assert.equal(show("1.1.4", "1.1.4.5", "1.1.4.469816"), "1.1.4.5 1.1.4 1.1.4.469816", "sorted versions changed");
assert.equal(show("1.1.4.5", "1.1.4", "1.1.4.469816"), "1.1.4 1.1.4.5 1.1.4.469816", "the same in another order changed");
assert.equal(show("1.0.0.20261128", "1.0.0.20261129"), "1.0.0.20261129 1.0.0.20261128", "versions with dates changed");
assert.equal(show("1.1.4", "1.1.4.5"), "1.1.4 1.1.4.5", "short versions changed");
END
