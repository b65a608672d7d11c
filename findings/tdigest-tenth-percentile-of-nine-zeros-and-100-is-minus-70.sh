#!/usr/bin/env bash
# The tdigest package says that the 10th percentile of nine zeros and 100 is -70, and that their median is 10.
#
# Expected: percentiles lie between the least and the greatest value and do not descend. Nine of ten values are 0, so the 10th, 25th and 50th
#   percentiles are 0. An estimate of so few values is exact, as it is in other packages of t-digests.
# Seen: equal values become one centroid of their number, and percentile draws a line through its neighbour and beyond it, below the minimum.
#   The 0th percentile is the minimum, so the percentiles 0 and 10 are in the wrong order. No warning.
# Versions: tdigest 0.5.2.2, crick 0.0.8. Date: 2026-11-30.
# Output seen:
#   percentiles of [0, 0, 0, 0, 0, 0, 0, 0, 0, 100]
#   tdigest 0: 0.0, 10: -70.0, 25: -40.0, 50: 10.0, 100: 100.0
#   crick   0: 0.0, 10: 0.0, 25: 0.0, 50: 0.0, 100: 100.0
#   numpy   0: 0.0, 10: 0.0, 25: 0.0, 50: 0.0, 100: 100.0
#   the lower quartile of [1, 1, 1, 2] by tdigest is 0.75
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tdigest==0.5.2.2 crick==0.0.8 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import crick
import numpy
import tdigest

RANKS = [0, 10, 25, 50, 100]


def digest(values):
    result = tdigest.TDigest()
    result.batch_update(values)
    return result


def show(name, values):
    values = [round(float(value), 6) for value in values]
    print(f"{name:7}", ", ".join(f"{rank}: {value}" for rank, value in zip(RANKS, values)))
    return values


values = [0] * 9 + [100]
print("percentiles of", values)
seen = digest(values)
other = crick.TDigest()
other.update(numpy.array(values, float))
of_tdigest = show("tdigest", [seen.percentile(rank) for rank in RANKS])
of_crick = show("crick", [other.quantile(rank / 100) for rank in RANKS])
of_numpy = show("numpy", numpy.percentile(values, RANKS))
quartile = round(digest([1, 1, 1, 2]).percentile(25), 6)
print("the lower quartile of [1, 1, 1, 2] by tdigest is", quartile)
assert of_crick[1:4] == of_numpy[1:4] == [0, 0, 0], "crick or numpy changed"
assert of_tdigest == [0, -70, -40, 10, 100] and quartile == 0.75, "tdigest changed"
END
