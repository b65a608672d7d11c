#!/usr/bin/env bash
# The quantile of type 5 of 1, 2, 3 and 4 is 1.9 at 0.1 and 1.3 at 0.2 in C2Percentiles.
#
# Expected: 1 and 1.3, as of the method "hazen" of NumPy, which is the fifth of Hyndman and Fan; a quantile does not fall as the part grows.
# Seen: for a part below the first number the index is moved up to that number, and the fraction that belongs to the index before stays. Types
#   1 and 2 at 0 are the largest number, 4, though the documentation has only parts within (0, 1). No warning.
# Versions: c2percentiles 0.1.1, numpy 2.4.6. Date: 2026-12-01.
# Output seen:
#   type 5 at 0.1: C2Percentiles 1.9, NumPy 1
#   type 5 at 0.2: C2Percentiles 1.3, NumPy 1.3
#   type 5 at 0.5: C2Percentiles 2.5, NumPy 2.5
#   type 7 at 0.1: C2Percentiles 1.3, NumPy 1.3
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet c2percentiles==0.1.1 numpy==2.4.6 pandas==3.1.1
"$folder/venv/bin/python" - << 'END'
import numpy
from C2Percentiles import quantile_custom

numbers = [1, 2, 3, 4]
methods = {5: "hazen", 7: "linear"}


def show(kind, part):
    found = quantile_custom(numbers, [part], kind).iloc[0], numpy.quantile(numbers, part, method=methods[kind])
    texts = ["{:g}".format(value) for value in found]
    print("type {} at {}: C2Percentiles {}, NumPy {}".format(kind, part, *texts))
    return " ".join(texts)


assert show(5, 0.1) == "1.9 1", "type 5 below the first number changed"
assert show(5, 0.2) == "1.3 1.3", "type 5 between the first two numbers changed"
assert show(5, 0.5) == "2.5 2.5", "the median of type 5 changed"
assert show(7, 0.1) == "1.3 1.3", "type 7 changed"
END
