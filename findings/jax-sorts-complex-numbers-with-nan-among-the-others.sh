#!/usr/bin/env bash
# jax.numpy.sort leaves 1+nan i before 2, where numpy.sort puts every complex number with a NaN last.
#
# Expected: jax.numpy.sort is numpy.sort, and NaN is last, as for real numbers in both.
# Seen: real parts are compared first, so a NaN in the imaginary part is anywhere in the result. What searches the numbers before the
#   first NaN, or cuts them off there, loses 2. No error, no warning.
# Versions: jax 0.10.2, numpy 2.4.6. Date: 2026-11-29.
# Output seen:
#   jax   [(1+0j), (1+nanj), (2+0j)]
#   numpy [(1+0j), (2+0j), (1+nanj)]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
cd "$folder"
venv/bin/python - << 'END'
import jax.numpy
import numpy

values = numpy.array([2, complex(1, numpy.nan), 1], numpy.complex64)
there, here = jax.numpy.sort(values).tolist(), numpy.sort(values).tolist()
print("jax  ", there)
print("numpy", here)
assert str(here) == "[(1+0j), (2+0j), (1+nanj)]", "numpy changed"
assert str(there) == "[(1+0j), (1+nanj), (2+0j)]", "jax puts NaN last now"
END
