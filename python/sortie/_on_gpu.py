"""Quantiles of arrays in GPU memory, by the arithmetic of their libraries, which is that of NumPy."""

import importlib
import math
from typing import Any

import numpy as np

from . import _sortie


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
        self.name = str(a.dtype).removeprefix("torch.")
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
            last = self.cast(self._last, str(result.dtype).removeprefix("torch."))
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
        if self._functions.__name__ == "torch":
            return self._functions.tensor(values, device=self._array.device).to(self._type(name))
        return self._functions.asarray(values).astype(name)

    def cast(self, array: Any, name: str) -> Any:
        return array.to(self._type(name)) if self._functions.__name__ == "torch" else array.astype(name)

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        return self._functions.where(condition, a, b)

    def _type(self, name: str) -> Any:
        return getattr(self._functions, name)
