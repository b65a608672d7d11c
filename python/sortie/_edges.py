"""Edges of a histogram in the type of its elements, so that comparing with them is exact."""

import math
from typing import Any

import numpy as np


def of_type(edges: Any, name: str, ends: tuple[Any, Any] | None = None) -> tuple[Any, int]:
    """Edges of the type of this name for the same bins, and how many of these they begin with; elements of that type are in no other bin.

    Each edge becomes the least number of the type that is not less than it, so that a bin without its last edge keeps its elements. The last
    bin has its last edge. So the least number that is greater begins one more bin, which does not count. Zeros become -0.0, which is the
    lesser one in the order of the library. ``ends`` are the limits from which edges were computed, which these may have rounded. ``bfloat16``, which NumPy does not have, is in the form of ``float32``.
    """
    kind = np.dtype("float32" if name == "bfloat16" else name)
    if kind.kind == "f":
        lower, greatest = _floats(edges[:-1], name), np.inf
        # The next edge of as many digits or fewer is not after the next number.
        after = _floats(edges[-1:], name)
        after = _floats(np.nextafter(after, kind.type(np.inf)), name) if after[0].item() == edges[-1].item() else after
        result = np.concatenate((lower, after, [kind.type(greatest)])).astype(kind)
        result = np.where(result == 0, kind.type(-0.0), result)
    else:
        limits = np.iinfo(kind)
        greatest = limits.max
        numbers = edges.tolist()
        if ends is not None and ends[0] < ends[1]:
            numbers = [ends[0], *(min(max(number, ends[0]), ends[1]) for number in numbers[1:-1]), ends[1]]
        elif ends is not None:
            # NumPy widens them.
            numbers = [min(numbers[0], ends[0]), *numbers[1:-1], max(numbers[-1], ends[1])]
        wholes = [_ceiling(edge, limits.min, greatest + 1) for edge in numbers]
        lower = [whole for whole in wholes[:-1] if whole <= greatest]
        after = min(wholes[-1] + (wholes[-1] == numbers[-1]), greatest)
        result = np.array([*lower, after, greatest], dtype=kind)
    # Nothing is after the greatest number.
    last = numbers[-1] if kind.kind in "iu" else edges[-1]
    return (np.delete(result, -2) if last >= greatest else result), len(lower)


def widths(edges: Any) -> Any:
    """The widths of bins as NumPy has them, but that differences of integers do not wrap."""
    if edges.dtype.kind == "f":
        return np.diff(edges).astype(float)
    # Of ascending numbers, differences modulo 2^64 are right.
    return np.diff(edges if edges.dtype.kind == "u" and edges.dtype.itemsize == 8 else edges.astype(np.int64).view(np.uint64)).astype(float)


def _ceiling(edge: Any, least: int, most: int) -> int:
    """The least whole number that is not less than the edge, but not beyond these."""
    if edge >= most:
        return most
    return max(least, math.ceil(edge)) if edge > least else least


def _floats(edges: Any, name: str) -> Any:
    """For each edge, the least number of this type that is not less."""
    kind = np.dtype("float32" if name == "bfloat16" else name)
    with np.errstate(over="ignore"):
        near = np.asarray(edges).astype(kind)
    # Python compares floats and integers exactly.
    is_less = np.array([number < edge for number, edge in zip(near.tolist(), edges.tolist(), strict=True)], dtype=bool)
    result = np.where(is_less, np.nextafter(near, kind.type(np.inf)), near)
    if name != "bfloat16":
        return result
    bits = result.view(np.uint32)
    is_between = (bits & 0xFFFF) != 0
    up = np.where(result > 0, (bits | np.uint32(0xFFFF)) + np.uint32(1), bits & np.uint32(0xFFFF0000))
    return np.where(is_between, up, bits).view(np.float32)
