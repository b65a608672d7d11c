"""Measures this package beside NumPy, pyarrow, pandas, polars and DuckDB, in one run: `python python/bench/measure.py [ROW ..]`.

Each side sorts the same data, alternately, and the best of its times counts. Where NumPy would use AVX-512, each row runs once more in a
process whose NumPy does without it, and the faster of both counts: on some CPUs that have AVX-512, NumPy's sort is slower with it. Build
the package with `maturin build --release`. Results are lines of JSON: first the CPU and what NumPy uses of it, then each row with the ratio
of the best peer's time to ours.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
import time

import numpy as np
import sortie

THREADS = 2
os.environ.setdefault("POLARS_MAX_THREADS", str(THREADS))


def best(sides, rounds=3):
    """The least time of each side in seconds. A side is a function that prepares data, and one that is measured with it."""
    times = {name: [] for name in sides}
    for _ in range(rounds):
        for name, (prepare, work) in sides.items():
            data = prepare()
            start = time.perf_counter()
            work(data)
            times[name].append(time.perf_counter() - start)
            del data
    return {name: min(measured) for name, measured in times.items()}


def on(data, work):
    return (lambda: data, work)


def sort_u64():
    a = np.random.default_rng(1).integers(0, 2**64, 10**8, dtype=np.uint64)
    return best({
        "sortie": (a.copy, lambda a: sortie.sort_inplace(a, threads=THREADS)),
        "ndarray.sort": (a.copy, np.ndarray.sort),
    })


def argsort_f64():
    a = np.random.default_rng(2).random(10**7)
    return best({
        "sortie": on(a, lambda a: sortie.argsort(a, threads=THREADS)),
        "np.argsort": on(a, np.argsort),
        "np.argsort stable": on(a, lambda a: np.argsort(a, kind="stable")),
    })


def structured():
    rng = np.random.default_rng(3)
    a = np.zeros(5 * 10**6, [("a", "i4"), ("b", "f8")])
    a["a"], a["b"] = rng.integers(0, 1000, len(a)), rng.random(len(a))
    return best({
        "sortie": on(a, lambda a: sortie.sort(a, order=["a", "b"], threads=THREADS)),
        "np.sort": on(a, lambda a: np.sort(a, order=["a", "b"])),
    }, rounds=2)


def words(n):
    rng = np.random.default_rng(4)
    return np.strings.add("word ", rng.integers(0, 10**9, n).astype("U10"))


def string_dtype():
    a = words(10**7).astype(np.dtypes.StringDType())
    return best({
        "sortie": on(a, lambda a: sortie.sort(a, threads=THREADS)),
        "np.sort": on(a, np.sort),
    }, rounds=2)


def arrow_strings():
    import polars as pl
    import pyarrow as pa
    import pyarrow.compute as pc

    a = pa.array(words(10**7))
    series = pl.Series(a)
    return best({
        "sortie": on(a, lambda a: sortie.sort(a, threads=THREADS)),
        "pyarrow": on(a, lambda a: a.take(pc.sort_indices(a))),
        "polars": on(series, lambda s: s.sort()),
        "sortie of polars": on(series, lambda s: sortie.sort(s, threads=THREADS)),
    })


def table():
    import duckdb
    import polars as pl
    import pyarrow as pa

    n, rng = 10**7, np.random.default_rng(5)
    cities = np.array([f"city {i:05}" for i in range(20_000)])
    data = pa.table({
        "city": cities[rng.integers(0, len(cities), n)],
        "age": rng.integers(0, 100, n, dtype=np.int32),
        "score": rng.random(n),
        "id": np.arange(n),
        "weight": rng.random(n).astype(np.float32),
    })
    frame = pl.DataFrame(data)
    pandas = data.to_pandas()
    by = ["city", "age", "score"]
    connection = duckdb.connect()
    connection.execute(f"set threads = {THREADS}")
    connection.register("data", data)
    query = "select * from data order by city, age, score"
    return best({
        "sortie of pyarrow": on(data, lambda t: sortie.sort_by(t, by, threads=THREADS)),
        "sortie of polars": on(frame, lambda t: sortie.sort_by(t, by, threads=THREADS)),
        "polars": on(frame, lambda t: t.sort(by)),
        "pyarrow": on(data, lambda t: t.sort_by([(name, "ascending") for name in by])),
        "duckdb": on(None, lambda _: connection.sql(query).to_arrow_table()),
        "pandas": on(pandas, lambda t: t.sort_values(by)),
    }, rounds=2)


def ten_elements():
    a, many = np.random.default_rng(6).random(10), 100_000

    def calls(call):
        return on(a, lambda a: [call(a) for _ in range(many)] and None)

    return {name: seconds / many for name, seconds in best({
        "sortie": calls(sortie.sort),
        "np.sort": calls(np.sort),
        "sortie.argsort": calls(sortie.argsort),
        "np.argsort": calls(np.argsort),
    }, rounds=5).items()}


def five_rows():
    """Tables of five rows, by one column of three."""
    import polars as pl
    import pyarrow as pa

    data = pa.table({"a": [3, 1, 2, 5, 4], "b": list("abcde"), "c": [1.0, 2.0, 3.0, 4.0, 5.0]})
    frame, pandas, many = pl.DataFrame(data), data.to_pandas(), 1000

    def calls(data, call):
        return on(data, lambda data: [call(data) for _ in range(many)] and None)

    def ours(table):
        return sortie.sort_by(table, "a")

    return {name: seconds / many for name, seconds in best({
        "sortie of pyarrow": calls(data, ours),
        "pyarrow": calls(data, lambda table: table.sort_by("a")),
        "sortie of polars": calls(frame, ours),
        "polars": calls(frame, lambda table: table.sort("a")),
        "sortie of pandas": calls(pandas, ours),
        "pandas": calls(pandas, lambda table: table.sort_values("a", kind="stable")),
    }, rounds=5).items()}


def wide_matrix(dtype):
    a = np.random.default_rng(7).integers(0, 2**16, (1000, 10_000)).astype(dtype)
    return best({
        "sortie": on(a, lambda a: sortie.sort(a, axis=0, threads=THREADS)),
        "sortie of one thread": on(a, lambda a: sortie.sort(a, axis=0, threads=1)),
        "np.sort": on(a, lambda a: np.sort(a, axis=0)),
    }, rounds=5)


def wide_f32():
    return wide_matrix(np.float32)


def wide_f64():
    return wide_matrix(np.float64)


ROWS = {row.__name__: row for row in (ten_elements, five_rows, wide_f32, wide_f64, argsort_f64, structured, string_dtype, arrow_strings, table, sort_u64)}

WITHOUT = " without AVX-512"


def avx512():
    """What NumPy uses of AVX-512 here, as its variable NPY_DISABLE_CPU_FEATURES names it."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    return [feature for feature in found if feature.startswith("AVX512") or feature == "X86_V4"]


