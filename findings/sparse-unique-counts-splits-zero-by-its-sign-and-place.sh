#!/usr/bin/env bash
# In sparse, unique_counts of 0.0, -0.0, 1.0 and -0.0 returns two zeros, with counts 1 and 2. NumPy returns one zero, with count 3.
#
# Expected: values are distinct if they are not equal, and 0.0 == -0.0, as the array API says of its unique functions and as NumPy does it.
#   How an array is stored, and which value fills it, does not change its unique values.
# Seen: the fill value is put beside the unique stored values without a comparison. A zero with the sign of the fill value is not stored, one
#   of the other sign is, so both come, and the "unique" values hold equal ones. If another number fills the array, all zeros are stored and
#   become one. No warning.
# Versions: sparse 0.19.3, numpy 2.4.6. Date: 2026-11-30.
# Output seen:
#   numpy: values [0.0, 1.0], counts [3, 1]
#   sparse filled with 0.0: values [0.0, -0.0, 1.0], counts [1, 2, 1], unique_values [0.0, -0.0, 1.0]
#   sparse filled with -0.0: values [-0.0, 0.0, 1.0], counts [2, 1, 1], unique_values [-0.0, 0.0, 1.0]
#   sparse filled with 1.0: values [0.0, 1.0], counts [3, 1], unique_values [0.0, 1.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: sparse==0.19.3 numpy==2.4.6 numba==0.68.1
"$folder/venv/bin/python" - << 'END'
import numpy
import sparse

array = numpy.array([0.0, -0.0, 1.0, -0.0])
unique = numpy.unique_counts(array)
print(f"numpy: values {unique.values.tolist()}, counts {unique.counts.tolist()}")
assert unique.values.tolist() == [0, 1] and unique.counts.tolist() == [3, 1], "NumPy changed"


def show(fill):
    coo = sparse.COO.from_numpy(array, fill_value=fill)
    unique, values = sparse.unique_counts(coo), sparse.unique_values(coo).tolist()
    print(f"sparse filled with {fill}: values {unique.values.tolist()}, counts {unique.counts.tolist()}, unique_values {values}")
    assert unique.values.tolist() == values, "unique_counts and unique_values differ now"
    return values, unique.counts.tolist()


assert show(0.0) == ([0, 0, 1], [1, 2, 1]), "the unique values of an array filled with 0.0 changed"
assert show(-0.0) == ([0, 0, 1], [2, 1, 1]), "the unique values of an array filled with -0.0 changed"
assert show(1.0) == ([0, 1], [3, 1]), "the unique values of an array filled with 1.0 changed"
END
