#!/usr/bin/env bash
# bcftools -i 'XI<3' finds the record with XI=5,. and that with XI=.: a missing integer of a list counts as -2147483648.
#
# Expected: a missing value is no number, as for lists of floats and for a single integer: those filters do not find it, and MIN and AVG
#   are of the values that are there. Missing values are found by XI=".", as documented.
# Seen: for integers in INFO with Number=A, R, 2 or ".", < finds each record with a missing one, and the average of 5 and a
#   missing one is less than 3. XI="." does not find it, XI=-2147483648 does. -e 'XI<3' drops such records. No warning.
# Version: pysam 0.24.1, which contains bcftools 1.24. Date: 2026-11-30.
# Output seen:
#   XI<3            part one
#   AVG(XI)<3       part one
#   XI="."          -
#   XI=-2147483648  part one
#   XF<3            -
#   AVG(XF)<3       -
#   XF="."          part one
#   X1<3            -
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pysam==0.24.1
cd "$folder"
{
    printf '##fileformat=VCFv4.2\n##contig=<ID=chr1,length=1000>\n'
    printf '##INFO=<ID=XI,Number=A,Type=Integer,Description="integers">\n'
    printf '##INFO=<ID=XF,Number=A,Type=Float,Description="floats">\n'
    printf '##INFO=<ID=X1,Number=1,Type=Integer,Description="an integer">\n'
    printf '#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n'
    printf 'chr1\t%s\t%s\tA\tC,G\t.\t.\tXI=%s;XF=%s;X1=%s\n' 10 full 5,7 5,7 5 20 part 5,. 5,. . 30 one . . .
} > calls.vcf
venv/bin/python - << 'END'
from pysam import bcftools

expected = {"XI<3": "part one", "AVG(XI)<3": "part one", 'XI="."': "", "XI=-2147483648": "part one"}
expected |= {"XF<3": "", "AVG(XF)<3": "", 'XF="."': "part one", "X1<3": ""}
for expression, names in expected.items():
    found = " ".join(bcftools.query("-f", "%ID\n", "-i", expression, "calls.vcf").split())
    print(f"{expression:15} {found or '-'}")
    assert found == names, f"the filter {expression} changed"
END
