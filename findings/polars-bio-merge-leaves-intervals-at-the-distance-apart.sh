#!/usr/bin/env bash
# polars-bio's merge with min_dist=d does not merge intervals at distance d, by the distance that its own nearest reports.
#
# Expected: min_dist is the distance up to which intervals are merged, as in bioframe, which has the same argument, and as -d of bedtools:
#   with 10, intervals 10 apart are one, and with 0, the default, intervals that touch are one.
# Seen: only intervals that are closer than min_dist are merged, so touching ones stay apart by default. cluster does the same. Pipelines
#   that move from bioframe get more intervals. No error, no warning.
# Versions: polars-bio 0.36.2, bioframe 0.8.0, pandas 3.1.1. Date: 2026-11-29.
# Output seen:
#   distance 0 by nearest   min_dist=0: polars-bio 2, bioframe 1   min_dist=1: polars-bio 1, bioframe 1
#   distance 10 by nearest  min_dist=10: polars-bio 2, bioframe 1   min_dist=11: polars-bio 1, bioframe 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet polars-bio==0.36.2 bioframe==0.8.0 pandas==3.1.1
"$folder/venv/bin/python" -W ignore - 2> "$folder/progress" << 'END' || { cat "$folder/progress"; exit 1; }
import bioframe
import pandas
import polars_bio


def frame(*rows):
    result = pandas.DataFrame(rows, columns=["chrom", "start", "end"])
    result.attrs["coordinate_system_zero_based"] = True
    return result


def compare(left, right):
    both = frame(left, right)
    nearest = polars_bio.nearest(frame(left), frame(right), output_type="pandas.DataFrame")
    distance = int(nearest["distance"].iloc[0])
    counts, texts = [], []
    for limit in distance, distance + 1:
        merged = len(polars_bio.merge(both, min_dist=limit, output_type="pandas.DataFrame"))
        counts += [merged, len(bioframe.merge(both, min_dist=limit))]
        texts.append(f"min_dist={limit}: polars-bio {counts[-2]}, bioframe {counts[-1]}")
    print(f"distance {distance} by nearest".ljust(23), "   ".join(texts))
    assert counts == [2, 1, 1, 1], "merge changed"


compare(("chr1", 0, 10), ("chr1", 10, 20))
compare(("chr1", 0, 10), ("chr1", 20, 30))
END
