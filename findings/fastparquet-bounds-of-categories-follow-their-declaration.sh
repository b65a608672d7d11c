#!/usr/bin/env bash
# Fastparquet writes the bounds of a categorical column in the order of its declaration, so that filters of readers find no row.
#
# Expected: the bounds of text in a Parquet file are those in the order of bytes: high to middle. A categorical without order, at least,
#   has no other.
# Seen: with stats=True the bounds of low, middle, high are min=low and max=high, the first and the last that were declared, ordered or
#   not. Nothing lies between them in the order of bytes: filters of fastparquet itself, DuckDB and DataFusion skip the file for all three
#   values. Written as text, the same column is found. No error, no warning.
# Versions: fastparquet 2026.9.0, pandas 3.1.1, duckdb 2.0.1, datafusion 55.0.0. Date: 2026-11-30.
# Output seen:
#   categories  bounds ('low', 'high')     rows found: fastparquet 0 DuckDB 0 DataFusion 0
#   text        bounds ('high', 'middle')  rows found: fastparquet 3 DuckDB 3 DataFusion 3
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet fastparquet==2026.9.0 pandas==3.1.1 duckdb==2.0.1 datafusion==55.0.0
cd "$folder"
venv/bin/python -W ignore - << 'END'
import datafusion
import duckdb
import fastparquet
import pandas

sizes = ["low", "middle", "high"]


def found(name, values):
    fastparquet.write(f"{name}.parquet", pandas.DataFrame({"size": values}), stats=True)
    file = fastparquet.ParquetFile(f"{name}.parquet")
    bounds = file.statistics["min"]["size"][0], file.statistics["max"]["size"][0]
    session = datafusion.SessionContext()
    session.register_parquet("t", f"{name}.parquet")
    counts = [0, 0, 0]
    for size in sizes:
        counts[0] += len(file.to_pandas(filters=[("size", "==", size)], row_filter=True))
        counts[1] += duckdb.sql(f"SELECT count(*) FROM '{name}.parquet' WHERE size = '{size}'").fetchall()[0][0]
        counts[2] += session.sql(f"SELECT size FROM t WHERE size = '{size}'").count()
    print(f"{name:11} bounds {str(bounds):19} rows found: fastparquet {counts[0]} DuckDB {counts[1]} DataFusion {counts[2]}")
    return bounds, counts


assert found("categories", pandas.Categorical(sizes, sizes)) == (("low", "high"), [0, 0, 0]), "the bounds of categories changed"
assert found("text", pandas.Series(sizes)) == (("high", "middle"), [3, 3, 3]), "the bounds of text changed"
END
