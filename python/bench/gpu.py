"""Measures arrays on a GPU beside torch and CuPy, in one run: `python python/bench/gpu.py [ROW ..]`.

Each side sorts the same data, alternately, and the median of its times counts: by events of the stream that the work is
enqueued on, or by the host's clock where a row says "a call". Build the package with `maturin build --release`. Results are lines of JSON, with the ratio of the best peer's
time to ours.
"""

import json
import statistics
import sys
import time

import cupy
import sortie
import torch


def milliseconds(prepare, work):
    """The time of the work on the GPU. What it enqueues is queued behind a pause, so that the host's share is not in it."""
    data = prepare()
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    torch.cuda._sleep(3_000_000)
    first.record()
    work(data)
    last.record()
    torch.cuda.synchronize()
    return first.elapsed_time(last)


def milliseconds_of_a_call(prepare, work):
    """The time of a call and of waiting for it, by the host's clock."""
    data = prepare()
    torch.cuda.synchronize()
    start = time.perf_counter()
    work(data)
    torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e3


def medians(sides, rounds=7, clock=milliseconds):
    """The median time of each side in milliseconds. A side is a function that prepares data, and one that is measured with it."""
    for side in sides.values():
        clock(*side)
    times = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            times[name].append(clock(*side))
    return {name: statistics.median(measured) for name, measured in times.items()}


def row(name, times, **more):
    peers = {side: measured for side, measured in times.items() if not side.startswith("sortie")}
    peer = min(peers, key=peers.get)
    ours = min(measured for side, measured in times.items() if side.startswith("sortie"))
    print(json.dumps({
        "row": name,
        "milliseconds": {side: float(f"{measured:.4g}") for side, measured in times.items()},
        "ratios": {side: round(measured / ours, 2) for side, measured in peers.items()},
        "peer": peer,
        **more,
    }), flush=True)


def uniform(*shape):
    return torch.rand(shape, device="cuda", generator=torch.Generator("cuda").manual_seed(1))


def on_the_same_stream(work):
    """CuPy's work on torch's stream, so that torch's events measure it."""
    with cupy.cuda.Stream.from_external(torch.cuda.current_stream()):
        return work()


def sort_f32():
    n = 2**28
    generator = torch.Generator("cuda").manual_seed(2)
    inputs = {
        "uniform in [0, 1)": lambda: uniform(n),
        "normal": lambda: torch.randn(n, device="cuda", generator=generator),
        "any bits, NaNs too": lambda: torch.randint(-2**31, 2**31, (n,), dtype=torch.int32, device="cuda", generator=generator)
        .view(torch.float32),
    }
    for name, draw in inputs.items():
        a = draw()
        row(f"sort f32 2^28 in place, {name}", medians({
            "sortie": (a.clone, sortie.sort_inplace),
            "torch.sort": (a.clone, torch.sort),
            "cupy.sort": (lambda: cupy.from_dlpack(a.clone()), lambda a: on_the_same_stream(lambda: cupy.sort(a))),
        }))


def memory():
    """The most memory that a sort holds beside its input, over the input's size."""
    a = uniform(2**28)
    size = a.numel() * 4

    def beside(work):
        torch.cuda.empty_cache()
        before = torch.cuda.memory_allocated()
        free, _ = torch.cuda.mem_get_info()
        torch.cuda.reset_peak_memory_stats()
        work()
        torch.cuda.synchronize()
        # Memory that torch's pool has not given may have been taken from the driver; it keeps what it took.
        taken = free - torch.cuda.mem_get_info()[0]
        return max(torch.cuda.max_memory_allocated() - before, taken) / size

    sortie.sort_inplace(uniform(1000))
    ours = beside(lambda: sortie.sort_inplace(a))
    theirs = beside(lambda: torch.sort(a))
    print(json.dumps({"row": "memory beside the input of 2^28 f32", "sortie": round(ours, 3), "torch.sort": round(theirs, 3)}), flush=True)


def rows_of_a_matrix():
    a = uniform(200_000, 1000)
    row("200,000 x 1000 f32, last axis", medians({
        "sortie.sort": (lambda: a, sortie.sort),
        "sortie.sort_inplace": (a.clone, sortie.sort_inplace),
        "torch.sort": (lambda: a, torch.sort),
    }, rounds=5))


def argsort():
    for exponent in range(12, 29):
        a = uniform(2**exponent)
        sides = {"sortie": (lambda: a, sortie.argsort), "torch.argsort": (lambda: a, torch.argsort)}
        rounds = 21 if exponent < 24 else 7
        row(f"argsort f32 2^{exponent}", medians(sides, rounds))
        row(f"argsort f32 2^{exponent}, a call", medians(sides, rounds, milliseconds_of_a_call))


def ten_elements():
    a = uniform(10)
    sides = {
        "sortie.sort": (lambda: a, sortie.sort),
        "sortie.sort_inplace": (lambda: a, sortie.sort_inplace),
        "torch.sort": (lambda: a, torch.sort),
    }
    row("10 elements, a call", medians(sides, 1001, milliseconds_of_a_call))
    row("10 elements", medians(sides, 101))


ROWS = {work.__name__: work for work in (sort_f32, memory, rows_of_a_matrix, argsort, ten_elements)}

if __name__ == "__main__":
    for name in sys.argv[1:] or ROWS:
        ROWS[name]()
        torch.cuda.empty_cache()
