#!/usr/bin/env bash
# math.js does not sort times in milliseconds: sort leaves 1764540000002 before 1764540000001, max returns the first, setDistinct loses one.
#
# Expected: integers below 2^53 are exact, so sort puts 1764540000001 first, max returns the largest, and distinct numbers stay distinct, as
#   with Array.sort and Math.max.
# Seen: numbers that differ by less than a part in 10^12 (relTol) count as equal. That is documented for compare and equal; sort, max, min,
#   median and setDistinct use it too and do not say so. Times of today in milliseconds or microseconds, and identifiers of 13 and more
#   digits, are large enough. "Equal" is not transitive then, so a sort is not even right up to that tolerance. No warning.
# Versions: mathjs 15.2.0, Node.js 20. Date: 2026-11-30.
# Output seen:
#   sort [1764540000002,1764540000001]: [1764540000002,1764540000001]
#   max of them: 1764540000002 or, in the other order, 1764540000001
#   setDistinct of them: [1764540000002]
#   sort microseconds: [1764540000003000,1764540000001500,1764540000000000], larger(first, last): true
#   sort [1764540002,1764540001]: [1764540001,1764540002]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund mathjs@15.2.0
node --input-type=module - << 'END'
import assert from "node:assert";
import { larger, max, setDistinct, sort } from "mathjs";

const show = (values) => JSON.stringify(values);
const times = [1764540000002, 1764540000001];
const sorted = show(sort([...times]));
console.log(`sort ${show(times)}: ${sorted}`);
assert.equal(sorted, show(times), "milliseconds are sorted now");

const [most, other] = [max(times), max([...times].reverse())];
console.log(`max of them: ${most} or, in the other order, ${other}`);
assert(most === times[0] && other === times[1], "the maximum of milliseconds changed");

const distinct = show(setDistinct(times));
console.log("setDistinct of them:", distinct);
assert.equal(distinct, show([times[0]]), "both milliseconds are distinct now");

const micros = [1764540000003000, 1764540000001500, 1764540000000000];
const result = sort([...micros]);
console.log(`sort microseconds: ${show(result)}, larger(first, last): ${larger(result[0], result[2])}`);
assert(show(result) === show(micros) && larger(result[0], result[2]), "microseconds are sorted now");

const seconds = [1764540002, 1764540001];
console.log(`sort ${show(seconds)}: ${show(sort([...seconds]))}`);
assert.equal(show(sort([...seconds])), show([...seconds].reverse()), "seconds changed");
END
