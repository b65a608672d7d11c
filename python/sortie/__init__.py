"""Sorts NumPy arrays, Arrow data and tables on all cores, in little memory.

The guide is docs/python.md in the repository, https://github.com/sortie-sort/sortie.
"""

from ._select import median, partition, quantile, rank, searchsorted, unique
from ._sortie import (
    Phase,
    Report,
    arg_top_k,
    argsort,
    argsort_segments,
    check_file,
    devices,
    explain,
    is_sorted,
    last_report,
    lexsort,
    merge,
    sort,
    sort_by,
    sort_file,
    sort_inplace,
    sort_pairs,
    sort_pairs_inplace,
    sort_segments,
    top_k,
)

__all__ = [
    "Phase",
    "Report",
    "arg_top_k",
    "argsort",
    "argsort_segments",
    "check_file",
    "devices",
    "explain",
    "is_sorted",
    "last_report",
    "lexsort",
    "median",
    "merge",
    "partition",
    "quantile",
    "rank",
    "searchsorted",
    "sort",
    "sort_by",
    "sort_file",
    "sort_inplace",
    "sort_pairs",
    "sort_pairs_inplace",
    "sort_segments",
    "top_k",
    "unique",
]
