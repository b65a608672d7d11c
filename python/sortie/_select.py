"""Selections with the semantics of NumPy and SciPy, by what the compiled module finds."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _edges, _on_gpu, _sortie

_Axis = int | Sequence[int] | None


def quantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: _Axis = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    threads: int | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Returns quantiles along an axis: 0 is the least element, 0.5 the median, 1 the greatest.

    The result is that of ``np.quantile`` with the same arguments: its shape, its type, and NaN where an element is NaN. Where NumPy
    computes NaN next to an infinite element, it is that element. The elements next to the quantiles are selected, not sorted; ``a`` is
    read once for up to 8 quantiles.

    a
        An array of numbers, dates or durations in host memory, or what ``np.asanyarray`` makes one of. Or an array of numbers of torch,
        CuPy or Numba on a GPU: the result is an array of the same library there, and the call does not wait for it. Its elements are selected
        for ``axis=None``; along one of several axes, a copy is sorted.
    q
        A number from 0 to 1, or an array of them, whose axes come first in the result.
    axis
        The axis along which to compute, several of them, or ``None`` for all.
    method
        One of the thirteen methods of ``np.quantile``.
    keepdims
        Whether the axes that were reduced remain, with length 1.

    ``threads`` and ``memory_limit`` are those of :func:`sort`.

    Raises

    - ``ValueError`` if a quantile is not from 0 to 1, the method is unknown, or there are no elements.
    - ``TypeError`` if the elements are not numbers.
    - ``MemoryError`` if ``memory_limit`` or the system does not allow the scratch memory.

    >>> import numpy as np, sortie
    >>> sortie.quantile(np.array([7, 1, 3, 9]), [0.25, 0.5])
    array([2.5, 5. ])
    >>> sortie.quantile([[7, 1, 3], [4, 6, 5]], 0.5, axis=1, method="lower")
    array([3, 5])
    """
    is_weak = type(q) in (int, float)
    q = np.asanyarray(q)
    if not np.all((q >= 0) & (q <= 1)):
        raise ValueError("Quantiles must be in the range [0, 1]")
    if _sortie._is_on_gpu(a):
        return _on_gpu.quantile(a, q, is_weak, axis, method, keepdims)
    array, axes = _lanes(a, axis)
    n = array.shape[-1]
    if n == 0:
        raise ValueError("there are no elements, so there are no quantiles")
    low, high, share, is_discrete = _sortie._quantile_positions(method, q.ravel().astype(float).tolist(), n)
    found = _Found(array, [*low, *high], threads, memory_limit)
    lower = found.at(low, q.shape)
    if is_discrete or method == "linear" and q.dtype.kind in "iub":
        result = lower
    else:
        gamma: Any = np.array(share, dtype=q.dtype if q.dtype.kind == "f" else float)
        gamma = float(gamma[0]) if is_weak else gamma.reshape(q.shape + (1,) * (array.ndim - 1))
        result = _between(lower, found.at(high, q.shape), gamma)
    return _kept(found.with_nans(result), axes, keepdims, q.ndim)


