#!/usr/bin/env bash
# seqkit stats -a says of three reads of length 6 that their first and third quartiles are 3 and their median 6.
#
# Expected: 6 for each of them: quartiles lie between the least and the greatest length, which are 6, and the third is not below the median.
# Seen: half of the length if all sequences have the same, as raw reads of a sequencer do, or if there is one. With a second length they
#   are as expected. No warning.
# Version: seqkit 2.3.0 of Debian 12 (package 2.3.1). Date: 2026-12-01.
# Output seen:
#   length 6 6 6:    min 6 Q1 3.0 Q2 6.0 Q3 3.0 max 6
#   length 9:        min 9 Q1 4.5 Q2 9.0 Q3 4.5 max 9
#   length 6 6 6 7:  min 6 Q1 6.0 Q2 6.0 Q3 6.5 max 7
#   length 1 2 3 4:  min 1 Q1 1.5 Q2 2.5 Q3 3.5 max 4
set -euo pipefail
seqkit version 2> /dev/null | grep -q ' v2.3.0$' || { echo 'this needs seqkit 2.3.0, as in Debian 12 (apt-get install seqkit)'; exit 2; }

check() {
    local lengths=$1 expected=$2 seen length number=0
    seen=$(
        for length in $lengths; do
            number=$((number + 1))
            printf '>s%d\n%s\n' "$number" "$(printf '%*s' "$length" '' | tr ' ' A)"
        done | seqkit stats --all --tabular | awk -F '\t' 'NR == 2 { print "min " $6 " Q1 " $9 " Q2 " $10 " Q3 " $11 " max " $8 }'
    )
    printf 'length %-9s %s\n' "$lengths:" "$seen"
    [ "$seen" = "$expected" ] || { echo "the quartiles of $lengths changed"; exit 1; }
}

check '6 6 6' 'min 6 Q1 3.0 Q2 6.0 Q3 3.0 max 6'
check 9 'min 9 Q1 4.5 Q2 9.0 Q3 4.5 max 9'
check '6 6 6 7' 'min 6 Q1 6.0 Q2 6.0 Q3 6.5 max 7'
check '1 2 3 4' 'min 1 Q1 1.5 Q2 2.5 Q3 3.5 max 4'
