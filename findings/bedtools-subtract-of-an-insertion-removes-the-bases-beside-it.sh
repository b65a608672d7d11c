#!/usr/bin/env bash
# bedtools subtract of a zero-length feature, an insertion between two bases, removes the base on each side of it.
#
# Expected: a feature 10-10 of BED covers no base, so subtracting it changes nothing. intersect -wo reports an overlap of 0 for it.
# Seen: subtract takes it for 9-11: 0-10 becomes 0-9, and 10-20 becomes 11-20. coverage counts a covered base in each, and merge makes
#   0-11 of 0-9 and 10-10, two bases of which are in neither. No warning. Tables of variants have insertions in this form.
# Versions: bedtools 2.30.0 of Debian 12. Date: 2026-11-30.
# Output seen:
#   intersect -wo  chr1 10 10 chr1 0 10 0 / chr1 10 10 chr1 10 20 0
#   subtract       chr1 0 9 / chr1 11 20
#   merge          chr1 0 11
set -euo pipefail
bedtools --version 2> /dev/null | grep -q 'v2.30.0$' || { echo 'this needs bedtools 2.30.0, as in Debian 12 (apt-get install bedtools=2.30.0+dfsg-3)'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf 'chr1\t0\t10\nchr1\t10\t20\n' > exons.bed
printf 'chr1\t10\t10\n' > insertion.bed
printf 'chr1\t0\t9\nchr1\t10\t10\n' > both.bed

check() {
    local name=$1 expected=$2 seen
    shift 2
    seen=$("$@" | tr '\t' ' ' | paste -sd/ | sed 's,/, / ,g')
    printf '%-14s %s\n' "$name" "$seen"
    [ "$seen" = "$expected" ] || { echo "$name changed"; exit 1; }
}

check 'intersect -wo' 'chr1 10 10 chr1 0 10 0 / chr1 10 10 chr1 10 20 0' bedtools intersect -wo -a insertion.bed -b exons.bed
check subtract 'chr1 0 9 / chr1 11 20' bedtools subtract -a exons.bed -b insertion.bed
check merge 'chr1 0 11' bedtools merge -i both.bed
