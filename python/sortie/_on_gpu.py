"""Quantiles, ranks, histograms and joins of arrays in GPU memory, by the arithmetic of their libraries, which is that of NumPy."""

import importlib
import math
from typing import Any

import numpy as np

from . import _edges, _sortie


def quantile(a: Any, q: Any, is_weak: bool, axis: Any, method: str, keepdims: bool) -> Any:
    """Quantiles of an array on a GPU. ``is_weak`` is whether ``q`` was a number of Python, which has no type of its own."""
    lanes = _Lanes(a, axis, "quantiles")
    low, high, shares, is_discrete = _sortie._quantile_positions(method, q.ravel().astype(float).tolist(), lanes.n)
    share = np.array(shares, dtype=q.dtype if q.dtype.kind == "f" and not is_weak else float)
    if is_discrete or method == "linear" and q.dtype.kind in "iub":
        (lower,) = lanes.at([low], q.shape)
        return lanes.finished(lower, keepdims, q.ndim)
    # The nearer element, and how far from it the quantile is, in steps from one element to the other.
    near = np.where(share < 0.5, low, high).tolist()
    steps = np.where(share < 0.5, share, -(1 - share))
    high = np.where(share == 0, low, high).tolist()
    type_of_share = "float64" if q.dtype.kind != "f" or is_weak else q.dtype.name
    result_type = lanes.name if is_weak and lanes.is_float else lanes.with_float(type_of_share)
    # First, as the copy of it would wait for the selection.
    steps = lanes.constant(steps.reshape(q.shape + (1,) * (lanes.others if q.ndim > 0 else 0)), result_type)
    lower, upper, nearer = lanes.at([low, high, near], q.shape)
    result = lanes.cast(nearer, result_type) + lanes.step(lower, upper, result_type) * steps
    return lanes.finished(lanes.where(lower == upper, lanes.cast(lower, result_type), result), keepdims, q.ndim)


