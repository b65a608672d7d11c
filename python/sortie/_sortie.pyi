from collections.abc import Callable, Hashable, Iterable, Sequence
from os import PathLike
from typing import Any, Literal, SupportsIndex, TypeVar, final, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = [
    "Phase",
    "Report",
    "_histogram",
    "_histogram_on_gpu",
    "_is_on_gpu",
    "_nth",
    "_nth_on_gpu",
    "_partition",
    "_quantile_positions",
    "_search",
    "_search_on_gpu",
    "_unique_on_gpu",
    "arg_top_k",
    "argsort",
    "argsort_segments",
    "check_file",
    "devices",
    "explain",
    "is_sorted",
    "last_report",
    "lexsort",
    "merge",
    "sort",
    "sort_by",
    "sort_file",
    "sort_inplace",
    "sort_pairs",
    "sort_pairs_inplace",
    "sort_segments",
    "top_k",
]

_Scalar = TypeVar("_Scalar", bound=np.generic)
_Nans = Literal["last", "first"]
_Order = Literal["numpy", "total", "arrow"]
_Table = TypeVar("_Table")
_Path = str | bytes | PathLike[str] | PathLike[bytes]
_Format = Literal["lines", "fasta", "fastq", "prefixed", "csv", "tsv", "jsonl"]

@final
class Report:
    @property
    def phases(self) -> list[Phase]: ...
    @property
    def milliseconds(self) -> float: ...
    @property
    def scratch_peak(self) -> int: ...

@final
class Phase:
    @property
    def name(self) -> str: ...
    @property
    def engine(self) -> str: ...
    @property
    def milliseconds(self) -> float: ...
    @property
    def bytes_read(self) -> int: ...
    @property
    def bytes_written(self) -> int: ...
    @property
    def work(self) -> list[float]: ...

