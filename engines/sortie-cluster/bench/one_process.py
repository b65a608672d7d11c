"""Sorts a Parquet file to Parquet with `sql` and `sort` in one process, and with DataFusion and DuckDB from their Python packages.

    python bench/one_process.py PROGRAM FILE KEYS      in the folder sortie-cluster

PROGRAM is `sortie-cluster`, built with --release, FILE for example the table of `tpchgen-cli parquet -s 1 --tables=lineitem`, and KEYS a list
as of ORDER BY. Each side runs alternately, with two threads or tasks; its least time and its highest peak count. Prints rows of Markdown.
"""

import os
import subprocess
import sys
import tempfile
import time

ROUNDS = 2
THREADS = 2

DATAFUSION = """
import datafusion, sys
context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions({threads}))
context.register_parquet("t", {file!r})
context.sql("COPY (SELECT * FROM t ORDER BY {keys}) TO '{folder}/result.parquet' STORED AS PARQUET").collect()
"""

DUCKDB = """
import duckdb
connection = duckdb.connect()
connection.execute("SET threads = {threads}")
connection.execute("COPY (SELECT * FROM '{file}' ORDER BY {keys}) TO '{folder}/result.parquet'")
"""


def sides(program, file, keys, folder):
    def python(source):
        return [sys.executable, "-c", source.format(threads=THREADS, file=file, keys=keys, folder=folder)]

    def ours(command, *options):
        return [program, command, "--tasks", str(THREADS), "--work-dir", folder, *options]

    query = f"COPY (SELECT * FROM '{file}' ORDER BY {keys}) TO '{folder}/result.parquet'"
    sort = ["--by", keys, file, "-o", f"{folder}/sorted"]
    return {
        "DataFusion": python(DATAFUSION),
        "DuckDB": python(DUCKDB),
        "`sql`": ours("sql", query),
        "`sql --memory 512`": ours("sql", "--memory", "512", query),
        "`sort`, 4 parts": ours("sort", "--parts", "4", *sort),
        "`sort`, 1 part": ours("sort", "--parts", "1", *sort),
        "`sort --memory 512`, 4 parts": ours("sort", "--memory", "512", "--parts", "4", *sort),
    }


def run(command):
    """The seconds, CPU seconds and MiB of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} failed")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    program, file, keys = sys.argv[1:]
    measured = {}
    for _ in range(ROUNDS):
        for side in sides(program, file, keys, ""):
            with tempfile.TemporaryDirectory() as folder:
                measured.setdefault(side, []).append(run(sides(program, file, keys, folder)[side]))
    print("| side | seconds | CPU seconds | peak, MiB | times DataFusion's seconds |\n|---|---|---|---|---|")
    least = {side: [min(values) for values in zip(*runs)] for side, runs in measured.items()}
    for side, runs in measured.items():
        seconds, cpu, _ = least[side]
        peak = max(peak for _, _, peak in runs)
        print(f"| {side} | {seconds:.1f} | {cpu:.1f} | {peak:.0f} | {seconds / least['DataFusion'][0]:.2f} |")


main()
