#!/usr/bin/env bash
# In dataframe-js, a join returns one row for rows that are equal: two sales of tea joined with its price are one sale.
#
# Expected: a row for each row on the left, as a left join of SQL or pandas. Nothing in the documentation says that joins are distinct.
# Seen: innerJoin, leftJoin and outerJoin return equal rows once, so counts and sums of the result are too small. A column that tells the
#   rows apart brings them back. No warning.
# Versions: dataframe-js 1.4.4, Node.js 20. Date: 2026-12-01.
# Output seen:
#   innerJoin: of 4 sales [["tea",3]], numbered ones 2
#   leftJoin: of 4 sales [["tea",3],["jam",null]], numbered ones 4
#   outerJoin: of 4 sales [["tea",3],["jam",null]], numbered ones 4
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund dataframe-js@1.4.4
node --input-type=module - << 'END'
import assert from "node:assert";
import dataframe from "dataframe-js";

const { DataFrame } = dataframe;
const item = ["tea", "tea", "jam", "jam"];
const sales = new DataFrame({ item });
const numbered = new DataFrame({ item, number: [1, 2, 3, 4] });
const prices = new DataFrame({ item: ["tea"], price: [3] });

function join(how) {
  const joined = JSON.stringify(sales[how](prices, "item").toArray());
  const apart = numbered[how](prices, "item").count();
  console.log(`${how}: of 4 sales ${joined}, numbered ones ${apart}`);
  return [joined, apart];
}

assert.deepEqual(join("innerJoin"), ['[["tea",3]]', 2], "innerJoin changed");
assert.deepEqual(join("leftJoin"), ['[["tea",3],["jam",null]]', 4], "leftJoin changed");
assert.deepEqual(join("outerJoin"), ['[["tea",3],["jam",null]]', 4], "outerJoin changed");
END
