#!/usr/bin/env bash
# After one pysam.sort("-N", ..), every pysam.sort("-n", ..) of the same process orders names by bytes, too.
#
# Expected: each call is a samtools command of its own: -n is the natural order (read9 before read10), -N that of the bytes.
# Seen: the first -n is natural. After a -N, the same call on the same file puts read10 first, and the header of its result says
#   queryname:lexicographical. A merge that expects natural order then fails or interleaves mates. No error, no warning.
# Version: pysam 0.24.1, which contains samtools 1.24. Date: 2026-11-27.
# Output seen:
#   -n  ['read9', 'read10'] queryname:natural
#   -N  ['read10', 'read9'] queryname:lexicographical
#   -n  ['read10', 'read9'] queryname:lexicographical
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pysam==0.24.1
cd "$folder"
printf '@HD\tVN:1.6\n@SQ\tSN:chr1\tLN:1000\n' > reads.sam
for name in read10 read9; do
    printf '%s\t0\tchr1\t1\t60\t4M\t*\t0\t0\tACGT\tIIII\n' "$name" >> reads.sam
done
venv/bin/python - << 'END'
import pysam


def order(option):
    pysam.sort(option, "-o", "sorted.bam", "reads.sam")
    with pysam.AlignmentFile("sorted.bam") as file:
        names, said = [read.query_name for read in file.fetch(until_eof=True)], file.header.to_dict()["HD"]["SS"]
    print(option, "", names, said)
    return names


assert order("-n") == ["read9", "read10"], "-n alone changed"
assert order("-N") == ["read10", "read9"], "-N changed"
assert order("-n") == ["read10", "read9"], "a later -n is natural again"
END
