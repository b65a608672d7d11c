#!/usr/bin/env bash
# In NeDB, a range such as {$gt: 6} finds a document twice, and counts it twice, once the array of two numbers in question has an index.
#
# Expected: an index makes a search faster and changes nothing else; find returns each document once. The README says that
#   "matching it means matching any element of the array"; of arrays, only those of objects may not have an index.
# Seen: the index has an entry for each element, and each entry in the range returns the document. limit(2) then returns one document
#   twice and leaves out another. Equality and $in are right. No warning.
# Versions: @seald-io/nedb 4.1.2 (the maintained fork), Node.js 20. Date: 2026-12-01.
# Output seen:
#   without index: found a b, counted 2, the first two by limit a b
#   with index: found a a b, counted 3, the first two by limit a a
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund @seald-io/nedb@4.1.2
node --input-type=module - << 'END'
import assert from "node:assert";
import Datastore from "@seald-io/nedb";

const store = new Datastore();
await store.insertAsync([{ _id: "a", sizes: [7, 20] }, { _id: "b", sizes: [30] }, { _id: "c", sizes: [1, 2] }]);
const query = { sizes: { $gt: 6 } };

async function show(title) {
  const names = async (cursor) => (await cursor).map(({ _id }) => _id);
  const found = (await names(store.findAsync(query))).sort().join(" ");
  const first = (await names(store.findAsync(query).limit(2))).sort().join(" ");
  const count = await store.countAsync(query);
  console.log(`${title}: found ${found}, counted ${count}, the first two by limit ${first}`);
  return [found, count, first];
}

assert.deepEqual(await show("without index"), ["a b", 2, "a b"], "the search without an index changed");
await store.ensureIndexAsync({ fieldName: "sizes" });
assert.deepEqual(await show("with index"), ["a a b", 3, "a a"], "the search with an index changed");
END
