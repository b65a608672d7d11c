#!/usr/bin/env bash
# datamash -W -s -g 2 of columns that are aligned with spaces returns a group twice.
#
# Expected: each group once, for any number of spaces: -W takes one or more of them for one delimiter, and -s sorts the input, so that no sort
#   is needed before.
# Seen: the lines are sorted by the field together with the spaces before it, and then grouped without them. "ab   b" sorts before "abc  a",
#   so the lines of a are apart. Sums and counts are of a part of the group. The first column, tabs and single spaces are right. No warning.
# Version: datamash 1.7 of Debian 12. Date: 2026-11-30.
# Output seen:
#   aligned:       a 1 b 1 a 2
#   single spaces: a 3 b 1
#   sort -b first: a 3 b 1
set -euo pipefail
datamash --version 2> /dev/null | grep -q ' 1.7$' || { echo 'this needs datamash 1.7, as in Debian 12 (apt-get install datamash)'; exit 2; }

lines='ab   a 5
abc  a 6
abcd a 7
ab   b 8'

check() {
    local seen
    seen=$(datamash -W "${@:3}" count 1 | tr '\t' ' ' | paste -s -d ' ')
    printf '%-14s %s\n' "$1:" "$seen"
    [ "$seen" = "$2" ] || { echo "the groups of $1 changed"; exit 1; }
}

check 'aligned' 'a 1 b 1 a 2' -s -g 2 <<< "$lines"
tr -s ' ' <<< "$lines" | check 'single spaces' 'a 3 b 1' -s -g 2
LC_ALL=C sort -b -k 2,2 <<< "$lines" | check 'sort -b first' 'a 3 b 1' -g 2
