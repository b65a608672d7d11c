#!/usr/bin/env bash
# sliceMax(2, ["year", "sales"]) of tidy.js returns the first two rows as they stand, not the two with the largest keys.
#
# Expected: the two largest rows. The documentation says of the argument "key name(s) to sort descending by" and gives its type as
#   string | string[] | Comparator; sliceMin takes an array, and so does arrange.
# Seen: the array is handed to desc() as if it were the name of one column. There is none of that name, so all rows tie, and the sort
#   leaves them. An array of one name works, as it turns into that name. No error, no warning.
# Versions: @tidyjs/tidy 2.6.1, Node.js 20. Date: 2026-12-01.
# Output seen:
#   sliceMin by both         2023/5 2024/1
#   sliceMax by both         2023/5 2024/1
#   sliceMax by one          2025/0 2024/1
#   arrange, both descending 2025/0 2024/3
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund @tidyjs/tidy@2.6.1
node --input-type=module - << 'END'
import assert from "node:assert";
import { arrange, desc, sliceHead, sliceMax, sliceMin, tidy } from "@tidyjs/tidy";

const rows = [[2023, 5], [2024, 1], [2024, 3], [2025, 0]].map(([year, sales]) => ({ year, sales }));

function show(title, ...steps) {
  const found = tidy(rows, ...steps).map(({ year, sales }) => `${year}/${sales}`).join(" ");
  console.log(title.padEnd(24), found);
  return found;
}

assert.equal(show("sliceMin by both", sliceMin(2, ["year", "sales"])), "2023/5 2024/1", "sliceMin changed");
assert.equal(show("sliceMax by both", sliceMax(2, ["year", "sales"])), "2023/5 2024/1", "sliceMax by two keys changed");
assert.equal(show("sliceMax by one", sliceMax(2, ["year"])), "2025/0 2024/1", "sliceMax by one key changed");
const sorted = show("arrange, both descending", arrange([desc("year"), desc("sales")]), sliceHead(2));
assert.equal(sorted, "2025/0 2024/3", "arrange changed");
END
