#!/usr/bin/env bash
# samtools merge -n of files that say that they are in the order of bytes returns unsorted reads and says the same of them.
#
# Expected: the header has the order, SS:queryname:lexicographical, which sort -N writes. merge follows it, or refuses -n, the natural order.
# Seen: merge compares by the natural order whatever the headers say. The order is neither, the two reads of a name are apart, and the
#   header of the result says SO:queryname SS:queryname:lexicographical. Tools that take mates from neighbouring reads find none. No warning.
# Version: pysam 0.24.1, which contains samtools 1.24. Date: 2026-11-30.
# Output seen:
#   merge -n ['read10', 'read9', 'read10', 'read9'] queryname:lexicographical
#   merge -N ['read10', 'read10', 'read9', 'read9'] queryname:lexicographical
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pysam==0.24.1
cd "$folder"
for flag in 65 129; do
    printf '@HD\tVN:1.6\n@SQ\tSN:chr1\tLN:1000\n' > "$flag.sam"
    for name in read9 read10; do
        printf '%s\t%s\tchr1\t1\t60\t4M\t*\t0\t0\tACGT\tIIII\n' "$name" "$flag" >> "$flag.sam"
    done
    venv/bin/python -c 'import pysam, sys; pysam.sort("-N", "-o", sys.argv[2], sys.argv[1])' "$flag.sam" "$flag.bam"
done
cat > merge.py << 'END'
import sys

import pysam

option = sys.argv[1]
pysam.merge("-f", option, "merged.bam", "65.bam", "129.bam")
with pysam.AlignmentFile("merged.bam") as file:
    names, said = [read.query_name for read in file.fetch(until_eof=True)], file.header.to_dict()["HD"]["SS"]
print("merge", option, names, said)
assert said == "queryname:lexicographical", "the header of the result changed"
assert (names == sorted(names)) == (option == "-N"), f"merge {option} changed"
END
venv/bin/python merge.py -n
venv/bin/python merge.py -N
