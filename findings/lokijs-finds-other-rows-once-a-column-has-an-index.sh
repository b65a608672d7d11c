#!/usr/bin/env bash
# In LokiJS, find({v: {$in: [1]}}) returns the number 1, and with an index of v it returns the text "1" too.
#
# Expected: an index makes a query faster and does not change its rows.
# Seen: without an index $in compares with the type, with an index it searches by the order of the index, where 1 and "1" are equal. $in of
#   the text "1" likewise. $eq and find({v: 1}) compare with the type in both. So a query for identifiers returns rows that another index
#   setting does not, and $in does not fit $eq. No warning.
# Versions: lokijs 1.5.12, Node.js 20. Date: 2026-11-30.
# Output seen:
#   {"$in":[1]}: without an index [1], with one ["1",1]
#   {"$in":["1"]}: without an index ["1"], with one ["1",1]
#   {"$eq":1}: without an index [1], with one [1]
#   {"$in":[2]}: without an index [2], with one [2]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund lokijs@1.5.12
node --input-type=module - << 'END'
import assert from "node:assert";
import Loki from "lokijs";

function find(condition, options) {
  const collection = new Loki("memory").addCollection("rows", options);
  for (const v of [1, "1", 2, "x"]) collection.insert({ v });
  return JSON.stringify(collection.find({ v: condition }).map((row) => row.v));
}

function show(condition) {
  const [plain, indexed] = [find(condition, {}), find(condition, { indices: ["v"] })];
  console.log(`${JSON.stringify(condition)}: without an index ${plain}, with one ${indexed}`);
  return [plain, indexed];
}

assert.deepEqual(show({ $in: [1] }), ["[1]", '["1",1]'], "$in of a number changed");
assert.deepEqual(show({ $in: ["1"] }), ['["1"]', '["1",1]'], "$in of a text changed");
assert.deepEqual(show({ $eq: 1 }), ["[1]", "[1]"], "$eq changed");
assert.deepEqual(show({ $in: [2] }), ["[2]", "[2]"], "$in of a number without a like text changed");
END
