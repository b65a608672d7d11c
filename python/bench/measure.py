"""Measures this package beside NumPy, pyarrow, pandas, polars and DuckDB, in one run: `python python/bench/measure.py [ROW ..]`.

Each side sorts the same data, alternately, and the best of its times counts. Build the package with `maturin build --release`. Results are
lines of JSON, with the ratio of the best peer's time to ours.
"""

import json
import os
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
    by, down = ["city", "age", "score"], [False, True, False]
    connection = duckdb.connect()
    connection.execute(f"set threads = {THREADS}")
    connection.register("data", data)
    query = "select * from data order by city, age desc, score"
    return best({
        "sortie of pyarrow": on(data, lambda t: sortie.sort_by(t, by, descending=down, threads=THREADS)),
        "sortie of polars": on(frame, lambda t: sortie.sort_by(t, by, descending=down, threads=THREADS)),
        "polars": on(frame, lambda t: t.sort(by, descending=down)),
        "pyarrow": on(data, lambda t: t.sort_by([("city", "ascending"), ("age", "descending"), ("score", "ascending")])),
        "duckdb": on(None, lambda _: connection.sql(query).to_arrow_table()),
        "pandas": on(pandas, lambda t: t.sort_values(by, ascending=[not d for d in down])),
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


ROWS = {row.__name__: row for row in (ten_elements, argsort_f64, structured, string_dtype, arrow_strings, table, sort_u64)}

if __name__ == "__main__":
    for name in sys.argv[1:] or ROWS:
        times = ROWS[name]()
        ours = min(seconds for side, seconds in times.items() if side.startswith("sortie") and side != "sortie.argsort")
        peers = {side: seconds for side, seconds in times.items() if not side.startswith("sortie")}
        if name == "ten_elements":
            peers = {"np.sort": times["np.sort"]}
        peer = min(peers, key=peers.get)
        print(json.dumps({
            "row": name,
            "seconds": {side: float(f"{seconds:.4g}") for side, seconds in times.items()},
            "peer": peer,
            "ratio": round(peers[peer] / ours, 2),
        }), flush=True)
