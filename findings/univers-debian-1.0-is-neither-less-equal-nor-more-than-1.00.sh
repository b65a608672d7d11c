#!/usr/bin/env bash
# In univers, the Debian version 1.0-1 is neither less than nor equal to nor more than 1.00-1, and both <= and >= hold.
#
# Expected: they are equal: Debian Policy compares digits as numbers, and dpkg --compare-versions 1.0-1 eq 1.00-1 is true. If neither is
#   more than the other, == holds.
# Seen: < and > compare as dpkg does, == compares the texts of the parts. So the range "not 1.00-1" has 1.0-1, a set holds both, and
#   each is at most the other. It comes from debian-inspector beneath, whose compare_versions says 0. The versions of RPM and
#   Arch of univers are equal. No warning.
# Versions: univers 32.0.1, debian-inspector 31.1.1. Date: 2026-12-01.
# Output seen:
#   DebianVersion    < False  == False  > False  <= True  >= True
#   RpmVersion       < False  == True  > False  <= True  >= True
#   ArchLinuxVersion < False  == True  > False  <= True  >= True
#   Version          < False  == False  > False  <= True  >= True
#   compare_versions 0
#   vers:deb/!=1.00-1 has 1.0-1: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet univers==32.0.1 debian-inspector==31.1.1
"$folder/venv/bin/python" - << 'END'
import operator

from debian_inspector.version import Version, compare_versions
from univers.version_range import VersionRange
from univers.versions import ArchLinuxVersion, DebianVersion, RpmVersion

operators = {"<": operator.lt, "==": operator.eq, ">": operator.gt, "<=": operator.le, ">=": operator.ge}


def show(kind, make):
    left, right = make("1.0-1"), make("1.00-1")
    answers = {sign: compare(left, right) for sign, compare in operators.items()}
    print(f"{kind.__name__:16}", "  ".join(f"{sign} {answer}" for sign, answer in answers.items()))
    return list(answers.values())


split, same = [False, False, False, True, True], [False, True, False, True, True]
assert show(DebianVersion, DebianVersion) == split, "the versions of Debian changed"
assert show(RpmVersion, RpmVersion) == same, "the versions of RPM changed"
assert show(ArchLinuxVersion, ArchLinuxVersion) == same, "the versions of Arch changed"
assert show(Version, Version.from_string) == split, "debian-inspector changed"
sign = compare_versions("1.0-1", "1.00-1")
print("compare_versions", sign)
assert sign == 0, "compare_versions changed"
found = DebianVersion("1.0-1") in VersionRange.from_string("vers:deb/!=1.00-1")
print("vers:deb/!=1.00-1 has 1.0-1:", found)
assert found, "the range changed"
END
