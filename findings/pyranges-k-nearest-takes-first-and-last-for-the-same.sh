#!/usr/bin/env bash
# pyranges' k_nearest returns one tied interval whether ties is "first" or "last", and does not return all with ties="different".
#
# Expected: "first" keeps the first of the intervals of equal distance, "last" the last, "different" all of them, as documented ("all
#   nearest intervals with the k unique nearest distances are kept").
# Seen: b, c and d are all 11 away from the query. "first" and "last" both return d, which is the last by row. "different" returns b and d
#   and leaves out c, which has the coordinates of d. No error, no warning.
# Versions: pyranges 0.1.7, pandas 2.3.3. Date: 2026-11-29.
# Output seen:
#   first       ['d']
#   last        ['d']
#   different   ['d', 'b']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pyranges==0.1.7 pandas==2.3.3 setuptools==80.9.0
"$folder/venv/bin/python" -W ignore - << 'END'
import pyranges

query = pyranges.from_dict({"Chromosome": ["chr1"], "Start": [50], "End": [60]})
rows = {"Chromosome": ["chr1"] * 4, "Start": [10, 70, 30, 30], "End": [20, 80, 40, 40], "name": list("abcd")}
intervals = pyranges.from_dict(rows)
results = {}
for ties in "first", "last", "different":
    results[ties] = query.k_nearest(intervals, k=1, ties=ties).df["name"].tolist()
    print(f"{ties:11} {results[ties]}")
assert results["first"] == results["last"], "first and last differ now"
assert sorted(results["different"]) == ["b", "d"], "different returns other intervals now"
END
