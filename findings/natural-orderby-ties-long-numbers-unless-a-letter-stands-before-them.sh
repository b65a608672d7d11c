#!/usr/bin/env bash
# natural-orderby takes the texts "9007199254740993" and "9007199254740992" for equal, and sorts "x9007199254740993" behind "x9007199254740992".
#
# Expected: a natural order of digits compares numbers of any length, as Intl.Collator with numeric: true does it, and the same digits are in
#   the same order with and without a letter before them. compare() is 0 for equal texts only.
# Seen: a text that is a number as a whole becomes a double, so identifiers that differ behind the 15th digit are ties and stay in the order
#   of the input. Numbers within a text are compared in another way, exactly. BigInt and longer numbers are likewise ties. No warning.
# Versions: natural-orderby 5.0.0, Node.js 20. Date: 2026-11-30.
# Output seen:
#   natural-orderby: ["9007199254740993","9007199254740992"], ["x9007199254740992","x9007199254740993"]
#   Intl.Collator: ["9007199254740992","9007199254740993"], ["x9007199254740992","x9007199254740993"]
#   20 digits: ["12345678901234567893","12345678901234567891"], as BigInt: 12345678901234567893,12345678901234567891
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund natural-orderby@5.0.0
node --input-type=module - << 'END'
import assert from "node:assert";
import { compare, orderBy } from "natural-orderby";

const plain = ["9007199254740993", "9007199254740992"];
const lettered = plain.map((text) => "x" + text);
const both = (sort) => [plain, lettered].map((texts) => JSON.stringify(sort(texts))).join(", ");
const collator = new Intl.Collator("en", { numeric: true });
const natural = both((texts) => orderBy(texts));
const expected = both((texts) => [...texts].sort(collator.compare));
console.log("natural-orderby:", natural);
console.log("Intl.Collator:", expected);
assert.equal(natural, `${JSON.stringify(plain)}, ${JSON.stringify([...lettered].reverse())}`, "the order of long numbers changed");
assert.equal(expected, both((texts) => [...texts].reverse()), "Intl.Collator changed");
assert.equal(compare()(plain[0], plain[1]), 0, "the comparison changed");

const long = orderBy(["12345678901234567893", "12345678901234567891"]);
const integers = orderBy([12345678901234567893n, 12345678901234567891n]);
console.log(`20 digits: ${JSON.stringify(long)}, as BigInt: ${integers}`);
assert.equal(long[0], "12345678901234567893", "numbers of 20 digits changed");
assert.equal(integers[0], 12345678901234567893n, "BigInt changed");
END
