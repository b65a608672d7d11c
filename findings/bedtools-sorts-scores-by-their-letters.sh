#!/usr/bin/env bash
# bedtools sort -chrThenScoreD puts the score 95 before 1000, and -chrThenScoreA 1000 before 95: scores are compared as text.
#
# Expected: the order of the numbers, as -sizeA and -sizeD have: the score of BED is a number from 0 to 1000, and the option is documented
#   as "score (desc)". head -n of the result should be the best peaks.
# Seen: the order of the letters. The first two of the scores 40, 1000, 95, 8.5 and 300 are 95 and 8.5. sort -k5,5nr is right. No warning.
# Version: bedtools 2.30.0 of Debian 12. Date: 2026-11-30.
# Output seen:
#   bedtools sort -chrThenScoreD: 95 8.5 40 300 1000
#   bedtools sort -chrThenScoreA: 1000 300 40 8.5 95
#   sort -k1,1 -k5,5nr: 1000 300 95 40 8.5
set -euo pipefail
bedtools --version 2> /dev/null | grep -q 'v2.30.0$' || { echo 'this needs bedtools 2.30.0, as in Debian 12 (apt-get install bedtools=2.30.0+dfsg-3)'; exit 2; }

peaks=$(for score in 40 1000 95 8.5 300; do printf 'chr1\t100\t200\tpeak\t%s\n' "$score"; done)

check() {
    local seen
    seen=$(LC_ALL=C "${@:2}" <<< "$peaks" | cut -f 5 | paste -s -d ' ')
    echo "${*:2}: $seen" | sed 's/ -i -:/:/'
    [ "$seen" = "$1" ] || { echo "the order of ${*:2} changed"; exit 1; }
}

check '95 8.5 40 300 1000' bedtools sort -chrThenScoreD -i -
check '1000 300 40 8.5 95' bedtools sort -chrThenScoreA -i -
check '1000 300 95 40 8.5' sort -k1,1 -k5,5nr
