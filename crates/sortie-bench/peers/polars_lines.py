"""Sorts the lines of a file with Polars: INPUT OUTPUT THREADS"""

import os
import sys

source, target, threads = sys.argv[1:4]
os.environ["POLARS_MAX_THREADS"] = threads

import polars  # it reads the number of threads when it is loaded

# A line is one field: a separator that does not occur, no quotes.
lines = polars.scan_csv(source, has_header=False, separator="\x01", quote_char=None, schema={"line": polars.String})
lines.sort("line").sink_csv(target, include_header=False, separator="\x01", quote_style="never")
