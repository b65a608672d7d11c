#!/usr/bin/env bash
# The SQL of dataframe-js takes ORDER BY and LIMIT without an error and does nothing with them, and x = 9 OR x = 2 finds no row.
#
# Expected: rows in order, two of them, or an error where a clause is not supported. The guide says that the module allows requests
#   "by using SQL syntax".
# Seen: the rows as they are in the table, all of them. With OR, of which the parser knows the word, equality finds nothing,
#   while x IN (9, 2) finds both. No error, no warning.
# Versions: dataframe-js 1.4.4, Node.js 20. Date: 2026-12-01.
# Output seen:
#   ORDER BY x                10 2 9
#   ORDER BY x DESC LIMIT 2   10 2 9
#   WHERE x IN (9, 2)         2 9
#   WHERE x = 9 OR x = 2      nothing
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund dataframe-js@1.4.4
node --input-type=module - << 'END'
import assert from "node:assert";
import dataframe from "dataframe-js";

const { DataFrame } = dataframe;
new DataFrame({ x: [10, 2, 9] }).sql.register("numbers");

function request(clause) {
  const found = DataFrame.sql.request(`SELECT x FROM numbers ${clause}`).toArray("x").join(" ") || "nothing";
  console.log(clause.padEnd(25), found);
  return found;
}

assert.equal(request("ORDER BY x"), "10 2 9", "ORDER BY sorts now");
assert.equal(request("ORDER BY x DESC LIMIT 2"), "10 2 9", "LIMIT limits now");
assert.equal(request("WHERE x IN (9, 2)"), "2 9", "IN changed");
assert.equal(request("WHERE x = 9 OR x = 2"), "nothing", "OR changed");
END
