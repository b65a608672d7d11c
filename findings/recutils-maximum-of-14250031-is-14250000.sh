#!/usr/bin/env bash
# The maximum of the integers 14250007 and 14250031 by recsel of GNU recutils is 1.425e+07, and so is the minimum.
#
# Expected: 14250031 and 14250007: a maximum is one of the values. recsel -p Count writes integers, and so does a sort of the field.
# Seen: Max, Min, Sum and Avg write at most six digits, whatever the type of the field is, so the record that has the maximum is not
#   found by it. No warning.
# Version: recutils 1.9 of Debian 12. Date: 2026-12-01.
# Output seen:
#   Max_id: 1.425e+07
#   Min_id: 1.425e+07
#   Count_id: 2
#   sorted 14250007 14250031
set -euo pipefail
recsel --version 2> /dev/null | grep -q ' 1.9$' || { echo 'this needs recutils 1.9, as in Debian 12 (apt-get install recutils=1.9-2)'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '%%rec: item\n%%type: id int\n\nid: 14250031\n\nid: 14250007\n' > items.rec
seen=$(recsel -p 'Max(id),Min(id),Count(id)' items.rec)
echo "$seen"
[ "$seen" = $'Max_id: 1.425e+07\nMin_id: 1.425e+07\nCount_id: 2' ] || { echo 'the maximum has all digits now'; exit 1; }
sorted=$(recsel -S id -C -P id items.rec | paste -s -d ' ')
echo "sorted $sorted"
[ "$sorted" = '14250007 14250031' ] || { echo 'the sort changed'; exit 1; }