@overload
def sort(
    a: NDArray[_Scalar],
    axis: SupportsIndex | None = -1,
    *,
    descending: bool = False,
    stable: bool | None = None,
    nans: _Nans = "last",
    nulls: _Nans = "last",
    order: str | Sequence[str] = "numpy",
    out: NDArray[_Scalar] | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> NDArray[_Scalar]: ...
@overload
def sort(
    a: Any,
    axis: SupportsIndex | None = -1,
    *,
    descending: bool = False,
    stable: bool | None = None,
    nans: _Nans = "last",
    nulls: _Nans = "last",
    order: str | Sequence[str] = "numpy",
    out: Any = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> Any: ...
def sort_inplace(
    a: Any,
    axis: SupportsIndex = -1,
    *,
    descending: bool = False,
    stable: bool | None = None,
    nans: _Nans = "last",
    order: str | Sequence[str] = "numpy",
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> None: ...
@overload
def argsort(
    a: ArrayLike,
    axis: SupportsIndex | None = -1,
    *,
    descending: bool = False,
    stable: bool | None = None,
    nans: _Nans = "last",
    nulls: _Nans = "last",
    order: str | Sequence[str] = "numpy",
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> NDArray[Any]: ...
@overload
def argsort(
    a: Any,
    axis: SupportsIndex | None = -1,
    *,
    descending: bool = False,
    stable: bool | None = None,
    nans: _Nans = "last",
    nulls: _Nans = "last",
    order: str | Sequence[str] = "numpy",
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> Any: ...
@overload
def top_k(
    a: NDArray[_Scalar],
    k: int,
    *,
    axis: SupportsIndex | None = -1,
    largest: bool = True,
    sorted: bool = True,
    nans: _Nans = "last",
    nulls: _Nans = "last",
    order: str | Sequence[str] = "numpy",
    threads: int | None = None,
    memory_limit: int | None = None,
) -> NDArray[_Scalar]: ...
@overload
def top_k(
    a: Any,
    k: int,
    *,
    axis: SupportsIndex | None = -1,
    largest: bool = True,
    sorted: bool = True,
    nans: _Nans = "last",
    nulls: _Nans = "last",
    order: str | Sequence[str] = "numpy",
    threads: int | None = None,
    memory_limit: int | None = None,
) -> Any: ...
@overload
def arg_top_k(
    a: ArrayLike,
    k: int,
    *,
    axis: SupportsIndex | None = -1,
    largest: bool = True,
    sorted: bool = True,
    nans: _Nans = "last",
    nulls: _Nans = "last",
    order: str | Sequence[str] = "numpy",
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
) -> NDArray[Any]: ...
@overload
def arg_top_k(
    a: Any,
    k: int,
    *,
    axis: SupportsIndex | None = -1,
    largest: bool = True,
    sorted: bool = True,
    nans: _Nans = "last",
    nulls: _Nans = "last",
    order: str | Sequence[str] = "numpy",
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
) -> Any: ...
def _is_on_gpu(a: Any) -> bool: ...
def _histogram(keys: Any, edges: Any, threads: int | None, memory_limit: int | None) -> list[int]: ...
def _histogram_on_gpu(keys: Any, edges: Any) -> Any: ...
def _nth(
    a: Any, indices: Sequence[int], axis: int, threads: int | None, memory_limit: int | None
) -> NDArray[Any]: ...
def _nth_on_gpu(a: Any, indices: Sequence[int]) -> Any: ...
def _partition(
    a: Any, indices: Sequence[int], axis: int, threads: int | None, memory_limit: int | None
) -> None: ...
def _search(
    keys: Any, queries: Any, right: bool, threads: int | None, memory_limit: int | None
) -> NDArray[Any]: ...
def _search_on_gpu(keys: Any, queries: Any, right: bool, sorter: Any | None) -> Any | None: ...
def _unique_on_gpu(a: Any, index: bool, inverse: bool, counts: bool, equal_nan: bool) -> list[Any] | None: ...
def _quantile_positions(
    method: str, q: Sequence[float], n: int
) -> tuple[list[int], list[int], list[float], bool]: ...
def sort_pairs(
    keys: Any,
    *values: Any,
    descending: bool = False,
    stable: bool | None = None,
    nans: _Nans = "last",
    order: _Order = "numpy",
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> tuple[Any, ...]: ...
def sort_pairs_inplace(
    keys: Any,
    *values: Any,
    descending: bool = False,
    stable: bool | None = None,
    nans: _Nans = "last",
    order: _Order = "numpy",
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> None: ...
@overload
def sort_segments(
    a: ArrayLike,
    lengths: int | ArrayLike | None = None,
    offsets: ArrayLike | None = None,
    *,
    descending: bool = False,
    stable: bool | None = None,
    nans: _Nans = "last",
    order: _Order = "numpy",
    out: NDArray[Any] | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> NDArray[Any]: ...
@overload
def sort_segments(
    a: Any,
    lengths: int | ArrayLike | None = None,
    offsets: ArrayLike | None = None,
    *,
    descending: bool = False,
    stable: bool | None = None,
    nans: _Nans = "last",
    order: _Order = "numpy",
    out: Any = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> Any: ...
@overload
def argsort_segments(
    a: ArrayLike,
    lengths: int | ArrayLike | None = None,
    offsets: ArrayLike | None = None,
    *,
    descending: bool = False,
    stable: bool | None = None,
    nans: _Nans = "last",
    order: _Order = "numpy",
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> NDArray[Any]: ...
@overload
def argsort_segments(
    a: Any,
    lengths: int | ArrayLike | None = None,
    offsets: ArrayLike | None = None,
    *,
    descending: bool = False,
    stable: bool | None = None,
    nans: _Nans = "last",
    order: _Order = "numpy",
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> Any: ...
@overload
def lexsort(
    keys: Iterable[ArrayLike],
    axis: SupportsIndex = -1,
    *,
    descending: bool | Sequence[bool] = False,
    stable: bool | None = None,
    nans: _Nans = "last",
    nulls: _Nans | Sequence[_Nans] = "last",
    order: _Order = "numpy",
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> NDArray[Any]: ...
@overload
def lexsort(
    keys: Iterable[Any],
    axis: SupportsIndex = -1,
    *,
    descending: bool | Sequence[bool] = False,
    stable: bool | None = None,
    nans: _Nans = "last",
    nulls: _Nans | Sequence[_Nans] = "last",
    order: _Order = "numpy",
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> Any: ...
def sort_by(
    table: _Table,
    by: Hashable | Sequence[Hashable],
    *,
    descending: bool | Sequence[bool] = False,
    nulls: _Nans | Sequence[_Nans] = "last",
    collate: str | None | Sequence[str | None] = None,
    case: bool = True,
    stable: bool | None = None,
    nans: _Nans = "last",
    order: _Order = "numpy",
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> _Table: ...
@overload
def merge(
    arrays: Iterable[NDArray[_Scalar]],
    by: None = None,
    *,
    descending: bool = False,
    nans: _Nans = "last",
    nulls: _Nans = "last",
    order: _Order = "numpy",
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> NDArray[_Scalar]: ...
@overload
def merge(
    arrays: Iterable[Any],
    by: Hashable | Sequence[Hashable] | None = None,
    *,
    descending: bool | Sequence[bool] = False,
    nans: _Nans = "last",
    nulls: _Nans | Sequence[_Nans] = "last",
    order: _Order = "numpy",
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> Any: ...
def is_sorted(
    a: Any,
    axis: SupportsIndex | None = -1,
    *,
    descending: bool = False,
    nans: _Nans = "last",
    nulls: _Nans = "last",
    order: _Order = "numpy",
    threads: int | None = None,
    memory_limit: int | None = None,
) -> bool: ...
def sort_file(
    path: _Path | list[_Path] | tuple[_Path, ...],
    out: _Path,
    *,
    format: _Format | None = None,
    keys: str | Sequence[str] | None = None,
    separator: str | None = None,
    unique: bool | str | Sequence[str] | None = None,
    stable: bool = False,
    by: str | Sequence[str] | None = None,
    delimiter: str | None = None,
    header: int | None = None,
    comment: str | None = None,
    strict: bool = False,
    keep: Literal["first", "last", "none"] | None = None,
    count: bool | str | None = None,
    duplicates: _Path | None = None,
    columns: str | Sequence[str] | None = None,
    output_delimiter: str | None = None,
    top: int | None = None,
    merge: bool = False,
    dtype: DTypeLike | None = None,
    descending: bool = False,
    nans: _Nans = "last",
    order: _Order = "numpy",
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
    progress: Callable[[int, int], object] | Callable[[int, int | None], object] | None = None,
) -> None: ...
def check_file(
    path: _Path,
    *,
    format: _Format | None = None,
    keys: str | Sequence[str] | None = None,
    separator: str | None = None,
    unique: bool | str | Sequence[str] | None = None,
    stable: bool = False,
    by: str | Sequence[str] | None = None,
    delimiter: str | None = None,
    header: int | None = None,
    comment: str | None = None,
    strict: bool = False,
    descending: bool = False,
    threads: int | None = None,
    memory_limit: int | None = None,
) -> int | None: ...
def devices() -> list[dict[str, Any]]: ...
def explain(
    a: Any,
    operation: Literal["sort", "argsort", "pairs"] = "sort",
    axis: SupportsIndex | None = -1,
    *,
    value_bytes: int = 8,
    descending: bool = False,
    stable: bool | None = None,
    nans: _Nans = "last",
    order: _Order = "numpy",
    threads: int | None = None,
    memory_limit: int | None = None,
    engine: str = "auto",
) -> str: ...
def last_report() -> Report | None: ...
