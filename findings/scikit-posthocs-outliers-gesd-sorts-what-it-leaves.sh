#!/usr/bin/env bash
# The filter outliers_gesd of scikit-posthocs returns the values in ascending order, its mask and the other filters leave them in theirs.
#
# Expected: an outlier filter removes outliers, and what remains is in the order of the input, as from outliers_iqr, outliers_grubbs and
#   outliers_tietjen of the package. It is the input at the places where the mask of hypo=True is False.
# Seen: outliers_gesd sorts first and returns the sorted rest. Values of a series are no longer beside their times or labels, though none
#   was lost. Its mask is in the order of the input. The documentation says "the filtered array", its example is sorted beforehand.
# Versions: scikit-posthocs 0.17.1, numpy 2.4.6. Date: 2026-11-30.
# Output seen:
#   outliers_gesd [1, 1, 2, 2, 2, 3, 3, 4]
#   by its mask [3, 1, 2, 4, 2, 1, 3, 2]
#   outliers_grubbs [3, 1, 2, 4, 2, 1, 3, 2]
#   outliers_tietjen [3, 1, 2, 4, 2, 1, 3, 2]
#   outliers_iqr [3, 1, 2, 4, 2, 1, 3, 2]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: scikit-posthocs==0.17.1 numpy==2.4.6 scipy==1.17.1 pandas==3.1.1
"$folder/venv/bin/python" - << 'END'
import numpy
import scikit_posthocs

values = numpy.array([3, 1, 2, 4, 90, 2, 1, 3, 2])
results = {
    "outliers_gesd": scikit_posthocs.outliers_gesd(values, 1),
    "by its mask": values[~scikit_posthocs.outliers_gesd(values, 1, hypo=True)],
    "outliers_grubbs": scikit_posthocs.outliers_grubbs(values),
    "outliers_tietjen": scikit_posthocs.outliers_tietjen(values, 1),
    "outliers_iqr": scikit_posthocs.outliers_iqr(values),
}
for name, left in results.items():
    print(name, left.tolist())
gesd, *others = (left.tolist() for left in results.values())
rest = [3, 1, 2, 4, 2, 1, 3, 2]
assert all(left == rest for left in others), "the other filters changed"
assert gesd == sorted(rest) != rest, "outliers_gesd leaves the order now"
END
