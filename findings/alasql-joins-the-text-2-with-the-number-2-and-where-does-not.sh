#!/usr/bin/env bash
# In AlaSQL, JOIN ... ON a.x = b.x joins the number 2 to the text '2', and so do GROUP BY and DISTINCT; WHERE a.x = b.x says that they differ.
#
# Expected: one rule for "=": either 2 = '2' or not. An inner join returns what the product of both tables with WHERE returns.
# Seen: join, group and DISTINCT take the text of a value as key. GROUP BY makes one group of 2 and '2' and of null, 'null' and so on, DISTINCT
#   returns one of the two, and null joins null in JOIN only. WHERE compares with the type. No warning.
# Versions: alasql 4.19.1, Node.js 20. Date: 2026-11-30.
# Output seen:
#   JOIN ON: [{"x":2,"y":"2"},{"x":null,"y":null}]
#   product with WHERE: []
#   WHERE x = 2: [{"x":2}]
#   DISTINCT of 2 and "2": 1 row
#   GROUP BY of null, "null": [{"x":null,"c":2}]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund --omit=optional --legacy-peer-deps alasql@4.19.1
node --input-type=module - << 'END'
import assert from "node:assert";
import alasql from "alasql";

const rows = (...values) => values.map((x) => ({ x }));

function show(what, query, ...tables) {
  const result = alasql(query, tables);
  const text = what.startsWith("DISTINCT") ? `${result.length} row` : JSON.stringify(result);
  console.log(`${what}: ${text}`);
  return text;
}

const [left, right] = [rows(2, null), rows("2", null)];
const joined = show("JOIN ON", "SELECT a.x, b.x AS y FROM ? a JOIN ? b ON a.x = b.x", left, right);
assert.equal(joined, '[{"x":2,"y":"2"},{"x":null,"y":null}]', "the join changed");
assert.equal(show("product with WHERE", "SELECT a.x, b.x AS y FROM ? a, ? b WHERE a.x = b.x", left, right), "[]", "WHERE finds rows now");
assert.equal(show("WHERE x = 2", "SELECT x FROM ? WHERE x = 2", rows(2, "2")), '[{"x":2}]', "WHERE changed");
assert.equal(show('DISTINCT of 2 and "2"', "SELECT DISTINCT x FROM ?", rows(2, "2")), "1 row", "DISTINCT returns both now");
const groups = show('GROUP BY of null, "null"', "SELECT x, COUNT(*) AS c FROM ? GROUP BY x", rows(null, "null"));
assert.equal(groups, '[{"x":null,"c":2}]', "groups of null and its name changed");
END
