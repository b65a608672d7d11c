"""Sorts the lines of a file with DuckDB: INPUT OUTPUT THREADS TEMPORARY_FOLDER [MEMORY_LIMIT]"""

import sys

import duckdb

source, target, threads, folder = sys.argv[1:5]
db = duckdb.connect(config={"threads": int(threads), "temp_directory": folder, "preserve_insertion_order": "false"})
if len(sys.argv) > 5:
    db.execute(f"SET memory_limit = '{sys.argv[5]}'")

# A line is one field: a delimiter that does not occur, no quotes, no escapes.
fields = "delim = '\\x01', quote = '', escape = '', header = false"
lines = f"read_csv('{source}', columns = {{'line': 'VARCHAR'}}, auto_detect = false, {fields})"
db.execute(f"COPY (SELECT line FROM {lines} ORDER BY line) TO '{target}' (FORMAT csv, {fields.replace(' =', '')})")
