#!/usr/bin/env bash
# The sortable key that pouchdb-collate makes of -1.1 reads back as -1.0999999999999996, and is also the key of -1.1000000000000003.
#
# Expected: the number that went in. PouchDB stores the keys of its views this way and reads them back with parseIndexableString. As collate
#   tells two numbers apart, so do their keys: the README says that the string "maintains proper CouchDB collation ordering".
# Seen: the mantissa of a negative number is stored as 10 minus itself, which rounds. So keys of negative numbers come back changed, whole
#   milliseconds before 1970 become fractions, and neighbours share one key. Positive numbers come back as they are. No warning.
# Versions: pouchdb-collate 9.0.0, Node.js 20. Date: 2026-12-01.
# Output seen:
#   1.1 -> 1.1
#   -1.1 -> -1.0999999999999996
#   -123.5 -> -123.49999999999994
#   -1234567890123 -> -1234567890122.9995
#   -1.1 and -1.1000000000000003: collate above 0 true, one key true
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund pouchdb-collate@9.0.0
node --input-type=module - << 'END'
import assert from "node:assert";
import collation from "pouchdb-collate";

const { collate, parseIndexableString, toIndexableString } = collation;
const expected = [[1.1, 1.1], [-1.1, -1.0999999999999996], [-123.5, -123.49999999999994], [-1234567890123, -1234567890122.9995]];
for (const [number, seen] of expected) {
  const back = parseIndexableString(toIndexableString(number));
  console.log(`${number} -> ${back}`);
  assert.equal(back, seen, `${number} comes back otherwise now`);
}
const [one, other] = [-1.1, -1.1000000000000003];
const same = toIndexableString(one) === toIndexableString(other);
const above = collate(one, other) > 0;
console.log(`${one} and ${other}: collate above 0 ${above}, one key ${same}`);
assert.ok(above, "collate changed");
assert.ok(same, "the keys differ now");
END
