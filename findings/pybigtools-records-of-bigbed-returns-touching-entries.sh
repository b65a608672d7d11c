#!/usr/bin/env bash
# records("chr1", 20, 30) of pybigtools on a BigBed file returns the entries 10-20 and 30-40 too, which end and begin there.
#
# Expected: 25-28 only: positions are half-open, so 10-20 has no base at 20. records on a BigWig file of the same intervals returns that one,
#   and so do values on both files and entries of pyBigWig on the same BigBed file.
# Seen: an entry that ends where the range begins, or begins where it ends, is returned as if it overlapped. One base further it
#   is not. A count of the entries of neighbouring windows counts those at their border twice. No warning.
# Versions: pybigtools 0.3.0, pyBigWig 0.3.29, numpy 2.4.6. Date: 2026-12-01.
# Output seen:
#   20-30: BigBed [(10, 20), (25, 28), (30, 40)]   BigWig [(25, 28)]   pyBigWig [(25, 28)]
#   21-29: BigBed [(25, 28)]   BigWig [(25, 28)]   pyBigWig [(25, 28)]
#   40-60: BigBed [(30, 40), (60, 70)]   BigWig []   pyBigWig []
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: pybigtools==0.3.0 pyBigWig==0.3.29 numpy==2.4.6
cd "$folder"
"$folder/venv/bin/python" - << 'END'
import pyBigWig
import pybigtools

intervals = [(10, 20), (25, 28), (30, 40), (60, 70)]
sizes = {"chr1": 100}
pybigtools.open("entries.bb", "w").write(sizes, iter([("chr1", *interval, "name") for interval in intervals]))
pybigtools.open("values.bw", "w").write(sizes, iter([("chr1", *interval, 1.0) for interval in intervals]))


def show(start, end):
    readers = [pybigtools.open(name).records for name in ("entries.bb", "values.bw")]
    readers.append(lambda *place: pyBigWig.open("entries.bb").entries(*place) or [])
    found = [[tuple(record[:2]) for record in reader("chr1", start, end)] for reader in readers]
    print("{}-{}: BigBed {}   BigWig {}   pyBigWig {}".format(start, end, *found))
    return found


assert show(20, 30) == [[(10, 20), (25, 28), (30, 40)], [(25, 28)], [(25, 28)]], "the range 20-30 changed"
assert show(21, 29) == [[(25, 28)]] * 3, "the range 21-29 changed"
assert show(40, 60) == [[(30, 40), (60, 70)], [], []], "the range 40-60 changed"
END
