#!/usr/bin/env bash
# In AlaSQL, MAX and MIN of the texts 'b', 'a' and 'c' return nothing, and of 5, 'z' and 7 they return 7 and 5. ORDER BY sorts them all.
#
# Expected: MAX of a text column is its last text, as in SQL and as the last row of ORDER BY: 'c'. What cannot be compared is an error.
# Seen: only numbers and dates are looked at. The column of the result is missing, or undefined, which is like a group without rows, and
#   numbers written as texts, as a CSV file may hold them, have no maximum either. So have booleans. No error, no warning.
# Versions: alasql 4.19.1, Node.js 20. Date: 2026-11-30.
# Output seen:
#   table of STRING: MAX and MIN [{}], ORDER BY ["a","b","c"]
#   texts "5", "10": MAX and MIN [{}], ORDER BY ["10","5"]
#   5, "z", 7: MAX and MIN [{"a":7,"b":5}]
#   numbers: MAX and MIN [{"a":3,"b":1}], ORDER BY [1,2,3]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund --omit=optional --legacy-peer-deps alasql@4.19.1
node --input-type=module - << 'END'
import assert from "node:assert";
import alasql from "alasql";

const bounds = (source, ...data) => JSON.stringify(alasql(`SELECT MAX(x) AS a, MIN(x) AS b FROM ${source}`, data));
const sorted = (source, ...data) => JSON.stringify(alasql(`SELECT x FROM ${source} ORDER BY x`, data).map((row) => row.x));
const rows = (...values) => values.map((x) => ({ x }));

alasql("CREATE TABLE texts (x STRING)");
alasql("INSERT INTO texts VALUES ('b'), ('a'), ('c')");
console.log(`table of STRING: MAX and MIN ${bounds("texts")}, ORDER BY ${sorted("texts")}`);
assert.equal(bounds("texts"), "[{}]", "texts have a maximum now");
assert.equal(sorted("texts"), '["a","b","c"]', "the order of texts changed");

const digits = rows("5", "10");
console.log(`texts "5", "10": MAX and MIN ${bounds("?", digits)}, ORDER BY ${sorted("?", digits)}`);
assert.equal(bounds("?", digits), "[{}]", "numbers written as texts have a maximum now");

console.log(`5, "z", 7: MAX and MIN ${bounds("?", rows(5, "z", 7))}`);
assert.equal(bounds("?", rows(5, "z", 7)), '[{"a":7,"b":5}]', "the maximum of numbers beside a text changed");

const numbers = rows(2, 1, 3);
console.log(`numbers: MAX and MIN ${bounds("?", numbers)}, ORDER BY ${sorted("?", numbers)}`);
assert.equal(bounds("?", numbers), '[{"a":3,"b":1}]', "the maximum of numbers changed");
END
