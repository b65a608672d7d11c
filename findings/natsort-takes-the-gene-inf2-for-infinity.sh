#!/usr/bin/env bash
# natsort's realsorted takes the beginning of the gene name INF2 for the number infinity and puts it before ABL1.
#
# Expected: numbers in a name are its digits with a sign, a point and an exponent. Text sorts by letters: ABL1, BRCA2, INF2.
# Seen: a name is cut at its digits, and each piece that float() accepts becomes a number: "INF" is infinity, "NAN" is not a number. A name
#   that begins with one comes before all that begin with text. INFA2 and x-INF2 stay in their places. natsorted, for integers, is right.
# Version: natsort 8.4.0. Date: 2026-11-30.
# Output seen:
#   realsorted ['NAN1', 'INF2', 'ABL1', 'BRCA2', 'INFA2']
#   natsorted  ['ABL1', 'BRCA2', 'INF2', 'INFA2', 'NAN1']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet natsort==8.4.0
"$folder/venv/bin/python" - << 'END'
import natsort

genes = ["NAN1", "INFA2", "INF2", "BRCA2", "ABL1"]
by_real, by_integer = natsort.realsorted(genes), natsort.natsorted(genes)
print("realsorted", by_real)
print("natsorted ", by_integer)
assert by_integer == sorted(genes), "natsorted changed"
assert by_real == ["NAN1", "INF2", "ABL1", "BRCA2", "INFA2"], "realsorted takes inf and nan for text now"
END
