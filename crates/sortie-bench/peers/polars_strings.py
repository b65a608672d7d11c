"""Sorts strings with Polars, and says how long that took: TEXT OFFSETS PLACES THREADS

TEXT has the bytes, OFFSETS where each string begins and the last one ends, as 64-bit numbers. The places in order are written to
PLACES, as 32-bit numbers.
"""

import os
import sys
import time

text, offsets, places, threads = sys.argv[1:5]
os.environ["POLARS_MAX_THREADS"] = threads

import numpy
import polars  # it reads the number of threads when it is loaded
import pyarrow

buffers = [None, pyarrow.memory_map(offsets).read_buffer(), pyarrow.memory_map(text).read_buffer()]
count = os.path.getsize(offsets) // 8 - 1
strings = polars.from_arrow(pyarrow.Array.from_buffers(pyarrow.large_string(), count, buffers)).rechunk()
start = time.perf_counter()
sorted_places = strings.arg_sort()
seconds = time.perf_counter() - start
sorted_places.to_numpy().astype(numpy.uint32).tofile(places)
print(seconds)
