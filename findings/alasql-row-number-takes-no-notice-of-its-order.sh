#!/usr/bin/env bash
# In AlaSQL, ROW_NUMBER() OVER (ORDER BY x) numbers the rows as they come: x = 5, 9, 3 get 1, 2, 3. With PARTITION BY, a number comes twice.
#
# Expected: the row with the least x has the number 1, as in SQL: 5, 9, 3 get 2, 3, 1. Within a partition each number comes once. A part of the
#   language that is not supported is an error.
# Seen: ORDER BY within OVER is read and not used. The count begins anew whenever the key differs from that of the row before, so that
#   each row of k = 1, 2, 1 has the number 1, and "the first row of each group" returns all rows. SUM of the same partition is right. No
#   error, no warning.
# Versions: alasql 4.19.1, Node.js 20. Date: 2026-11-30.
# Output seen:
#   ROW_NUMBER() OVER (ORDER BY x): k=1 x=5: 1, k=2 x=9: 2, k=1 x=3: 3
#   ROW_NUMBER() OVER (PARTITION BY k ORDER BY x): k=1 x=5: 1, k=2 x=9: 1, k=1 x=3: 1
#   SUM(x) OVER (PARTITION BY k): k=1 x=5: 8, k=2 x=9: 9, k=1 x=3: 8
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund --omit=optional --legacy-peer-deps alasql@4.19.1
node --input-type=module - << 'END'
import assert from "node:assert";
import alasql from "alasql";

const rows = [{ k: 1, x: 5 }, { k: 2, x: 9 }, { k: 1, x: 3 }];

function show(expression) {
  const result = alasql(`SELECT k, x, ${expression} AS r FROM ?`, [rows]);
  console.log(`${expression}: ${result.map((row) => `k=${row.k} x=${row.x}: ${row.r}`).join(", ")}`);
  return result.map((row) => row.r).join();
}

assert.equal(show("ROW_NUMBER() OVER (ORDER BY x)"), "1,2,3", "the order of the window has an effect now");
assert.equal(show("ROW_NUMBER() OVER (PARTITION BY k ORDER BY x)"), "1,1,1", "the numbers within a partition changed");
assert.equal(show("SUM(x) OVER (PARTITION BY k)"), "8,9,8", "the sum of a partition changed");
END