def median(
    a: ArrayLike,
    axis: _Axis = None,
    *,
    keepdims: bool = False,
    threads: int | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Returns the median along an axis: the element in the middle of the order, or the mean of the two.

    The result is that of ``np.median``. The arguments are those of :func:`quantile`, and so is what is raised.

    >>> import numpy as np, sortie
    >>> float(sortie.median(np.array([7, 1, 3, 9])))
    5.0
    """
    if _sortie._is_on_gpu(a):
        return _on_gpu.median(a, axis, keepdims)
    array, axes = _lanes(a, axis)
    n = array.shape[-1]
    if n == 0:
        raise ValueError("there are no elements, so there is no median")
    middle = [(n - 1) // 2, n // 2]
    found = _Found(array, middle, threads, memory_limit)
    result = np.mean(found.at(middle[n % 2 :], (2 - n % 2,)), axis=0)
    return _kept(found.with_nans(result), axes, keepdims, 0)


def partition(
    a: ArrayLike,
    kth: int | Sequence[int],
    axis: int | None = -1,
    *,
    threads: int | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Returns a copy in which the elements at the indices ``kth`` are where a sort would put them.

    Lesser elements are before them and greater ones after them, in any order, as in the result of ``np.partition``. NaN and NaT are last.

    a
        As for :func:`quantile`.
    kth
        An index, or several. Negative ones count from the end.
    axis
        The axis along which to partition. ``None`` flattens the array.

    Raises as :func:`quantile`, and ``ValueError`` if an index does not exist.

    >>> import numpy as np, sortie
    >>> int(sortie.partition(np.array([7, 1, 3, 9]), 1)[1])
    3
    """
    array = np.array(a, subok=True)
    if axis is None:
        array, axis = array.ravel(), -1
    n = array.shape[axis]
    indices = np.atleast_1d(np.asarray(kth, dtype=np.intp)).ravel()
    indices = np.where(indices < 0, indices + n, indices)
    if ((indices < 0) | (indices >= n)).any():
        raise ValueError(f"kth is {kth}, but there are {n} elements; give indices from {-n} to {n - 1}")
    _sortie._partition(array, indices.tolist(), axis, threads, memory_limit)
    return array


def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    *,
    equal_nan: bool = True,
    threads: int | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Returns the distinct elements of an array in ascending order, as ``np.unique`` without an axis.

    -0.0 equals 0.0. With any of the next three arguments, the result is a tuple of the elements and what these ask for. For an array of
    torch, CuPy or Numba on a GPU, the results are arrays of its library on that GPU. The call waits once, for their number.

    ar
        What :func:`sort` takes as an array. It is flattened.
    return_index
        The index of the first occurrence of each element.
    return_inverse
        For each element of ``ar``, the index of the distinct one, in the shape of ``ar``.
    return_counts
        How often each element occurs.
    equal_nan
        Whether NaNs are equal. If not, each of them is distinct.

    ``threads`` and ``memory_limit`` are those of :func:`sort`. The limit does not count the arrays that the result is made of.

    Raises as :func:`sort`, and ``TypeError`` for an array on a GPU that is not of torch, CuPy or Numba, and for indices of one of Numba.

    >>> import numpy as np, sortie
    >>> sortie.unique(np.array([3, 1, 3]))
    array([1, 3])
    >>> sortie.unique(["b", "a", "b"], return_counts=True)
    (array(['a', 'b'], dtype='<U1'), array([1, 2]))
    """
    wanted = (bool(return_index), bool(return_inverse), bool(return_counts))
    found = _sortie._unique_on_gpu(ar, *wanted, bool(equal_nan))
    if found is not None:
        return tuple(found) if len(found) > 1 else found[0]
    array = np.asanyarray(ar)
    flat = array.ravel()
    if return_index or return_inverse:
        order = _sortie.argsort(flat, threads=threads, memory_limit=memory_limit)
        ordered = flat[order]
    else:
        ordered = _sortie.sort(flat, threads=threads, memory_limit=memory_limit)
    first = _is_first(ordered, equal_nan)
    result = [ordered[first]]
    if return_index:
        result.append(order[first])
    if return_inverse:
        inverse = np.empty(flat.size, dtype=np.intp)
        inverse[order] = np.cumsum(first) - 1
        result.append(inverse.reshape(array.shape))
    if return_counts:
        result.append(np.diff(np.append(np.flatnonzero(first), flat.size)))
    return tuple(result) if len(result) > 1 else result[0]


def searchsorted(
    a: ArrayLike,
    v: ArrayLike,
    side: str = "left",
    sorter: ArrayLike | None = None,
    *,
    threads: int | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Returns the indices at which elements belong in a sorted array, as ``np.searchsorted``.

    Numbers are searched in batches, by all threads. If ``v`` is sorted, that takes little more than a read of both. Elements that are
    not numbers are left to NumPy. Arrays of torch, CuPy and Numba on a GPU are searched there, without waiting for the result, which is an
    array of the same library.

    a
        A sorted array with one axis. NaNs are last.
    v
        The elements to search for. If ``a`` is on a GPU, an array of its library and type on that GPU. Of two types of integers, the
        values are compared exactly, where NumPy makes floats of uint64 and a signed type.
    side
        ``"left"``: before elements that are equal. ``"right"``: after them.
    sorter
        Indices that sort ``a``, if it is not sorted; if that is on a GPU, an array of its library.

    ``threads`` and ``memory_limit`` are those of :func:`sort`.

    Raises

    - ``ValueError`` for another side, if ``a`` has not one axis, or if ``v`` is on another GPU.
    - ``TypeError`` if ``a`` is on a GPU, and ``v`` is not, or has another type.

    >>> import numpy as np, sortie
    >>> sortie.searchsorted(np.array([10, 20, 20, 30]), [20, 25], side="right")
    array([3, 3])
    """
    if side not in ("left", "right"):
        raise ValueError(f"side is {side!r}; choose 'left' or 'right'")
    found = _sortie._search_on_gpu(a, v, side == "right", sorter)
    if found is not None:
        return found
    keys = np.asarray(a)
    queries = np.asarray(v)
    if keys.ndim != 1:
        raise ValueError(f"a has {keys.ndim} axes; give an array with one")
    if sorter is not None:
        keys = keys[np.asarray(sorter)]
    dtype = np.result_type(keys, queries)
    if dtype.kind == "f" and keys.dtype.kind in "iu" and queries.dtype.kind in "iu":
        # NumPy makes floats of uint64 and a signed type.
        limits = np.iinfo(keys.dtype)
        found = searchsorted(keys, queries.astype(keys.dtype), side, threads=threads, memory_limit=memory_limit)
        return np.where(queries < limits.min, 0, np.where(queries > limits.max, keys.size, found))[()]
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        return np.searchsorted(keys, queries, side=side)  # type: ignore[call-overload]
    # NumPy's order, in the byte order of the machine.
    keys = np.ascontiguousarray(keys, dtype=dtype.newbyteorder("="))
    shape, queries = queries.shape, np.ascontiguousarray(queries, dtype=dtype.newbyteorder("=")).ravel()
    if dtype.kind == "f" and not queries.all():
        # In the order of the library, -0.0 comes before 0.0.
        queries = np.where(queries == 0, dtype.type(-0.0 if side == "left" else 0.0), queries)
    found = _sortie._search(keys, queries, side == "right", threads, memory_limit)
    return found.reshape(shape)[()]


def histogram(
    a: ArrayLike,
    bins: int | str | ArrayLike = 10,
    range: tuple[float, float] | None = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
    *,
    threads: int | None = None,
    memory_limit: int | None = None,
) -> tuple[Any, Any]:
    """Returns how many elements of an array are in each bin, and the edges of the bins, as ``np.histogram``.

    Elements are compared with the edges exactly, by all threads, and need not be sorted. Weights, edges that are NaN, and elements that are
    neither integers nor floats are left to NumPy. For an array of torch or CuPy on a GPU, the results are arrays of its library there, and the
    call waits until the edges are.

    a
        What :func:`sort` takes as an array. It is flattened.
    bins
        The number of bins of equal width, a name of ``np.histogram_bin_edges`` (not on a GPU), or the edges in ascending order. All bins but
        the last are without their last edge.
    range
        The first and the last edge, if ``bins`` is a number. By default the least and the greatest element. Beyond 2^53, these decide which
        integers are counted, although the edges that are returned are floats near them.
    density
        Whether to divide by the number of elements that were counted and by the width of the bin.
    weights
        How much each element counts. Not on a GPU.

    ``threads`` and ``memory_limit`` are those of :func:`sort`, and do not concern what is left to NumPy, nor the copy of an array with gaps.

    Raises as ``np.histogram``, and ``TypeError`` for what a GPU does not have.

    >>> import numpy as np, sortie
    >>> sortie.histogram(np.array([1, 5, 9, 10, 10, 40]), [0, 5, 10, 20])[0]
    array([1, 2, 2])
    """
    if _sortie._is_on_gpu(a):
        return _on_gpu.histogram(a, bins, range, density, weights)
    array = np.asarray(a)
    name = array.dtype.name
    if weights is not None or array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        return np.histogram(array, bins, range, density, weights)  # type: ignore[arg-type]
    edges = np.histogram_bin_edges(array, bins, range)  # type: ignore[arg-type]
    if edges.dtype.kind not in "iuf" or edges.size < 2 or np.isnan(edges).any():
        return np.histogram(array, edges, None, density)
    ends = range if range is not None else (array.min().item(), array.max().item()) if array.size > 0 else None
    between, count = _edges.of_type(edges, name, ends if np.ndim(bins) == 0 else None)
    keys = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    found = _sortie._histogram(keys.ravel(), between, threads, memory_limit)
    counts = np.zeros(edges.size - 1, dtype=np.intp)
    counts[:count] = found[:count]
    return (counts / _edges.widths(edges) / counts.sum() if density else counts), edges


def mode(a: ArrayLike, *, threads: int | None = None, memory_limit: int | None = None) -> tuple[Any, Any]:
    """Returns the element that occurs most often, and how often: of several, the first in ascending order.

    As ``scipy.stats.mode`` of all elements, but text, times and structures have one too. -0.0 equals 0.0, and all NaNs are equal and last.
    ``a`` and the arguments are those of :func:`unique`, which this calls.

    Raises as :func:`unique`, and ``ValueError`` if there are no elements.

    >>> import numpy as np, sortie
    >>> sortie.mode(["b", "a", "b"])
    (np.str_('b'), np.int64(2))
    """
    elements, counts = unique(a, return_counts=True, threads=threads, memory_limit=memory_limit)
    if len(counts) == 0:
        raise ValueError("there are no elements, so there is no mode")
    most = counts.argmax() if hasattr(counts, "argmax") else counts.copy_to_host().argmax()
    return elements[most], counts[most]


def merge_join(
    left: ArrayLike, right: ArrayLike, *, threads: int | None = None, memory_limit: int | None = None
) -> tuple[Any, Any]:
    """Returns the pairs of equal elements of two sorted arrays, as two arrays of indices: the rows of an inner join.

    Pairs are in the order of ``left``, those of one of its elements in the order of ``right``. -0.0 equals 0.0, and all NaNs are equal.

    left, right
        Arrays with one axis, in ascending order with NaNs last. Both may be on a GPU, as in :func:`searchsorted`, of torch or CuPy; the call
        waits once, for the number of pairs, and does not check the order.

    ``threads`` and ``memory_limit`` are those of :func:`searchsorted`. The limit does not count the positions of the left elements.

    Raises as :func:`searchsorted`, and

    - ``ValueError`` if an array has not one axis, is not in order or has nulls, for integers beyond 2^53 with floats, and for times that the
      unit of the others does not hold.
    - ``TypeError`` for types that have no order together, such as numbers and text.

    >>> import numpy as np, sortie
    >>> sortie.merge_join(np.array([10, 20, 40]), np.array([20, 20, 30, 40]))
    (array([1, 1, 2]), array([0, 1, 3]))
    """
    on_gpu = _sortie._is_on_gpu(left)
    if on_gpu != _sortie._is_on_gpu(right):
        raise TypeError("one of the arrays is on a GPU; move the other to it")
    if not on_gpu:
        for name, array in (("left", left), ("right", right)):
            if np.ndim(array) != 1:
                raise ValueError(f"{name} has {np.ndim(array)} axes; give an array with one")
            if _has_nulls(array):
                raise ValueError(f"{name} has nulls, which equal nothing; drop them first")
            if not _sortie.is_sorted(array):
                raise ValueError(f"{name} is not in ascending order; sort it first")
        left, right = np.asarray(left), np.asarray(right)
        _check_join(left, right)
        _check_join(right, left)
    starts, ends = (searchsorted(right, left, side, threads=threads, memory_limit=memory_limit) for side in ("left", "right"))
    if on_gpu:
        return _on_gpu.joined(starts, ends)
    counts = ends - starts
    of_left = np.repeat(np.arange(counts.size), counts)
    return of_left, np.arange(of_left.size) - np.repeat(np.cumsum(counts) - ends, counts)


def _has_nulls(array: Any) -> bool:
    """Whether data of Arrow, polars or pandas has nulls."""
    if hasattr(array, "null_count"):
        return bool(array.null_count() if callable(array.null_count) else array.null_count)
    return hasattr(getattr(array, "dtype", None), "na_value") and hasattr(array, "isna") and bool(array.isna().any())


def _check_join(keys: Any, others: Any) -> None:
    """Raises if keys would change in the type in which they are compared with others."""
    if keys.size == 0 or others.size == 0:
        return
    families = ["biufc", "OTU", "S", "M", "m", "V"]
    if not any(keys.dtype.kind in family and others.dtype.kind in family for family in families):
        raise TypeError(f"{keys.dtype} is not joined with {others.dtype}; convert one of them")
    if keys.dtype.kind in "Mm" and keys.dtype != others.dtype:
        returned = keys.astype(np.result_type(keys, others)).astype(keys.dtype)
        if not ((returned == keys) | np.isnat(keys)).all():
            raise ValueError(f"{keys.dtype} has times that the unit of {others.dtype} does not hold; convert both to one unit")
    if keys.dtype.kind in "iu" and others.dtype.kind in "fc" and max(-int(keys[0]), int(keys[-1])) > 2**53:
        raise ValueError(f"{keys.dtype} has integers that {others.dtype} rounds; convert the floats to integers")


def rank(
    a: ArrayLike,
    method: str = "average",
    *,
    axis: int | None = None,
    nan_policy: str = "propagate",
    threads: int | None = None,
    memory_limit: int | None = None,
) -> Any:
    """Returns the ranks of elements, counted from 1, as ``scipy.stats.rankdata``.

    a
        What :func:`argsort` takes as an array. For an array of torch or CuPy on a GPU, the result is an array of its library there, and
        the call waits to know whether an element is NaN.
    method
        The rank of equal elements: ``"average"`` of the ranks that they have in their order, ``"min"``, ``"max"``, ``"dense"``, which
        counts distinct elements only, or ``"ordinal"``, by which equal elements have different ranks.
    axis
        The axis along which to rank. ``None`` flattens the array.
    nan_policy
        ``"propagate"``: all ranks are NaN if an element is. ``"omit"``: the rank of NaN is NaN. ``"raise"``: NaN is an error.

    ``threads`` and ``memory_limit`` are those of :func:`sort`. The result has the type ``float64`` for the average and if there is a NaN,
    otherwise ``int64``.

    Raises as :func:`sort`, and ``ValueError`` for an unknown method or policy, or for NaN if the policy says so.

    >>> import numpy as np, sortie
    >>> sortie.rank(np.array([30, 10, 30]))
    array([2.5, 1. , 2.5])
    >>> sortie.rank(["b", "a", "b"], method="dense")
    array([2, 1, 2])
    """
    if method not in ("average", "min", "max", "dense", "ordinal"):
        raise ValueError(f"unknown method {method!r}; choose 'average', 'min', 'max', 'dense' or 'ordinal'")
    if nan_policy not in ("propagate", "omit", "raise"):
        raise ValueError(f"unknown nan_policy {nan_policy!r}; choose 'propagate', 'omit' or 'raise'")
    if _sortie._is_on_gpu(a):
        return _on_gpu.rank(a, method, axis, nan_policy)
    array = np.asarray(a)
    if axis is None:
        array, axis = array.ravel(), -1
    lanes = np.moveaxis(array, axis, -1)
    n, shape = lanes.shape[-1], lanes.shape
    order = _sortie.argsort(lanes, axis=-1, threads=threads, memory_limit=memory_limit)
    ordinal = np.broadcast_to(np.arange(1, n + 1), shape)
    if method == "ordinal" or lanes.size == 0:
        ranks: Any = ordinal
    else:
        ordered = np.take_along_axis(lanes, order, -1)
        first = np.ones(shape, dtype=bool)
        first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
        starts = ordinal[first]
        counts = np.diff(np.append(np.flatnonzero(first), first.size))
        if method == "average":
            starts = starts + (counts - 1) / 2
        elif method == "max":
            starts = starts + counts - 1
        elif method == "dense":
            starts = np.cumsum(first, -1)[first]
        ranks = np.repeat(starts, counts).reshape(shape)
    result = np.empty(shape, dtype=float if method == "average" else np.int64)
    np.put_along_axis(result, order, ranks, -1)
    is_nan = lanes != lanes
    if is_nan.any():
        if nan_policy == "raise":
            raise ValueError("The input contains nan values")
        result = result.astype(float)
        result[is_nan if nan_policy == "omit" else is_nan.any(axis=-1)] = np.nan
    return np.moveaxis(result, -1, axis)


class _Found:
    """The elements at some indices of the order of lanes, and whether a lane has a NaN."""

    def __init__(self, array: Any, indices: Any, threads: int | None, memory_limit: int | None) -> None:
        # NaNs are last.
        self._has_nans = array.dtype.kind not in "biu"
        last = [array.shape[-1] - 1] if self._has_nans else []
        self._indices = np.unique(np.array([*indices, *last], dtype=np.intp))
        found = _sortie._nth(array, self._indices.tolist(), -1, threads, memory_limit)
        self._elements = np.moveaxis(found.astype(found.dtype.newbyteorder("="), copy=False), -1, 0)

    def at(self, indices: Any, shape: tuple[int, ...]) -> Any:
        """The elements at these indices, whose shape comes first."""
        found = self._elements[np.searchsorted(self._indices, np.array(indices, dtype=np.intp))]
        return found.reshape(shape + self._elements.shape[1:])

    def with_nans(self, result: Any) -> Any:
        """A result that is the NaN of a lane that has one."""
        if self._has_nans:
            last = self._elements[-1]
            is_nan = last != last
            if is_nan.any():
                result = np.array(result, subok=True)
                np.copyto(result, last.astype(result.dtype), where=is_nan)
        return result


def _lanes(a: ArrayLike, axis: _Axis) -> tuple[Any, Any]:
    """The array with the axes to be reduced as the last one, and what they were."""
    array = np.asanyarray(a)
    if axis is None:
        return array.reshape(-1), tuple(range(array.ndim))
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    array = np.moveaxis(array, axes, range(-len(axes), 0))
    axes = tuple(axis % array.ndim for axis in axes)
    return array.reshape(array.shape[: array.ndim - len(axes)] + (-1,)), axes


def _kept(result: Any, axes: tuple[int, ...], keepdims: bool, before: int) -> Any:
    """A result with the reduced axes, after as many others, if they are to remain. Scalars for what has no axis."""
    if keepdims:
        result = np.expand_dims(result, tuple(before + axis for axis in sorted(axes)))
    return result[()] if isinstance(result, np.ndarray) else result


def _between(low: Any, high: Any, share: Any) -> Any:
    """The elements this share of the way from one to the other, exact at both ends."""
    if low.dtype.kind in "iu" and low.dtype.itemsize < 8:
        exact = np.result_type(low, share)
        low, high = low.astype(exact), high.astype(exact)
    with np.errstate(invalid="ignore", over="ignore"):
        step = high - low
        if low.dtype.kind == "i" and (step < 0).any():
            low, high = low.astype(float), high.astype(float)
            step = high - low
        result = np.asanyarray(np.where(np.asarray(share) >= 0.5, high - step * (1 - share), low + step * share))
        if step.dtype.kind == "f" and (beyond := np.isinf(step) & np.isfinite(low) & np.isfinite(high)).any():
            # The difference of these is beyond the greatest number, that of their halves is not.
            result = np.where(beyond, 2 * _between(low / 2, high / 2, share), result)
    return np.where((low == high) | (np.asarray(share) == 0), low, result).astype(result.dtype, copy=False)


def _is_first(ordered: Any, equal_nan: bool) -> Any:
    """Whether each element of a sorted array differs from the one before it."""
    first = np.ones(ordered.size, dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    if equal_nan and ordered.dtype.kind in "fcmM" and ordered.size > 0 and ordered[-1] != ordered[-1]:
        nans = int(np.count_nonzero(ordered != ordered))
        first[ordered.size - nans + 1 :] = False
    return first
