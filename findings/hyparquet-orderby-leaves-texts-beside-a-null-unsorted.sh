#!/usr/bin/env bash
# parquetQuery of hyparquet, with orderBy on a column of texts, returns b, null, a in that order; among numbers it sorts null as 0.
#
# Expected: the texts in order, nulls before or after all of them.
# Seen: values are compared with < and >. A text is neither less nor greater than null, so it ties with it, and a sort whose ties are no
#   equality leaves neighbours on both sides of a null as they were. Among numbers, null counts as 0, between -5 and 5. NaN does to numbers
#   what null does to texts. The declaration says "orderBy column name to sort the results". No warning.
# Versions: hyparquet 1.33.0, hyparquet-writer 0.17.0, Node.js 20. Date: 2026-12-01.
# Output seen:
#   texts    b null a
#   numbers  -5 null 5
#   with NaN 5 NaN -5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund hyparquet@1.33.0 hyparquet-writer@0.17.0
node --input-type=module - << 'END'
import assert from "node:assert";
import { parquetQuery } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";

async function sort(title, type, data) {
  const file = parquetWriteBuffer({ columnData: [{ name: "x", data, type }] });
  const rows = await parquetQuery({ file, orderBy: "x" });
  const found = rows.map(({ x }) => String(x)).join(" ");
  console.log(title.padEnd(8), found);
  return found;
}

assert.equal(await sort("texts", "STRING", ["b", null, "a"]), "b null a", "the order of texts with a null changed");
assert.equal(await sort("numbers", "DOUBLE", [5, null, -5]), "-5 null 5", "the order of numbers with a null changed");
assert.equal(await sort("with NaN", "DOUBLE", [5, NaN, -5]), "5 NaN -5", "the order of numbers with NaN changed");
END
