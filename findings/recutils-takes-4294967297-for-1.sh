#!/usr/bin/env bash
# recsel -S of GNU recutils sorts the integers 3000000000, -1, 4294967297, 5 in that order, and the filter id = 1 finds 4294967297.
#
# Expected: -1, 5, 3000000000, 4294967297, and no record for 1. The manual says of the type int that fields "must contain integers, and
#   they may be negative", no bounds, and recfix --check finds nothing wrong.
# Seen: integers are cut to 32 bits, so that a byte count, a time in milliseconds or an identifier is another number in each sort and
#   filter. Filters of a field of type real do so too, though its sort is right. No warning.
# Version: recutils 1.9 of Debian 12. Date: 2026-12-01.
# Output seen:
#   int:  sorted 3000000000 -1 4294967297 5   id = 1: 4294967297   id < 0: 3000000000 -1
#   real: sorted -1 5 3000000000 4294967297   id = 1: 4294967297   id < 0: 3000000000 -1
set -euo pipefail
recsel --version 2> /dev/null | grep -q ' 1.9$' || { echo 'this needs recutils 1.9, as in Debian 12 (apt-get install recutils=1.9-2)'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

records() { printf '%%rec: item\n%%type: id %s\n\nid: 3000000000\n\nid: 5\n\nid: 4294967297\n\nid: -1\n' "$1"; }
check() {
    local type=$1 sorted=$2 seen
    records "$type" > items.rec
    recfix --check items.rec
    select_ids() { recsel "$@" -C -P id items.rec | paste -s -d ' '; }
    seen=("$(select_ids -S id)" "$(select_ids -e 'id = 1')" "$(select_ids -e 'id < 0')")
    printf '%-5s sorted %s   id = 1: %s   id < 0: %s\n' "$type:" "${seen[@]}"
    [ "${seen[0]}" = "$sorted" ] || { echo "the sort of $type changed"; exit 1; }
    [ "${seen[1]}" = 4294967297 ] || { echo "the filter = of $type changed"; exit 1; }
    [ "${seen[2]}" = '3000000000 -1' ] || { echo "the filter < of $type changed"; exit 1; }
}

check int '3000000000 -1 4294967297 5'
check real '-1 5 3000000000 4294967297'
