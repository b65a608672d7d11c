#!/usr/bin/env bash
# Starts a cluster on this machine and sorts a table on it: the names and sizes of all files in /usr, by size. Run it in engines/.
set -euo pipefail

cargo build --release -p sortie-cluster
program=${CARGO_TARGET_DIR:-target}/release/sortie-cluster
folder=$(mktemp -d)
executors=()
trap 'kill "${executors[@]}" && wait "${executors[@]}"; kill $(jobs -p); wait; rm -rf "$folder"' EXIT

find /usr -xdev -type f -printf '%s;%p\n' > "$folder/files.csv"

"$program" scheduler --bind 127.0.0.1:0 > "$folder/scheduler" &
until grep -q listening "$folder/scheduler"; do sleep 0.1; done
scheduler=$(sed 's/listening on //' "$folder/scheduler")
for executor in 1 2; do
    "$program" executor --scheduler "$scheduler" --tasks 1 --memory 256 --work-dir "$folder/executor$executor" &
    executors+=($!)
done

"$program" sql --scheduler "$scheduler" "
    CREATE EXTERNAL TABLE files (size BIGINT, path VARCHAR) STORED AS CSV LOCATION '$folder/files.csv'
        OPTIONS ('format.delimiter' ';', 'format.has_header' 'false', 'format.quote' '\"');
    COPY files TO '$folder/files/' STORED AS PARQUET"
"$program" sort --scheduler "$scheduler" --by "size DESC, path" "$folder/files/" -o "$folder/sorted" --parts 4
ls -l "$folder/sorted"
"$program" sql --scheduler "$scheduler" "SELECT * FROM '$folder/sorted/part-00000.parquet' LIMIT 5"
