#!/usr/bin/env bash
# torch.searchsorted finds no number in the result of torch.sort if NaNs are at its end.
#
# Expected: torch.sort puts NaNs last, and searchsorted searches such an array, as numpy.searchsorted does with that of numpy.sort.
# Seen: in [1, 2, nan, nan, nan, nan] the position of 1, 1.5 and 2 is 6, the end, from either side. A comparison with the NaN in the
#   middle is false, and the search goes on behind it. bucketize is the same. With one NaN, only the position of 2 from the right is
#   wrong. So it depends on how many NaNs there are. The documentation mentions NaN as a value to search for, not as an element. No
#   error, no warning.
# Versions: torch 2.15.0 on the CPU, numpy 2.4.6. Date: 2026-11-29.
# Output seen:
#   [1.0, 2.0, nan]
#     torch [0, 1, 1]  from the right [1, 1, 3]  bucketize [0, 1, 1]  numpy [0, 1, 1]
#   [1.0, 2.0, nan, nan, nan, nan]
#     torch [6, 6, 6]  from the right [6, 6, 6]  bucketize [6, 6, 6]  numpy [0, 1, 1]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-cache-dir --no-deps torch==2.15.0 \
    nvidia-{cuda-runtime,cuda-cupti,cuda-nvrtc,nvjitlink}==13.2.86 \
    nvidia-cublas==13.10.0.20 nvidia-cufft==12.5.0.14 nvidia-cufile==1.20.0.107 nvidia-cusparse==12.9.4.2 \
    nvidia-cudnn-cu13==9.26.0.51 nvidia-cusparselt-cu13==0.8.1 nvidia-nccl-cu13==2.30.7 nvidia-nvshmem-cu13==3.7.2
"$folder/venv/bin/pip" install --quiet numpy==2.4.6 typing_extensions sympy networkx jinja2 fsspec filelock 2> /dev/null
cd "$folder"
venv/bin/python - << 'END'
import numpy
import torch

wanted = [1.0, 1.5, 2.0]


def search(values):
    array = torch.sort(torch.tensor(values)).values
    left = torch.searchsorted(array, torch.tensor(wanted)).tolist()
    right = torch.searchsorted(array, torch.tensor(wanted), right=True).tolist()
    buckets = torch.bucketize(torch.tensor(wanted), array).tolist()
    expected = numpy.searchsorted(array.numpy(), wanted).tolist()
    print(array.tolist())
    print(f"  torch {left}  from the right {right}  bucketize {buckets}  numpy {expected}")
    assert expected == [0, 1, 1] and buckets == left, "numpy or bucketize changed"
    return left, right


nan = float("nan")
assert search([2, nan, 1]) == ([0, 1, 1], [1, 1, 3]), "with one NaN the positions changed"
assert search([2, nan, 1, nan, nan, nan]) == ([6, 6, 6], [6, 6, 6]), "with four NaNs, numbers are found now"
END
