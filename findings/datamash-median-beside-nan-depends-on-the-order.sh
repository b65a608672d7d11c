#!/usr/bin/env bash
# The median of 1, 2 and NaN by datamash is 1, 2 or NaN, depending on the order of the lines.
#
# Expected: NaN, or an error, or the median of the numbers, the same for each order: a median sorts the values first.
# Seen: values are sorted with a comparison that takes NaN for equal to every number, which is no order. min, max and the quartiles
#   depend on the order of the lines, too; unique puts NaN last. --narm, which removes NaN, gives 1.5 each time. No warning.
# Version: datamash 1.7 of Debian 12. Date: 2026-11-30.
# Output seen:
#   nan 1 2: median 1 max nan
#   1 nan 2: median nan max 2
#   1 2 nan: median 2 max 2
#   nan 1 2 with --narm: median 1.5 max 2
set -euo pipefail
datamash --version 2> /dev/null | grep -q ' 1.7$' || { echo 'this needs datamash 1.7, as in Debian 12 (apt-get install datamash)'; exit 2; }

check() {
    local lines=$1 expected=$2 seen
    shift 2
    seen=$(tr ' ' '\n' <<< "$lines" | LC_ALL=C datamash "$@" median 1 max 1 | awk '{print "median " $1 " max " $2}')
    echo "$lines${*:+ with $*}: $seen"
    [ "$seen" = "$expected" ] || { echo "the median of $lines changed"; exit 1; }
}

check 'nan 1 2' 'median 1 max nan'
check '1 nan 2' 'median nan max 2'
check '1 2 nan' 'median 2 max 2'
check 'nan 1 2' 'median 1.5 max 2' --narm
