#!/usr/bin/env bash
# univers sorts the versions 1.9 and 1.10 of its scheme intdot as 1.10, 1.9, and 10 before 9.
#
# Expected: 1.9, 1.10. The class says that a version is "any number (>0) of integers separated by dots", and integers are compared as such;
#   the schemes of Python, npm, Debian and the others of the package do so.
# Seen: the texts are compared character by character, each digit as an integer. So a range of versions below 1.10.0 leaves 1.9.0 out, and
#   one with a fix in 1.10.0 calls 1.9.0 fixed. With a dot beside a digit, as for 1.90.0 and 1.9.0, a ValueError. No warning.
# Version: univers 32.0.1. Date: 2026-12-01.
# Output seen:
#   IntdotVersion  ['1.10', '1.9'] ['10', '9'] ['1.2.10.4', '1.2.3.4']
#   PypiVersion    ['1.9', '1.10'] ['9', '10'] ['1.2.3.4', '1.2.10.4']
#   DebianVersion  ['1.9', '1.10'] ['9', '10'] ['1.2.3.4', '1.2.10.4']
#   vers:intdot/<1.10.0 has 1.9.0: False
#   vers:deb/<1.10.0 has 1.9.0: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet univers==32.0.1
"$folder/venv/bin/python" - << 'END'
from univers.version_range import VersionRange
from univers.versions import DebianVersion, IntdotVersion, PypiVersion

texts = [["1.9", "1.10"], ["9", "10"], ["1.2.3.4", "1.2.10.4"]]


def show(kind):
    ordered = [[version.string for version in sorted(kind(text) for text in pair)] for pair in texts]
    print(f"{kind.__name__:14}", *ordered)
    return ordered


def holds(scheme, kind):
    found = kind("1.9.0") in VersionRange.from_string(f"vers:{scheme}/<1.10.0")
    print(f"vers:{scheme}/<1.10.0 has 1.9.0: {found}")
    return found


assert show(IntdotVersion) == [pair[::-1] for pair in texts], "intdot changed"
assert show(PypiVersion) == texts, "the versions of Python changed"
assert show(DebianVersion) == texts, "the versions of Debian changed"
assert not holds("intdot", IntdotVersion), "a range of intdot changed"
assert holds("deb", DebianVersion), "a range of Debian changed"
END
