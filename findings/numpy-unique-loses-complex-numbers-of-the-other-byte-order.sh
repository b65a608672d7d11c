#!/usr/bin/env bash
# np.unique of complex numbers in big-endian order returns some of them and drops the others.
#
# Expected: the distinct numbers, whatever their byte order: np.sort, == and set() read them rightly.
# Seen: np.unique hashes complex numbers, and takes the bytes as if they were little-endian. Numbers whose reversed bytes spell NaN
#   are one NaN to it, so only one of them is returned. With return_counts=True it sorts, and returns all. No error. Such arrays come
#   from FITS files, IDL and radar archives, and from ">c8" in np.fromfile.
# Versions: numpy 2.4.6. Date: 2026-11-29.
# Output seen:
#   of 5000 numbers: little-endian 5000 big-endian 4960 big-endian with counts 5000
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import numpy as np

random = np.random.default_rng(1)
numbers = random.normal(size=5000) + 1j * random.normal(size=5000)
little, big = numbers.astype("<c8"), numbers.astype(">c8")
assert (little == big).all() and len(set(big.tolist())) == 5000
distinct = [len(np.unique(little)), len(np.unique(big)), len(np.unique(big, return_counts=True)[0])]
print("of 5000 numbers: little-endian {} big-endian {} big-endian with counts {}".format(*distinct))
assert distinct[0] == distinct[2] == 5000, "np.unique loses others too"
assert distinct[1] < 5000, "np.unique returns all big-endian numbers now"
END
