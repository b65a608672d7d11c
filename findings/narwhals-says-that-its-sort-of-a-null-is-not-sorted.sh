#!/usr/bin/env bash
# In Narwhals, is_sorted() of a sorted pandas series with a null is False, and True for the same series of Polars or PyArrow.
#
# Expected: s.sort().is_sorted() is True. The library exists so that one expression means the same with each of them.
# Seen: sort puts nulls first for all three. For pandas, is_sorted then compares the null with a number and says False, with nullable
#   integers, Arrow types and NaN alike, for nulls_last=True, too. No error, no warning.
# Versions: narwhals 2.29.0, pandas 3.1.1, polars 2.1.0, pyarrow 26.0.1, numpy 2.4.6. Date: 2026-11-29.
# Output seen:
#   pandas Int64     [<NA>, 1, 2] False
#   pandas of Arrow  [<NA>, 1, 2] False
#   polars           [None, 1, 2] True
#   pyarrow          [None, 1, 2] True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet narwhals==2.29.0 pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 numpy==2.4.6
cd "$folder"
venv/bin/python - << 'END'
import narwhals
import pandas
import polars
import pyarrow


def check(name, native):
    values = narwhals.from_native(native, series_only=True).sort()
    print(f"{name:16} {values.to_list()} {values.is_sorted()}")
    assert values.to_list()[1:] == [1, 2], "nulls are not first any more"
    return values.is_sorted()


values = [2, None, 1]
assert check("pandas Int64", pandas.Series(values, dtype="Int64")) is False, "pandas is sorted now"
assert check("pandas of Arrow", pandas.Series(values, dtype="int64[pyarrow]")) is False, "pandas of Arrow is sorted now"
assert check("polars", polars.Series(values)) is True, "polars changed"
assert check("pyarrow", pyarrow.chunked_array([values])) is True, "pyarrow changed"
END
