#!/usr/bin/env bash
# semver-sort takes 1.0.0-rc.1 for equal to 1.0.0, so that the newest of the two is whichever comes first.
#
# Expected: 1.0.0-alpha, 1.0.0-rc.1, 1.0.0, as Semantic Versioning orders them, and as compare of the package semver does, which
#   semver-sort calls.
# Seen: the version is cut out of the text first, by a pattern of the package semver-regex, and what comes after 1.0.0 is cut off. So all
#   four tie and stay as they are, also in descending order. No warning.
# Versions: semver-sort 1.0.0, semver 5.7.3, semver-regex 3.1.4, Node.js 20. Date: 2026-12-01.
# Output seen:
#   semver             0.9.0 1.0.0-alpha 1.0.0-rc.1 1.0.0
#   semver-sort, asc   0.9.0 1.0.0 1.0.0-rc.1 1.0.0-alpha
#   semver-sort, desc  1.0.0 1.0.0-rc.1 1.0.0-alpha 0.9.0
#   the same, reversed 1.0.0-alpha 1.0.0-rc.1 1.0.0 0.9.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund semver-sort@1.0.0 semver@5.7.3 semver-regex@3.1.4
node --input-type=module - << 'END'
import assert from "node:assert";
import semver from "semver";
import sorter from "semver-sort";

const versions = ["1.0.0", "1.0.0-rc.1", "1.0.0-alpha", "0.9.0"];

function show(title, sorted) {
  console.log(title.padEnd(18), sorted.join(" "));
  return sorted.join(" ");
}

const right = show("semver", versions.toSorted(semver.compare));
assert.equal(right, "0.9.0 1.0.0-alpha 1.0.0-rc.1 1.0.0", "semver changed");
const ascending = show("semver-sort, asc", sorter.asc([...versions]));
assert.equal(ascending, "0.9.0 1.0.0 1.0.0-rc.1 1.0.0-alpha", "asc changed");
const descending = show("semver-sort, desc", sorter.desc([...versions]));
assert.equal(descending, "1.0.0 1.0.0-rc.1 1.0.0-alpha 0.9.0", "desc changed");
const reversed = show("the same, reversed", sorter.desc(versions.toReversed()));
assert.equal(reversed, "1.0.0-alpha 1.0.0-rc.1 1.0.0 0.9.0", "desc of the reversed list changed");
END
