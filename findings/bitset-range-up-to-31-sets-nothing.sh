#!/usr/bin/env bash
# setRange(28, 31) of bitset sets no bit, and clear(28, 31) clears none; ranges that end at 30 or 32 are right.
#
# Expected: the bits 28, 29, 30 and 31. The README says that both ends are in the range.
# Seen: in a range that ends with the last bit of a 32-bit word, that word is passed over: setRange(0, 63) sets 0 to 31 only, and
#   flip(28, 31) flips nothing. set(31) alone works. No warning.
# Versions: bitset 5.3.0, Node.js 20. Date: 2026-12-01.
# Output seen:
#   setRange(28, 30): 28 29 30
#   setRange(28, 31): nothing
#   setRange(28, 32): 28 29 30 31 32
#   setRange(0, 63): 32 bits
#   flip(28, 31): nothing
#   clear(28, 31) of 28 to 32: 28 29 30 31 32
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund bitset@5.3.0
node --input-type=module - << 'END'
import assert from "node:assert";
import { BitSet } from "bitset";

function show(title, set) {
  const found = set.cardinality() > 9 ? `${set.cardinality()} bits` : set.toArray().join(" ") || "nothing";
  console.log(`${title}: ${found}`);
  return found;
}

const range = (from, to) => new BitSet().setRange(from, to, 1);
assert.equal(show("setRange(28, 30)", range(28, 30)), "28 29 30", "a range within a word changed");
assert.equal(show("setRange(28, 31)", range(28, 31)), "nothing", "a range to the end of a word changed");
assert.equal(show("setRange(28, 32)", range(28, 32)), "28 29 30 31 32", "a range into the next word changed");
assert.equal(show("setRange(0, 63)", range(0, 63)), "32 bits", "a range of two words changed");
assert.equal(show("flip(28, 31)", new BitSet().flip(28, 31)), "nothing", "flip changed");
assert.equal(show("clear(28, 31) of 28 to 32", range(28, 32).clear(28, 31)), "28 29 30 31 32", "clear changed");
END