def median(a: Any, axis: Any, keepdims: bool) -> Any:
    """The median of an array on a GPU."""
    lanes = _Lanes(a, axis, "a median")
    lower, upper = lanes.at([[(lanes.n - 1) // 2], [lanes.n // 2]], ())
    result_type = lanes.name if lanes.is_float else "float64"
    wide = "float32" if result_type in ("float16", "bfloat16") else result_type
    result = lanes.cast(lower, wide)
    if lanes.n % 2 == 0:
        result = lanes.cast((result + lanes.cast(upper, wide)) / 2, result_type)
    return lanes.finished(lanes.cast(result, result_type), keepdims, 0)


# The edges between which a kernel counts.
_MOST_EDGES = 2048


def histogram(a: Any, bins: Any, range: Any, density: Any, weights: Any) -> tuple[Any, Any]:
    """A histogram of an array on a GPU."""
    if weights is not None or isinstance(bins, str):
        raise TypeError("a histogram on a GPU has no weights, and its bins are a number or edges; move the array to the CPU for others")
    functions = _functions_of(a)
    a = _cast(a, functions, "uint8") if _name_of(a) == "bool" else a
    name = _name_of(a)
    # Of the type of the elements, which that of the edges depends on.
    asks = np.ndim(bins) == 0 and range is None and math.prod(a.shape) > 0
    ends = np.array([a.min().item(), a.max().item()] if asks else [], dtype="float32" if name == "bfloat16" else name)
    edges = np.histogram_bin_edges(ends, _on_host(bins), range)
    if np.isnan(edges).any():
        raise ValueError("an edge is NaN; give edges that are numbers")
    counts = _moved(np.zeros(max(edges.size - 1, 0), dtype=np.int64), functions, a, "int64")
    if edges.size > 1:
        limits = range if range is not None else tuple(ends.tolist()) if asks else None
        between, count = _edges.of_type(edges, name, limits if np.ndim(bins) == 0 else None)
        counts[:count] = _counts_between(a.reshape(-1), _moved(between, functions, a, name))[:count]
    placed = _moved(edges, functions, a, edges.dtype.name)
    if density:
        counts = counts / _moved(_edges.widths(edges), functions, a, "float64") / counts.sum()
    return counts, placed


def _counts_between(keys: Any, edges: Any) -> Any:
    """How many keys are in each bin between edges of their type. The last edge belongs to the last bin."""
    if len(edges) == 1:
        return edges[:0]
    if len(edges) <= _MOST_EDGES:
        return _sortie._histogram_on_gpu(keys, edges)
    ordered = _sortie.sort(keys)
    before: Any = _sortie._search_on_gpu(ordered, edges, False, None)
    through: Any = _sortie._search_on_gpu(ordered, edges[-1:], True, None)
    before[-1] = through[0]
    return before[1:] - before[:-1]


def joined(starts: Any, ends: Any) -> tuple[Any, Any]:
    """The pairs of the elements of a join. Each left one belongs to the right ones from its start to its end."""
    functions = _functions_of(starts)
    cumulated = (ends - starts).cumsum(0)
    pairs = int(cumulated[-1]) if len(cumulated) > 0 else 0
    numbers = _counted(pairs, functions, starts)
    of_left = _sortie._search_on_gpu(cumulated, numbers, True, None)
    return of_left, numbers - (cumulated - ends)[of_left]


def rank(a: Any, method: str, axis: Any, nan_policy: str) -> Any:
    """Ranks of an array on a GPU."""
    functions = _functions_of(a)
    array = a.reshape(-1) if axis is None else functions.moveaxis(a, axis, -1)
    shape, n = tuple(array.shape), array.shape[-1]
    flat, numbers = array.reshape(-1), _counted(math.prod(shape), functions, a)
    if math.prod(shape) == 0:
        return _cast(numbers, functions, "float64" if method == "average" else "int64").reshape(shape if axis is None else a.shape)
    # Where the elements in order are among all of them.
    starts = numbers - numbers % n
    at = _sortie.argsort(array, -1).reshape(-1) + starts
    if method == "ordinal":
        ranks = numbers % n + 1
    else:
        ordered = flat[at]
        is_first, is_last = numbers % n == 0, numbers % n == n - 1
        is_first[1:] |= ordered[1:] != ordered[:-1]
        is_last[:-1] |= is_first[1:]
        group = is_first.cumsum(0) - 1
        least, greatest = numbers[is_first] % n + 1, numbers[is_last] % n + 1
        if method == "average":
            ranks = (_cast(least + greatest, functions, "float64") / 2)[group]
        elif method == "dense":
            ranks = group - group[starts] + 1
        else:
            ranks = (least if method == "min" else greatest)[group]
    result = functions.empty_like(ranks)
    result[at] = ranks
    is_nan = flat != flat
    if is_nan.any():
        if nan_policy == "raise":
            raise ValueError("The input contains nan values")
        if nan_policy == "propagate":
            is_nan = is_nan.reshape(-1, n).any(-1)[numbers // n]
        result = _cast(result, functions, "float64")
        result[is_nan] = math.nan
    else:
        result = _cast(result, functions, "float64" if method == "average" else "int64")
    result = result.reshape(shape)
    return result if axis is None else functions.moveaxis(result, -1, axis)


def _functions_of(a: Any) -> Any:
    """The library of an array."""
    library = type(a).__module__.partition(".")[0]
    if library not in ("torch", "cupy"):
        raise TypeError(f"arrays of {library} have no arithmetic on a GPU; convert this one to CuPy or torch")
    return importlib.import_module(library)


def _name_of(a: Any) -> str:
    return str(a.dtype).removeprefix("torch.")


def _on_host(array: Any) -> Any:
    """A copy in host memory of an array on a GPU; another value as it is."""
    if type(array).__module__.partition(".")[0] == "torch":
        return array.cpu().numpy()
    return array.get() if hasattr(array, "get") else array


def _moved(array: Any, functions: Any, a: Any, name: str) -> Any:
    """An array of NumPy beside another on its GPU, with the type of this name."""
    if functions.__name__ == "torch":
        return functions.from_numpy(array).to(a.device).to(getattr(functions, name))
    return functions.asarray(array).astype(name)


def _counted(count: int, functions: Any, a: Any) -> Any:
    """The numbers from 0 on, on the GPU of an array."""
    if functions.__name__ == "torch":
        return functions.arange(count, device=a.device)
    return functions.arange(count)


def _cast(array: Any, functions: Any, name: str) -> Any:
    return array.to(getattr(functions, name)) if functions.__name__ == "torch" else array.astype(name)


class _Lanes:
    """The lanes of an array along an axis, all its elements without one, and the functions of its library."""

    def __init__(self, a: Any, axis: Any, what: str) -> None:
        self._array, self._dimensions = a, a.ndim
        # Numba has no arithmetic, but its few results are computed by NumPy.
        library = type(a).__module__.partition(".")[0]
        self._is_numba = library.startswith("numba")
        self._functions = importlib.import_module("numpy" if self._is_numba else library)
        if isinstance(axis, tuple) and sorted(i % a.ndim for i in axis) == list(range(a.ndim)):
            axis = None
        if axis is not None and not isinstance(axis, int):
            raise ValueError(f"the axis is {axis}, but an array on a GPU has {what} of one axis or all; give one, or None")
        if axis is not None and not -a.ndim <= axis < a.ndim:
            raise ValueError(f"axis {axis} is out of bounds for an array of dimension {a.ndim}")
        self._axis = None if axis is None or a.ndim == 1 else axis % a.ndim
        # The axes that results keep.
        self.others = 0 if self._axis is None else a.ndim - 1
        self.n = math.prod(a.shape) if self._axis is None else a.shape[self._axis]
        if self.n == 0:
            raise ValueError(f"there are no elements, so there is no result; {what} need at least one")
        self.name = _name_of(a)
        self.is_float = "float" in self.name

    def at(self, groups: list[list[int]], shape: tuple[int, ...]) -> list[Any]:
        """For each group of indices their elements, with this shape first. The last of all is kept as well."""
        flat, count = [index for group in groups for index in group], len(groups[0])
        if self._axis is None:
            found = _sortie._nth_on_gpu(self._array, [*flat, self.n - 1])
            found = found.copy_to_host() if self._is_numba else found
        else:
            ordered, before = _sortie.sort(self._array, self._axis), (slice(None),) * self._axis
            found = self._functions.stack([ordered[(*before, i)] for i in [*flat, self.n - 1]])
        self._last = found[-1]
        elements = [found[i * count : (i + 1) * count] for i in range(len(groups))]
        return [group.reshape(shape + tuple(group.shape[1:])) for group in elements]

    def finished(self, result: Any, keepdims: bool, before: int) -> Any:
        """A result that is the NaN of a lane that has one, with the reduced axes of length 1 if they are to remain."""
        if self.is_float:
            last = self.cast(self._last, _name_of(result))
            result = self.where(last != last, last, result)
        if keepdims:
            axes = range(self._dimensions) if self._axis is None else [self._axis]
            shape = list(result.shape)
            for axis in axes:
                shape.insert(before + axis, 1)
            result = result.reshape(tuple(shape))
        if self._is_numba:
            return importlib.import_module("numba.cuda").to_device(np.asarray(result))
        return result

    def step(self, low: Any, high: Any, result_type: str) -> Any:
        """The distance of elements, rounded once."""
        if self.name in ("int64", "uint64"):
            signed = high.view(self._type("int64")) - low.view(self._type("int64"))
            if self.name == "uint64":
                return self.cast(signed.view(self._type("uint64")), result_type)
            wide = self.cast(high, result_type) - self.cast(low, result_type)
            return self.where(signed < 0, wide, self.cast(signed, result_type))
        if self.is_float:
            return self.cast(high - low, result_type)
        return self.cast(high, result_type) - self.cast(low, result_type)

    def with_float(self, name: str) -> str:
        """The type of the elements and of floats of this type together."""
        # NumPy has no bfloat16. Every float of more bits has its numbers.
        own = "float16" if self.name == "bfloat16" else self.name
        both = np.result_type(own, name).name
        return "float32" if self.name == "bfloat16" and both == "float16" else both

    def constant(self, values: Any, name: str) -> Any:
        """These numbers, rounded to this type: an array of the library, or a number of Python, which needs no copy to the GPU."""
        if values.ndim == 0:
            return float(values if name == "bfloat16" else values.astype(name))
        return _moved(values, self._functions, self._array, name)

    def cast(self, array: Any, name: str) -> Any:
        return _cast(array, self._functions, name)

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        return self._functions.where(condition, a, b)

    def _type(self, name: str) -> Any:
        return getattr(self._functions, name)
