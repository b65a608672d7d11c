#!/usr/bin/env bash
# csvstat of csvkit says that the largest of 9007199254740993 and 9007199254740992 is 9007199254740992, and names it twice as most common.
#
# Expected: 9007199254740993, and two values of one row each: a maximum is one of the values. csvkit reads numbers as decimals of all
#   digits, csvsort puts the two in order, and csvstat --freq and --unique tell them apart.
# Seen: each number is turned into a double to write it. Of 0.0001 and 0.0002, whose digits a format cuts to three behind the point,
#   all are 0, the most common values too. --json has the digits of these, and not of the others. No warning.
# Version: csvkit 2.2.0. Date: 2026-12-01.
# Output seen:
#   9007199254740993 9007199254740992: max 9007199254740992   most common 9007199254740992 (1x) 9007199254740992 (1x)
#     --freq { "9007199254740993": 1, "9007199254740992": 1 }   csvsort -r 9007199254740993 9007199254740992
#   0.0002 0.0001: max 0   most common 0 (1x) 0 (1x)
#     --freq { "0.0002": 1, "0.0001": 1 }   csvsort -r 0.0002 0.0001
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet csvkit==2.2.0
cd "$folder"

check() {
    local larger=$1 smaller=$2 expected=$3 seen common
    printf 'id,x\n1,%s\n2,%s\n' "$larger" "$smaller" > table.csv
    seen=$(venv/bin/csvstat -c x --max table.csv)
    common=$(venv/bin/csvstat -c x table.csv | grep -A 1 'Most common' | sed 's/.*://' | awk '{$1 = $1; print}' | paste -s -d ' ')
    echo "$larger $smaller: max $seen   most common $common"
    [ "$seen" = "$expected" ] || { echo "the maximum of $larger changed"; exit 1; }
    [ "$common" = "$expected (1x) $expected (1x)" ] || { echo "the most common values of $larger changed"; exit 1; }
    seen=$(venv/bin/csvstat -c x --freq table.csv)
    common=$(venv/bin/csvsort -r -c x table.csv | tail -n +2 | cut -d , -f 2 | paste -s -d ' ')
    echo "  --freq $seen   csvsort -r $common"
    [ "$seen" = "{ \"$larger\": 1, \"$smaller\": 1 }" ] || { echo "the frequencies of $larger changed"; exit 1; }
    [ "$common" = "$larger $smaller" ] || { echo "the sort of $larger changed"; exit 1; }
}

check 9007199254740993 9007199254740992 9007199254740992
check 0.0002 0.0001 0
