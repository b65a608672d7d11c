#!/usr/bin/env bash
# is_increasing of polars-ds is true for 5, NaN and 1, with strict=True too, and is_sorted of Polars is false.
#
# Expected: false: 1 comes after 5. Polars takes NaN for the largest number, so neither NaN, 1 is a step upwards. The documentation says
#   "Checks whether the column is monotonically increasing".
# Seen: the differences of neighbours are compared with zero. Beside NaN they are NaN, which Polars takes for more than 0. Beside a null
#   they are null, which all() passes over, so 5, null, 1 increases and decreases strictly at the same time. No warning.
# Versions: polars-ds 0.13.0, polars 1.35.2. Date: 2026-12-01.
# Output seen:
#   [5.0, 3.0, 1.0]    increasing False strictly False   decreasing True  strictly True    is_sorted False
#   [5.0, nan, 1.0]    increasing True  strictly True    decreasing False strictly False   is_sorted False
#   [nan, 1.0]         increasing True  strictly True    decreasing False strictly False   is_sorted False
#   [5.0, None, 1.0]   increasing True  strictly True    decreasing True  strictly True    is_sorted False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: polars-ds==0.13.0 polars==1.35.2
"$folder/venv/bin/python" - << 'END'
import polars
from polars_ds import is_decreasing, is_increasing


def show(*values):
    table = polars.DataFrame({"x": polars.Series(values, dtype=polars.Float64)})
    checks = [check("x", strict=strict) for check in (is_increasing, is_decreasing) for strict in (False, True)]
    up, strictly_up, down, strictly_down = table.select(check.alias(str(place)) for place, check in enumerate(checks)).row(0)
    print(
        f"{str(list(values)):18} increasing {up!s:5} strictly {strictly_up!s:5}   decreasing {down!s:5} strictly {strictly_down!s:5}"
        f"   is_sorted {table['x'].is_sorted()}"
    )
    return up, strictly_up, down, strictly_down, table["x"].is_sorted()


nan = float("nan")
assert show(5.0, 3.0, 1.0) == (False, False, True, True, False), "numbers changed"
assert show(5.0, nan, 1.0) == (True, True, False, False, False), "a NaN between numbers changed"
assert show(nan, 1.0) == (True, True, False, False, False), "a NaN at the start changed"
assert show(5.0, None, 1.0) == (True, True, True, True, False), "a null changed"
END
