"""Edges of a histogram in the type of its elements, so that comparing with them is exact."""

import math
from typing import Any

import numpy as np


def of_type(edges: Any, name: str, ends: tuple[Any, Any] | None = None) -> tuple[Any, int]:
    """Edges of the type of this name that divide its numbers alike, and how many of the bins between them count.

    An edge becomes the least number of the type that is not less, so that the numbers from it on are the same. Only the last bin has its last
    edge. So the least number after that edge ends the last bin that counts, unless there is none. Edges that no number reaches are left out, with
    their bins.

    name
        The name of the type. ``bfloat16``, which NumPy does not have, is in the form of ``float32``.
    ends
        The limits from which edges were computed. The first and the last edge may be these, rounded.
    """
    kind = _kind_of(name)
    result, count = _of_floats(edges, name) if kind.kind == "f" else _of_integers(_unrounded(edges.tolist(), ends), kind)
    return np.array(result, dtype=kind), count


def widths(edges: Any) -> Any:
    """The widths of bins, as NumPy has them where differences of integers do not wrap."""
    if edges.dtype.kind != "f":
        # Of ascending numbers, differences modulo 2^64 are right.
        edges = edges if edges.dtype == np.uint64 else edges.astype(np.int64).view(np.uint64)
    return np.diff(edges).astype(float)


def _kind_of(name: str) -> Any:
    return np.dtype("float32" if name == "bfloat16" else name)


def _of_floats(edges: Any, name: str) -> tuple[Any, int]:
    infinity = _kind_of(name).type(np.inf)
    result = _next_floats(edges, name)
    if edges[-1] == infinity:
        return _with_all_zeros(result), result.size - 1
    if result[-1].item() == edges[-1].item():
        # The next edge of as many digits or fewer is not after the next number.
        result[-1:] = _next_floats(np.nextafter(result[-1:], infinity), name)
    return _with_all_zeros(np.append(result, infinity)), result.size - 1


def _with_all_zeros(edges: Any) -> Any:
    """Edges of which zeros are -0.0, which is the lesser zero in the order of the library."""
    return np.where(edges == 0, -np.zeros_like(edges), edges)


def _next_floats(edges: Any, name: str) -> Any:
    """For each edge, the least number of this type that is not less."""
    kind = _kind_of(name)
    with np.errstate(over="ignore"):
        near = edges.astype(kind)
    # Python compares floats and integers exactly.
    is_less = np.array([number < edge for number, edge in zip(near.tolist(), edges.tolist(), strict=True)], dtype=bool)
    with np.errstate(over="ignore"):
        result = np.where(is_less, np.nextafter(near, kind.type(np.inf)), near)
    if name != "bfloat16":
        return result
    bits = result.view(np.uint32)
    is_between = (bits & 0xFFFF) != 0
    up = np.where(result > 0, (bits | np.uint32(0xFFFF)) + np.uint32(1), bits & np.uint32(0xFFFF0000))
    return np.where(is_between, up, bits).view(np.float32)


def _unrounded(edges: list[Any], ends: tuple[Any, Any] | None) -> list[Any]:
    """Edges whose first and last are the limits from which they were computed, which floats may have rounded."""
    if ends is None:
        return edges
    low, high = ends
    if low == high:
        # NumPy has widened them.
        return [min(edges[0], low), *edges[1:-1], max(edges[-1], high)]
    return [low, *(min(max(edge, low), high) for edge in edges[1:-1]), high]


def _of_integers(edges: list[Any], kind: Any) -> tuple[list[int], int]:
    limits = np.iinfo(kind)
    least, greatest = int(limits.min), int(limits.max)
    # One more than the greatest stands for all that no integer reaches.
    wholes = [greatest + 1 if edge > greatest else max(least, math.ceil(edge)) if edge > least else least for edge in edges]
    lower = [whole for whole in wholes[:-1] if whole <= greatest]
    if edges[-1] >= greatest:
        return [*lower, greatest], len(lower)
    return [*lower, wholes[-1] + (wholes[-1] == edges[-1]), greatest], len(lower)
