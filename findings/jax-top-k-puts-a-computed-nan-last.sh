#!/usr/bin/env bash
# jax.lax.top_k takes jnp.nan as the largest value and the NaN of 0/0 or log(-1) as the smallest.
#
# Expected: one place for NaN, that of jnp.sort and jnp.argmax: a NaN is the greatest, so a training step that diverges shows one.
# Seen: top_k compares by IEEE 754's total order, which reads the sign of a NaN; jnp.sort and jnp.argmax do not. x86-64 processors
#   set the sign of a NaN that they compute, so a batch with a NaN yields top scores without one, and jnp.partition, which is written
#   with top_k, puts it first where NumPy puts it last. approx_max_k agrees with top_k. A test that writes jnp.nan into its input
#   sees the opposite.
# Versions: jax 0.10.2, numpy 2.4.6, on the CPU of an x86-64 machine. Date: 2026-11-29.
# Output seen:
#   jnp.nan  top_k [nan, 3.0]  approx_max_k [nan, 3.0]  partition [1.0, 3.0, nan]  sort, descending [nan, 3.0, 1.0]  argmax 1
#   0/0      top_k [3.0, 1.0]  approx_max_k [3.0, 1.0]  partition [nan, 1.0, 3.0]  sort, descending [nan, 3.0, 1.0]  argmax 1
#   log(-1)  top_k [3.0, 1.0]  approx_max_k [3.0, 1.0]  partition [nan, 1.0, 3.0]  sort, descending [nan, 3.0, 1.0]  argmax 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[ "$(uname -m)" = x86_64 ] || { echo "needs an x86-64 processor" >&2; exit 1; }
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet jax==0.10.2 numpy==2.4.6
JAX_PLATFORMS=cpu "$folder/venv/bin/python" - << 'END'
import jax.numpy as jnp
import numpy
from jax import lax

inputs = {
    "jnp.nan": jnp.array([3.0, jnp.nan, 1.0]),
    "0/0": jnp.array([3.0, 0.0, 1.0]) / jnp.array([1.0, 0.0, 1.0]),
    "log(-1)": jnp.array([3.0, 0.0, 1.0]) + jnp.log(jnp.array([1.0, -1.0, 1.0])),
}
for name, scores in inputs.items():
    top = lax.top_k(scores, 2)[0].tolist()
    near = lax.approx_max_k(scores, 2)[0].tolist()
    parts = jnp.partition(scores, 1).tolist()
    descending = jnp.sort(scores, descending=True).tolist()
    largest = int(jnp.argmax(scores))
    print(f"{name:8} top_k {top}  approx_max_k {near}  partition {parts}  sort, descending {descending}  argmax {largest}")
    assert str(descending) == "[nan, 3.0, 1.0]" and largest == 1, "jnp.sort or jnp.argmax changed"
    assert str(top) == ("[nan, 3.0]" if name == "jnp.nan" else "[3.0, 1.0]"), "top_k changed"
    assert near == top or name == "jnp.nan", "approx_max_k differs from top_k now"
    assert numpy.isnan(parts[0]) == (name != "jnp.nan"), "partition changed"
    assert numpy.isnan(numpy.partition(numpy.array(scores), 1)[2]), "numpy changed"
END
