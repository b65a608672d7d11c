#!/usr/bin/env bash
# percentile of jStat returns 3 for 1, 2, 3, 4 and 0.9, and 1 for 1, 9 and 0.5, whose median is 5.
#
# Expected: 3.7 and 5, as for PERCENTILE.INC of spreadsheets and simple interpolation; quantiles of the same package with 1 and 1 returns
#   them.
# Seen: between the last two numbers nothing is interpolated, the lower one is returned. Below that it is. No warning.
# Versions: jstat 1.9.6, Node.js 20. Date: 2026-12-01.
# Output seen:
#   1 2 3 4 at 0.5: percentile 2.5, quantiles 2.5
#   1 2 3 4 at 0.9: percentile 3, quantiles 3.7
#   1 2 3 4 at 1: percentile 4, quantiles 4
#   1 9 at 0.5: percentile 1, quantiles 5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund jstat@1.9.6
node --input-type=module - << 'END'
import assert from "node:assert";
import jstat from "jstat";

const { jStat } = jstat;

function show(part, ...numbers) {
  const found = [jStat.percentile(numbers, part), +jStat.quantiles(numbers, [part], 1, 1)[0].toFixed(9)];
  console.log(`${numbers.join(" ")} at ${part}: percentile ${found[0]}, quantiles ${found[1]}`);
  return found;
}

assert.deepEqual(show(0.5, 1, 2, 3, 4), [2.5, 2.5], "the middle changed");
assert.deepEqual(show(0.9, 1, 2, 3, 4), [3, 3.7], "a percentile between the last two numbers changed");
assert.deepEqual(show(1, 1, 2, 3, 4), [4, 4], "the last one changed");
assert.deepEqual(show(0.5, 1, 9), [1, 5], "the middle of two numbers changed");
END
