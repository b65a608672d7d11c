#!/usr/bin/env bash
# argmax and argmin of a SciPy sparse array that holds NaN and an implicit zero are the position of the zero.
#
# Expected: the position of NaN, as numpy.argmax of the dense array returns and as the sparse max() and min(), both NaN, suggest.
#   Or that of the greatest number, as nanmax().
# Seen: for [5, 0, nan] argmax and argmin are both 1, where the value is neither NaN nor the greatest, along an axis, too. Without a
#   zero in the row NaN is found. So x[x.argmax()] is a plain 0 on data with a NaN. The package sparse (PyData) finds NaN.
# Versions: scipy 1.17.1, numpy 2.4.6, sparse 0.19.3. Date: 2026-11-29.
# Output seen:
#   [5.0, 0.0, nan]  max nan  nanmax 5.0  argmax 1  argmin 1  numpy 2 2  PyData sparse 2
#   [5.0, 1.0, nan]  max nan  nanmax 5.0  argmax 2  argmin 2  numpy 2 2  PyData sparse 2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet scipy==1.17.1 numpy==2.4.6 sparse==0.19.3
"$folder/venv/bin/python" - << 'END'
import numpy
import scipy.sparse
import sparse


def positions(row):
    dense = numpy.array(row)
    array = scipy.sparse.csr_array([row])
    found = int(array.argmax()), int(array.argmin())
    other = int(sparse.argmax(sparse.COO.from_numpy(dense)).todense())
    right = int(dense.argmax()), int(dense.argmin())
    print(f"{row}  max {array.max()}  nanmax {array.nanmax()}  argmax {found[0]}  argmin {found[1]}  numpy {right[0]} {right[1]} "
          f" PyData sparse {other}")
    assert numpy.isnan(array.max()) and numpy.isnan(array.min()) and array.nanmax() == 5, "max, min or nanmax changed"
    assert right == (2, 2) and other == 2, "numpy or sparse changed"
    assert array.argmax(axis=1)[0] == found[0], "argmax along an axis differs"
    return found


assert positions([5.0, 0.0, numpy.nan]) == (1, 1), "NaN beside a zero is found now"
assert positions([5.0, 1.0, numpy.nan]) == (2, 2), "NaN without a zero is not found"
END
