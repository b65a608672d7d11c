#!/usr/bin/env bash
# bedtools merge -o distinct_sort_num writes 14250007 and 14250031 as two times 1.425e+07.
#
# Expected: "as distinct, sorted numerically": the values of -o distinct in another order, as they are in the file, or at least the digits that
#   -prec asks for, as max, min and sum have. bedtools groupby has the operation, too.
# Seen: the values pass through a float that is printed with six digits, and -prec does not count. Positions and identifiers of more digits
#   come out as others, so that distinct values are the same text, twice. No warning.
# Version: bedtools 2.30.0 of Debian 12. Date: 2026-11-30.
# Output seen:
#   merge distinct               14250007,14250031,982
#   merge distinct_sort_num      982,1.425e+07,1.425e+07
#   merge distinct_sort_num_desc 1.425e+07,1.425e+07,982
#   merge max                    14250031
#   groupby distinct_sort_num    982,1.425e+07,1.425e+07
set -euo pipefail
bedtools --version 2> /dev/null | grep -q 'v2.30.0$' || { echo 'this needs bedtools 2.30.0, as in Debian 12 (apt-get install bedtools=2.30.0+dfsg-3)'; exit 2; }

rows=$(for position in 14250007 982 14250031; do printf 'chr1\t100\t200\t%s\n' "$position"; done)

check() {
    local seen
    seen=$(bedtools "$1" -i - "${@:4}" -c 4 -o "$2" -prec 12 <<< "$rows" | awk '{print $NF}')
    printf '%-28s %s\n' "$1 $2" "$seen"
    [ "$seen" = "$3" ] || { echo "$1 -o $2 changed"; exit 1; }
}

check merge distinct 14250007,14250031,982
check merge distinct_sort_num 982,1.425e+07,1.425e+07
check merge distinct_sort_num_desc 1.425e+07,1.425e+07,982
check merge max 14250031
check groupby distinct_sort_num 982,1.425e+07,1.425e+07 -g 1
