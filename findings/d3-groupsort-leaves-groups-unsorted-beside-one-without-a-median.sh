#!/usr/bin/env bash
# d3.groupSort by the median returns groups with the medians 5, NaN and 1 in that order: one group without a number leaves others unsorted.
#
# Expected: as d3.sort does it, which puts NaN and undefined behind all numbers: 1, 5, NaN. In any case 1 stands before 5.
# Seen: groups whose values compare as neither less nor greater are taken for ties and ordered by their names. So a is before b and b before
#   c by name, and c before a by value, which is no order, and the sort keeps what it meets first. d3.median of a group without any number is
#   undefined, which does the same. The result changes with the name of that group: called z it comes last. No warning.
# Versions: d3-array 3.2.5, Node.js 20. Date: 2026-11-30.
# Output seen:
#   medians a=5 c=1: groupSort ["c","a"], sort ["c","a"]
#   medians a=5 b=NaN c=1: groupSort ["a","b","c"], sort ["c","a","b"]
#   medians a=5 b=undefined c=1 d=3: groupSort ["a","b","c","d"], sort ["c","d","a","b"]
#   medians a=5 z=undefined c=1 d=3: groupSort ["c","d","a","z"], sort ["c","d","a","z"]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund d3-array@3.2.5 internmap@2.0.3
node --input-type=module - << 'END'
import assert from "node:assert";
import { groupSort, median, sort } from "d3-array";

function show(rows, reduce) {
  const result = groupSort(rows, reduce, (row) => row.key);
  const values = new Map(rows.map((row) => [row.key, reduce([row])]));
  const sorted = sort([...values.keys()], (key) => values.get(key));
  const medians = [...values].map(([key, value]) => `${key}=${value}`).join(" ");
  console.log(`medians ${medians}: groupSort ${JSON.stringify(result)}, sort ${JSON.stringify(sorted)}`);
  return [result.join(""), sorted.join("")];
}

const ofRow = (rows) => rows[0].value;
const ofGroup = (rows) => median(rows, (row) => row.value);
const a = { key: "a", value: 5 }, c = { key: "c", value: 1 }, d = { key: "d", value: 3 };
assert.deepEqual(show([a, c], ofGroup), ["ca", "ca"], "groups of numbers changed");
assert.deepEqual(show([a, { key: "b", value: NaN }, c], ofRow), ["abc", "cab"], "groups beside NaN changed");
assert.deepEqual(show([a, { key: "b", value: null }, c, d], ofGroup), ["abcd", "cdab"], "groups beside one without a median changed");
assert.deepEqual(show([a, { key: "z", value: null }, c, d], ofGroup), ["cdaz", "cdaz"], "the name of the group has no effect now");
END
