#!/usr/bin/env bash
# csvsort takes the first names April, May and June for months, sorts them by the calendar and writes them as dates of the year 1.
#
# Expected: csvsort infers the types of columns, and names are text: the rows come back as they were, by letters.
# Seen: a column is one of dates if each cell can be read as one, in words, too. April becomes 0001-04-01. With one name more, such as
#   Rose, the column is text. Units become durations: 10w, 9d, 1w are "70 days, 0:00:00" and so on. --no-inference keeps them. No warning.
# Version: csvkit 2.2.0. Date: 2026-11-30.
# Output seen:
#   June,1 May,2 April,3         -> 0001-04-01,3 0001-05-01,2 0001-06-01,1
#   June,1 May,2 April,3 Rose,4  -> April,3 June,1 May,2 Rose,4
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet csvkit==2.2.0

check() {
    local rows=$1 expected=$2 seen
    seen=$(printf 'name,age\n%s\n' "${rows// /$'\n'}" | "$folder/venv/bin/csvsort" -c name | tail -n +2 | paste -sd' ')
    printf '%-28s -> %s\n' "$rows" "$seen"
    [ "$seen" = "$expected" ] || { echo 'csvsort reads these names differently now'; exit 1; }
}

check 'June,1 May,2 April,3' '0001-04-01,3 0001-05-01,2 0001-06-01,1'
check 'June,1 May,2 April,3 Rose,4' 'April,3 June,1 May,2 Rose,4'