def machine():
    with open("/proc/cpuinfo") as about:
        cpu = next(line.split(":")[1].strip() for line in about if line.startswith("model name"))
    packages = ("sortie-engine", "numpy", "pyarrow", "pandas", "polars", "duckdb")
    return {
        "row": "machine",
        "cpu": cpu,
        "threads": THREADS,
        "numpy uses": np.show_config(mode="dicts")["SIMD Extensions"]["found"],
        "versions": {package: importlib.metadata.version(package) for package in packages},
    }


def times_of(name, disabled):
    """The times of the sides of a row, in a process whose NumPy does without some features."""
    environment = os.environ | ({"NPY_DISABLE_CPU_FEATURES": " ".join(disabled)} if disabled else {})
    command = [sys.executable, __file__, "--times", name]
    return json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)


def of_numpy(side):
    return side.startswith(("np.", "ndarray."))


def measured(name):
    """The times of the sides of a row, those of NumPy with and without AVX-512."""
    times = times_of(name, [])
    if avx512() and any(map(of_numpy, times)):
        for side, seconds in times_of(name, avx512()).items():
            if of_numpy(side):
                times[side + WITHOUT] = seconds
            else:
                times[side] = min(times[side], seconds)
    return times


def summary(name, times):
    ours = min(seconds for side, seconds in times.items() if side.startswith("sortie") and side != "sortie.argsort")
    peers = {side: seconds for side, seconds in times.items() if not side.startswith("sortie")}
    if name == "ten_elements":
        peers = {side: seconds for side, seconds in peers.items() if side.startswith("np.sort")}
    peer = min(peers, key=peers.get)
    return {
        "row": name,
        "seconds": {side: float(f"{seconds:.4g}") for side, seconds in times.items()},
        "peer": peer,
        "ratio": round(peers[peer] / ours, 2),
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["--times"]:
        print(json.dumps(ROWS[sys.argv[2]]()))
    else:
        print(json.dumps(machine()), flush=True)
        for name in sys.argv[1:] or ROWS:
            print(json.dumps(summary(name, measured(name))), flush=True)
