#!/usr/bin/env bash
# external-sorting, an external sort of npm, loses the last line of a file that does not end with a newline.
#
# Expected: three lines of three, in order. The README calls the strings "separate with \n", and the option lastDelimiter is documented as
#   'if true parse text after the last delimiter', true by default.
# Seen: the option works the other way round. By default the text after the last newline is dropped; with lastDelimiter: false it is kept.
#   Of a file with one line and no newline, an empty line is left. No error, no warning.
# Versions: external-sorting 1.3.1, Node.js 20. Date: 2026-12-01.
# Output seen:
#   by default           "apple\ncherry\n"
#   with a last newline  "apple\nbanana\ncherry\n"
#   lastDelimiter: false "apple\nbanana\ncherry\n"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund external-sorting@1.3.1
node --input-type=module - << 'END'
import assert from "node:assert";
import fs from "node:fs";
import sorting from "external-sorting";

async function sort(title, text, options) {
  fs.writeFileSync("input", text);
  const [input, output] = [fs.createReadStream("input"), fs.createWriteStream("output")];
  await sorting.default({ input, output, tempDir: process.cwd(), maxHeap: 100, ...options }).asc();
  const sorted = fs.readFileSync("output", "utf8");
  console.log(title.padEnd(20), JSON.stringify(sorted));
  return sorted;
}

const all = "apple\nbanana\ncherry\n";
assert.equal(await sort("by default", "cherry\napple\nbanana"), "apple\ncherry\n", "the last line is kept now");
assert.equal(await sort("with a last newline", "cherry\napple\nbanana\n"), all, "the sort of whole lines changed");
const kept = await sort("lastDelimiter: false", "cherry\napple\nbanana", { lastDelimiter: false });
assert.equal(kept, all, "lastDelimiter: false changed");
END
