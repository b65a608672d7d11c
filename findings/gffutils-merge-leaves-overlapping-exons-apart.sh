#!/usr/bin/env bash
# gffutils' merge of features that are sorted by position does not merge two overlapping exons if one of the other strand lies between.
#
# Expected: for features that are sorted by chromosome and start, merge joins all that overlap on one strand: the exons 1-30 and 25-60
#   of the forward strand become 1-60, whatever the reverse strand has there. (bedtools merge -s does.)
# Seen: merge compares each feature with the one before it only. An exon 10-20 of the reverse strand ends the run, and 1-30 and 25-60 stay
#   apart: the sum of the lengths counts six bases twice. The order has to be by strand before start, which the documentation of merge
#   does not say (it names ('seqid', 'start') beside interfeatures). No error, no warning.
# Version: gffutils 0.14. Date: 2026-11-29.
# Output seen:
#   by seqid, start            [(1, 30, '+'), (10, 20, '-'), (25, 60, '+')]
#   by seqid, strand, start    [(1, 60, '+'), (10, 20, '-')]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet gffutils==0.14
"$folder/venv/bin/python" - << 'END'
import gffutils

rows = [(1, 30, "+"), (10, 20, "-"), (25, 60, "+")]
lines = ["chr1\ttest\texon\t{}\t{}\t.\t{}\t.\tID=exon{}".format(*row, index) for index, row in enumerate(rows)]
database = gffutils.create_db("\n".join(lines), ":memory:", from_string=True)


def merged(*order):
    features = [(item.start, item.end, item.strand) for item in database.merge(database.all_features(order_by=order))]
    print(f"by {', '.join(order):23} {features}")
    return features


assert merged("seqid", "start") == rows, "merge looks past the other strand now"
assert merged("seqid", "strand", "start") == [(1, 60, "+"), (10, 20, "-")], "merge by strand changed"
END
