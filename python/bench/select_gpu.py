"""Measures selections on a GPU beside torch, in one run: `python python/bench/select_gpu.py [ROW ..]`.

As `gpu.py`. "reads" is the time over that of `torch.amax` of the same keys, which reads each of them once. The first keys of at most 2^26
are compared with torch's stable sort before they are measured; `tests/test_gpu.py` compares the other results.
"""

import sys

import sortie
import torch

from gpu import medians, row, uniform


def ints(below, *shape, dtype=torch.float32):
    generator = torch.Generator("cuda").manual_seed(2)
    return torch.randint(0, below, shape, device="cuda", generator=generator).to(dtype)


def beside_amax(name, a, sides, check=None, rounds=9):
    if check is not None and a.numel() <= 2**26:
        assert check(), name
    times = medians({side: (lambda: a, work) for side, work in sides.items()} | {"amax": (lambda: a, lambda a: a.amax(-1))}, rounds)
    read = times.pop("amax")
    ours = next(measured for side, measured in times.items() if side.startswith("sortie"))
    row(name, times, reads=round(ours / read, 2), read=round(read, 4))


def top_k(name, a, k):
    def is_right():
        expected = torch.sort(a, dim=-1, descending=True, stable=True)[1][..., :k]
        return torch.equal(sortie.arg_top_k(a, k).to(torch.int64), expected)

    sides = {"sortie.arg_top_k": lambda a: sortie.arg_top_k(a, k), "torch.topk": lambda a: a.topk(k)}
    beside_amax(name, a, sides, is_right)


def arrays():
    a = uniform(2**28)
    for k in (1, 16, 256, 4096, 2**16, 2**20):
        top_k(f"top {k} of f32 2^28", a, k)
    for n, k in ((1000, 10), (32_000, 40), (151_936, 20), (10**6, 10)):
        top_k(f"top {k} of f32 {n}", uniform(n), k)


def distributions():
    n = 2**28
    ramp = torch.arange(n, device="cuda", dtype=torch.int32).to(torch.float32)
    inputs = {
        "all equal": lambda: torch.ones(n, device="cuda"),
        "two values": lambda: ints(2, n),
        "100 values": lambda: ints(100, n),
        "near 1.0": lambda: 1 + uniform(n) / 1000,
        "in order": lambda: ramp,
        "in reverse order": lambda: -ramp,
        "sorted in blocks of 1,000": lambda: (uniform(n // 1000, 1000).sort(-1)[0] + 0).flatten(),
        "one outlier": lambda: torch.ones(n, device="cuda").index_fill_(0, torch.tensor(n // 3, device="cuda"), 2),
        "90% NaNs": lambda: torch.where(uniform(n) < 0.9, torch.nan, uniform(n) * 5),
    }
    for name, draw in inputs.items():
        top_k(f"top 100 of f32 2^28, {name}", draw(), 100)


ROWS = ((10_000, 10_000, 16), (1000, 100_000, 64), (128, 151_936, 50), (100_000, 1000, 8), (32, 2**22, 1000), (4096, 8192, 2048))
MORE_ROWS = (
    *((100_000, 1000, k) for k in (64, 512)), *((10_000, 10_000, k) for k in (8, 128, 512)), *((1000, 10**5, k) for k in (8, 512)),
    *((100, 10**6, k) for k in (8, 512)), *((10, 10**7, k) for k in (8, 512)), (256, 50_257, 100), (64, 128_256, 50), (2000, 5000, 300),
)


def rows():
    for count, length, k in ROWS + MORE_ROWS:
        top_k(f"top {k} of {count} rows of {length} f32", uniform(count, length), k)


def order_statistics():
    a = uniform(2**28)
    beside_amax("median of f32 2^28", a, {"sortie.median": sortie.median, "torch.median": torch.median}, rounds=5)
    for count in (3, 9, 19, 99):
        q = [(i + 1) / (count + 1) for i in range(count)]
        beside_amax(f"{count} quantiles of f32 2^28", a, {
            "sortie.quantile": lambda a: sortie.quantile(a, q), "torch.sort": torch.sort,
        })


def distinct():
    for dtype in (torch.int32, torch.float32, torch.int64, torch.int16):
        for exponent in (26, 28) if dtype != torch.int64 else (26,):
            for below in (16, 1000, 2**16, 2**20, 2 ** (exponent - 1)):
                if dtype == torch.int16 and below > 2**15:
                    continue
                a = ints(below, 2**exponent, dtype=dtype)
                beside_amax(f"unique with counts of {dtype} 2^{exponent} below {below}", a, {
                    "sortie.unique": lambda a: sortie.unique(a, return_counts=True),
                    "torch.unique": lambda a: torch.unique(a, return_counts=True),
                }, rounds=5)


def positions():
    for dtype in (torch.float32, torch.int32):
        keys, queries = ((ints(2**31 - 1, 2**26, dtype=torch.int32) if dtype == torch.int32 else uniform(2**26)) for _ in range(2))
        keys = keys.sort()[0]
        for name, asked in (("random", queries.flip(0)), ("sorted", queries.sort()[0])):
            beside_amax(f"searchsorted of 2^26 {name} queries in 2^26 {dtype}", asked, {
                "sortie.searchsorted": lambda v: sortie.searchsorted(keys, v), "torch.searchsorted": lambda v: torch.searchsorted(keys, v),
            }, rounds=5)


if __name__ == "__main__":
    measured = {work.__name__: work for work in (arrays, distributions, rows, order_statistics, distinct, positions)}
    print(f'{{"device": "{torch.cuda.get_device_name()}", "torch": "{torch.__version__}"}}', flush=True)
    for name in sys.argv[1:] or measured:
        measured[name]()
        torch.cuda.empty_cache()
