#!/usr/bin/env bash
# VisiData sorts a column of numbers 3, nan, 1 and 2 and leaves 3 at the top, in both directions.
#
# Expected: 1, 2, 3, and nan at one end, as for an empty cell, which VisiData puts first. nan is what a table of measurements has
#   where one is missing, and is read as a number once the column is one.
# Seen: ascending, the rows stay as they are; descending, 2 comes after nan and 3 before it. So the number at the top is not the least
#   one, and the new file is not sorted. nan is written as an empty cell, which hides the reason. No warning.
# Version: visidata 3.4. Date: 2026-12-01.
# Output seen:
#   3, 1.5, 1 and 2, ascending:   1.00 1.50 2.00 3.00
#   3, empty, 1 and 2, ascending: - 1.00 2.00 3.00
#   3, nan, 1 and 2, ascending:   3.00 - 1.00 2.00
#   3, nan, 1 and 2, descending:  3.00 - 2.00 1.00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet visidata==3.4
cd "$folder"

# The keys %, for a column of numbers, and [ or ], for ascending or descending.
for key in '[' ']'; do
    command=$([ "$key" = '[' ] && echo sort-asc || echo sort-desc)
    {
        echo '#!vd -p'
        printf '{"sheet": "table", "col": "x", "row": "", "longname": "%s", "input": "", "keystrokes": "%s", "comment": ""}\n' \
            type-float % "$command" "$key"
    } > "$command.vdj"
done

check() {
    local title=$1 cell=$2 command=$3 expected=$4 seen
    printf 'name\tx\na\t3\nb\t%s\nc\t1\nd\t2\n' "$cell" > table.tsv
    HOME=$folder TERM=xterm venv/bin/vd --batch --play "$command.vdj" --output sorted.tsv table.tsv > log 2>&1 < /dev/null
    seen=$(tail -n +2 sorted.tsv | cut -f 2 | sed 's/^$/-/' | paste -s -d ' ')
    printf '%-29s %s\n' "$title:" "$seen"
    [ "$seen" = "$expected" ] || { echo "$title changed"; exit 1; }
}

check '3, 1.5, 1 and 2, ascending' 1.5 sort-asc '1.00 1.50 2.00 3.00'
check '3, empty, 1 and 2, ascending' '' sort-asc '- 1.00 2.00 3.00'
check '3, nan, 1 and 2, ascending' nan sort-asc '3.00 - 1.00 2.00'
check '3, nan, 1 and 2, descending' nan sort-desc '3.00 - 2.00 1.00'
