#!/usr/bin/env bash
# ir_measures says of one run that its first document is relevant (RR@1 is 1) and that it is not (P@1 is 0), if scores tie.
#
# Expected: all measures of one call look at one ranking. The first document is relevant or it is not, so RR@1, P@1 and Success@1 are alike,
#   and a cutoff of 10 changes nothing for two documents: RR@10 is RR.
# Seen: RR without a cutoff, P, Success, AP and nDCG break ties by the identifier descending, RR@k and Judged@k by the identifier ascending,
#   because another provider computes them. Which is the better one depends on the name of the relevant document. No warning.
# Versions: ir_measures 0.4.3, pytrec_eval-terrier 0.5.11. Date: 2026-11-30.
# Output seen:
#   d1 and d2 tie, d1 is relevant: RR@1=1.0 P@1=0.0 Success@1=0.0 RR@10=1.0 RR=0.5
#   d1 and d0 tie, d1 is relevant: RR@1=0.0 P@1=1.0 Success@1=1.0 RR@10=0.5 RR=1.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: ir_measures==0.4.3 pytrec_eval-terrier==0.5.11 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" - << 'END'
import ir_measures
from ir_measures import P, RR, Success

MEASURES = [RR @ 1, P @ 1, Success @ 1, RR @ 10, RR]


def measure(other):
    values = ir_measures.calc_aggregate(MEASURES, {"query": {"d1": 1}}, {"query": {"d1": 5.0, other: 5.0}})
    print(f"d1 and {other} tie, d1 is relevant:", *(f"{name}={values[name]}" for name in MEASURES))
    return [values[name] for name in MEASURES]


assert measure("d2") == [1, 0, 0, 1, 0.5], "the measures changed for a tie with a later identifier"
assert measure("d0") == [0, 1, 1, 0.5, 1], "the measures changed for a tie with an earlier identifier"
END
