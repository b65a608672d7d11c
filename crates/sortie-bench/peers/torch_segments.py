"""Sorts batches with torch.sort: a line `SEGMENTS LENGTH SEED` in, a line out, `right MILLISECONDS`,
`wrong MILLISECONDS` or `error: ...`."""

import sys

import torch

print(torch.__version__, flush=True)


def sort(segments, length, seed):
    generator = torch.Generator("cuda").manual_seed(seed)
    keys = torch.rand(segments, length, device="cuda", generator=generator)
    torch.sort(keys, dim=1)  # so that the memory is there when it counts
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    values, places = torch.sort(keys, dim=1)
    end.record()
    end.synchronize()
    # A part at a time: checking all at once would take as much memory again.
    parts = zip(*(whole.split(max(1, (1 << 26) // length)) for whole in (keys, values, places)))
    verdict = "right" if all(in_order(*part) for part in parts) else "wrong"
    return verdict, start.elapsed_time(end)


def in_order(keys, values, places):
    ascending = (values[:, 1:] >= values[:, :-1]).all()
    return ascending and torch.equal(keys.gather(1, places), values)


for line in sys.stdin:
    try:
        print(*sort(*map(int, line.split())), flush=True)
    except RuntimeError as error:
        print("error:", str(error).splitlines()[0], flush=True)
    torch.cuda.empty_cache()  # the other contenders need it
