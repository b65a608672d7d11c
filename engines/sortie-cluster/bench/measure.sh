#!/usr/bin/env bash
# Sorts the tables of the example `inputs` on clusters on this machine, and prints how long it took, how even the parts are, and
# how much the executors wrote. Then the same by ORDER BY, which merges in one task. Executors sort with Sortie in both.
#
#     bench/measure.sh FOLDER [SCALE]      in the folder sortie-cluster; SCALE is 10 by default, which takes 40 GB of disk
#
# PROGRAMS names a folder that has the programs already.
set -euo pipefail
folder=$(realpath -m "$1")
scale=${2:-10}
if [ -z "${PROGRAMS:-}" ]; then
    cargo build --release -p sortie-cluster --bins --examples
    PROGRAMS=$(realpath "${CARGO_TARGET_DIR:-../target}")/release
fi
program=$PROGRAMS/sortie-cluster
[ -d "$folder/lineitem" ] || "$PROGRAMS/examples/inputs" "$folder" "$scale"
all_work=$(mktemp -d "$folder/work-XXXX")
work=$all_work/work
trap 'kill $(jobs -p) 2> /dev/null; wait; rm -rf "$all_work"' EXIT

start() {
    rm -rf "$work"
    mkdir -p "$work"
    "$program" scheduler --bind 127.0.0.1:0 > "$work/scheduler" &
    until grep -q listening "$work/scheduler"; do sleep 0.1; done
    scheduler=$(sed 's/listening on //' "$work/scheduler")
    executors=()
    for i in $(seq "$1"); do
        "$program" executor --scheduler "$scheduler" --tasks 1 --memory 512 --work-dir "$work/executor$i" &
        executors+=($!)
    done
    sleep 1
}

written() {
    local bytes=0
    for pid in "${executors[@]}"; do
        bytes=$((bytes + $(sed -n 's/^write_bytes: //p' "/proc/$pid/io")))
    done
    echo $((bytes / 1000000))
}

stop() {
    kill $(jobs -p)
    wait || true
}

row() {
    local executors_count=$1 table=$2 by=$3 parts=$4 begin=$EPOCHREALTIME took even written_mb
    start "$executors_count"
    begin=$EPOCHREALTIME
    if [ "$parts" = 0 ]; then
        even=-
        "$program" sql --scheduler "$scheduler" "COPY (SELECT * FROM '$folder/$table/' ORDER BY $by) TO '$work/all.parquet'" \
            > "$work/log" 2>&1 || even=failed
    else
        "$program" sort --scheduler "$scheduler" --by "$by" "$folder/$table" -o "$work/sorted" --parts "$parts" > "$work/log" 2>&1 ||
            even=failed
        [ "${even:-}" = failed ] || even=$(python3 -c "
import json
parts = json.load(open('$work/sorted.manifest.json'))['parts']
rows, size = [p['rows'] for p in parts], [p['bytes'] for p in parts]
print(f'{max(rows) / min(rows):.3f}, {max(size) / min(size):.3f}')")
    fi
    took=$(awk "BEGIN { print $EPOCHREALTIME - $begin }")
    written_mb=$(written)
    printf '| %s | %s | %s | %s | %.0f | %s | %s |\n' "$executors_count" "$table" "$by" "$parts" "$took" "$even" "$written_mb"
    [ "$even" != failed ] || sed 's/^/    /' "$work/log" | tail -5
    stop
}

echo '| executors | table | keys | parts (0: ORDER BY) | seconds | largest over smallest part: rows, bytes | MB written by executors |'
echo '|---|---|---|---|---|---|---|'
for executors_count in 2 4; do
    for parts in 16 0; do
        row $executors_count lineitem 'l_shipmode, l_comment' $parts
        row $executors_count skewed s $parts
    done
    row $executors_count sixteen v 50
done
