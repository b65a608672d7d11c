#!/usr/bin/env bash
# deb-version-compare takes 1.2.3 for equal to 1.2.3-0ubuntu1, and 1.0-1 for later than 1.0-rc1, where dpkg does not.
#
# Expected: the order of dpkg. The README quotes the Debian policy whole, by which a missing revision counts as 0, and the initial part
#   without digits is compared first: none is before "rc".
# Seen: a missing revision and one of other length are compared in another way: 1.0-0 is later than 1.0, which are the same for dpkg.
#   Upstream versions are in the right order. No warning.
# Versions: deb-version-compare 1.2.1, dpkg 1.21 of Debian 12, Node.js 20. Date: 2026-12-01.
# Output seen:
#   1.2.3 and 1.2.3-0ubuntu1: package same, dpkg earlier
#   1.0-0 and 1.0: package later, dpkg same
#   1.0-1 and 1.0-rc1: package later, dpkg earlier
#   1.0~rc1 and 1.0: package earlier, dpkg earlier
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund deb-version-compare@1.2.1
node --input-type=module - << 'END'
import assert from "node:assert";
import { spawnSync } from "node:child_process";
import compare from "deb-version-compare";

const names = { lt: "earlier", eq: "same", gt: "later" };

function show(first, second) {
  const dpkg = Object.keys(names).find((name) => spawnSync("dpkg", ["--compare-versions", first, name, second]).status === 0);
  const found = [Object.values(names)[Math.sign(compare(first, second)) + 1], names[dpkg]];
  console.log(`${first} and ${second}: package ${found[0]}, dpkg ${found[1]}`);
  return found;
}

assert.deepEqual(show("1.2.3", "1.2.3-0ubuntu1"), ["same", "earlier"], "a revision of Ubuntu changed");
assert.deepEqual(show("1.0-0", "1.0"), ["later", "same"], "the revision 0 changed");
assert.deepEqual(show("1.0-1", "1.0-rc1"), ["later", "earlier"], "a revision with letters changed");
assert.deepEqual(show("1.0~rc1", "1.0"), ["earlier", "earlier"], "upstream versions changed");
END
