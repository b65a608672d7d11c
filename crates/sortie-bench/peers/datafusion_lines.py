"""Sorts the lines of a file with DataFusion: INPUT OUTPUT THREADS TEMPORARY_FOLDER MEMORY_LIMIT, in bytes"""

import sys

import pyarrow
from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext

source, target, threads, folder, limit = sys.argv[1:6]
runtime = RuntimeEnvBuilder().with_temp_file_path(folder).with_fair_spill_pool(int(limit))
config = SessionConfig().with_target_partitions(int(threads))
# With less than this for merging runs, 1 GB of lines in 256 MB runs out of memory.
config = config.set("datafusion.execution.sort_spill_reservation_bytes", str(int(limit) // 4))
context = SessionContext(config, runtime)
# A line is one field: a delimiter that does not occur.
schema = pyarrow.schema([("line", pyarrow.string())])
context.register_csv("lines", source, schema=schema, has_header=False, delimiter="\x01", file_extension="")
options = "OPTIONS ('format.has_header' 'false', 'format.delimiter' '\x01')"
context.sql(f"COPY (SELECT line FROM lines ORDER BY line) TO '{target}' STORED AS CSV {options}").collect()
