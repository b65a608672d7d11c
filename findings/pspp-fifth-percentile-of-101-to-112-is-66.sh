#!/usr/bin/env bash
# EXAMINE of GNU PSPP says that the 5th percentile of the numbers 101 to 112 is 65.65, and that of 101 to 104 is 25.25.
#
# Expected: at least 101: no percentile is below the least number. FREQUENCIES of the same program says 101.55 and 101.15.
# Seen: below the first number the values are interpolated between it and zero, so a low percentile of few numbers is some part of the
#   least one, and with ROUND it is 0. High ones stay within the numbers. HAVERAGE is the default, and 5 is among the default
#   percentiles, which is too low for fewer than 19 numbers. No warning.
# Version: pspp 1.6.2 of Debian 12. Date: 2026-12-01.
# Output seen:
#   101 to 104  HAVERAGE     5% 25.25   50% 102.50  95% 104.00
#   101 to 112  HAVERAGE     5% 65.65   50% 106.50  95% 112.00
#   101 to 112  WAVERAGE     5% 60.60   50% 106.00  95% 111.40
#   101 to 104  ROUND        5% .00     50% 102.00  95% 104.00
#   101 to 112  EMPIRICAL    5% 101.00  50% 106.00  95% 112.00
#   101 to 112  FREQUENCIES  5% 101.55  50% 106.50  95% 111.45
set -euo pipefail
pspp --version 2> /dev/null | grep -q ' 1.6.2$' || { echo 'this needs pspp 1.6.2, as in Debian 12 (apt-get install pspp)'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

check() {
    local last=$1 how=$2 expected=$3 seen
    {
        printf 'DATA LIST FREE /x.\nBEGIN DATA.\n%s\nEND DATA.\n' "$(seq -s ' ' 101 "$last")"
        if [ "$how" = FREQUENCIES ]; then
            echo 'FREQUENCIES VARIABLES=x /FORMAT=NOTABLE /PERCENTILES=5 50 95 /STATISTICS=MINIMUM.'
        else
            echo "EXAMINE VARIABLES=x /PERCENTILES(5,50,95)=$how /STATISTICS=NONE."
        fi
    } > numbers.sps
    pspp -O format=csv -o numbers.csv numbers.sps > /dev/null
    if [ "$how" = FREQUENCIES ]; then
        seen=$(awk -F , '/^Percentiles/ || /^,(50|95),/ { print $3 }' numbers.csv | paste -s -d ' ')
    else
        seen=$(awk -F , '/^x,Weighted/ { print $3, $4, $5 }' numbers.csv)
    fi
    printf '101 to %s  %-12s 5%% %-7s 50%% %-7s 95%% %s\n' "$last" "$how" $seen
    [ "$seen" = "$expected" ] || { echo "the percentiles of 101 to $last by $how changed"; exit 1; }
}

check 104 HAVERAGE '25.25 102.50 104.00'
check 112 HAVERAGE '65.65 106.50 112.00'
check 112 WAVERAGE '60.60 106.00 111.40'
check 104 ROUND '.00 102.00 104.00'
check 112 EMPIRICAL '101.00 106.00 112.00'
check 112 FREQUENCIES '101.55 106.50 111.45'
