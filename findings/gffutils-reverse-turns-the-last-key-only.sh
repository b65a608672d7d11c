#!/usr/bin/env bash
# In gffutils, order_by two columns with reverse=True reverses the second and leaves the first ascending.
#
# Expected: the reverse of the ascending order, as the documentation says ("Change sort order; ... by default, results will be in
#   ascending order, so use reverse=True for descending"): chr2 before chr1.
# Seen: the query ends in "seqid,start DESC", which SQL reads as seqid ascending, start descending. Chromosomes still ascend.
# Version: gffutils 0.14. Date: 2026-11-29.
# Output seen:
#   ascending      [('chr1', 1), ('chr1', 5), ('chr2', 3), ('chr2', 7)]
#   reverse=True   [('chr1', 5), ('chr1', 1), ('chr2', 7), ('chr2', 3)]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet gffutils==0.14
"$folder/venv/bin/python" - << 'END'
import gffutils

rows = [("chr2", 3), ("chr1", 5), ("chr2", 7), ("chr1", 1)]
lines = [f"{name}\ttest\tgene\t{start}\t{start + 1}\t.\t+\t.\tID={name}-{start}" for name, start in rows]
database = gffutils.create_db("\n".join(lines), ":memory:", from_string=True)


def ordered(title, reverse):
    features = [(item.seqid, item.start) for item in database.all_features(order_by=("seqid", "start"), reverse=reverse)]
    print(f"{title:14} {features}")
    return features


assert ordered("ascending", False) == sorted(rows), "the ascending order changed"
backwards = ordered("reverse=True", True)
assert backwards == [("chr1", 5), ("chr1", 1), ("chr2", 7), ("chr2", 3)], "reverse turns all columns now"
END
