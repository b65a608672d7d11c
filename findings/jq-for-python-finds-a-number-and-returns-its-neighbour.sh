#!/usr/bin/env bash
# The jq package for Python finds 2^53 + 1 and returns 2^53, and unique of the two returns the same number twice.
#
# Expected: what a filter selects is what it returns: select(. == 9007199254740993) gives 9007199254740993, and no two results of unique are
#   equal. If large integers were rounded to doubles, the two were equal to begin with, and unique returned one.
# Seen: jq compares the digits as they were written, so == tells the numbers apart and unique keeps both, but the package passes results on
#   as doubles: Python gets an identifier that was not selected. The same filters followed by tojson return the right digits. No warning.
# Versions: jq 1.13.0 (Python package). Date: 2026-11-30.
# Output seen:
#   .[] | select(. == 9007199254740993)            -> 9007199254740992
#   unique                                         -> [9007199254740992, 9007199254740992]
#   unique | length                                -> 2
#   .[0] == .[1]                                   -> False
#   .[] | select(. == 9007199254740993) | tojson   -> '9007199254740993'
#   unique | map(tojson)                           -> ['9007199254740992', '9007199254740993']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: jq==1.13.0
"$folder/venv/bin/python" - << 'END'
import jq

LESS, MORE = 2**53, 2**53 + 1


def run(program):
    result = jq.compile(program).input_text(f"[{MORE}, {LESS}]").first()
    print(f"{program:46} -> {result!r}")
    return result


select = f".[] | select(. == {MORE})"
assert run(select) == LESS, "the selected number changed"
assert run("unique") == [LESS, LESS], "unique changed"
assert run("unique | length") == 2 and run(".[0] == .[1]") is False, "jq compares the numbers otherwise now"
assert run(select + " | tojson") == str(MORE) and run("unique | map(tojson)") == [str(LESS), str(MORE)], "tojson changed"
END
