#!/usr/bin/env bash
# Mingo, MongoDB's queries for JavaScript, sorts {x: [1, 10]} behind {x: 5} in descending order: it looks at the 1.
#
# Expected: as MongoDB documents it, an ascending sort compares the smallest element of a list and a descending sort the largest one. So
#   [1, 10] comes before 5 in descending order, by its 10, and before 5 in ascending order too, by its 1.
# Seen: both directions compare the smallest element, and the descending order is the ascending one reversed. The first row is not the one
#   with the largest value, so a sort with a limit returns other rows than the database. No warning.
# Versions: mingo 7.2.7, Node.js 20. Date: 2026-11-30.
# Output seen:
#   ascending: [1,10] [2,9] 3 5
#   descending: 5 3 [2,9] [1,10]
#   descending with limit 1: 5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund mingo@7.2.7
node --input-type=module - << 'END'
import assert from "node:assert";
import { aggregate, Query } from "mingo";

const rows = [{ x: 3 }, { x: [1, 10] }, { x: 5 }, { x: [2, 9] }];

function show(what, cursor) {
  const result = cursor.map((row) => JSON.stringify(row.x)).join(" ");
  console.log(`${what}: ${result}`);
  return result;
}

assert.equal(show("ascending", new Query({}).find(rows).sort({ x: 1 }).all()), "[1,10] [2,9] 3 5", "the ascending order changed");
assert.equal(show("descending", new Query({}).find(rows).sort({ x: -1 }).all()), "5 3 [2,9] [1,10]", "the descending order changed");
const first = aggregate(rows, [{ $sort: { x: -1 } }, { $limit: 1 }]);
assert.equal(show("descending with limit 1", first), "5", "the first of the descending order changed");
END
