#!/usr/bin/env bash
# scikit-learn finds the nearest neighbours of Unix times with n_neighbors=1, and wrong ones with n_neighbors=2: distance 0 between two
#   times that are 4 s apart, and 22.6 s between two that are 1 s apart.
#
# Expected: the same distances for one neighbour and for two; the nearest to a row of the table is the row itself.
# Seen: algorithm="auto" takes a tree, or all pairs if n_neighbors is at least half of the rows (or there are over 15 columns). All pairs
#   are computed as x² - 2xy + y², which cancels out far from zero. float64 holds these times exactly. No warning.
# Versions: scikit-learn 1.9.1, numpy 2.4.6, scipy 1.17.1. Date: 2026-11-30.
# Output seen:
#   nearest, n_neighbors=1            [0, 1, 2, 3]
#   nearest, n_neighbors=2            [0, 1, 1, 1]
#   distances from 0, n_neighbors=2   [0.0, 22.6]
#   distances from 2, n_neighbors=2   [0.0, 0.0]
#   distances from 2, a tree          [0.0, 4.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet scikit-learn==1.9.1 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" -W error - << 'END'
import numpy
from sklearn.neighbors import NearestNeighbors

times = 1_700_000_000.0 + numpy.array([[0.0], [1.0], [5.0], [9.0]])


def show(title, values):
    found = numpy.round(values, 1).tolist()
    print(f"{title:33} {found}")
    return found


def search(count, algorithm="auto"):
    return NearestNeighbors(n_neighbors=count, algorithm=algorithm).fit(times).kneighbors(times)


one, two, tree = search(1), search(2), search(2, "kd_tree")
assert show("nearest, n_neighbors=1", one[1][:, 0]) == [0, 1, 2, 3], "one neighbour changed"
assert show("nearest, n_neighbors=2", two[1][:, 0]) != [0, 1, 2, 3], "each row is its own neighbour now"
assert show("distances from 0, n_neighbors=2", two[0][0]) != [0.0, 1.0], "the distance of 1 s is right now"
assert show("distances from 2, n_neighbors=2", two[0][2]) != [0.0, 4.0], "the distance of 4 s is right now"
assert show("distances from 2, a tree", tree[0][2]) == [0.0, 4.0], "the tree changed"
END
