#!/usr/bin/env bash
# sort -n and -h of GNU pass over the byte 0x80 between digits, in the C locale too: in Windows-1252 it is the euro sign.
#
# Expected: a number ends at the first byte that is neither a digit nor a sign of the locale, as at any other letter. "1€50" counts as 1,
#   like "1c50", and comes before 5. The C locale has no separator of thousands.
# Seen: "1€50" counts as 150 where the locale has no separator of one byte, as in C, C.UTF-8, nb_NO.UTF-8 or fr_FR.UTF-8. "No separator"
#   is kept as the number 128, one more than the largest char of x86-64, and bytes are compared with it without their sign. Where char has
#   no sign, as on aarch64, that number is no byte.
# Versions: GNU sort 9.1 of Debian 12, x86-64. Date: 2026-11-29.
# Output seen:
#   euro sign ['5', '1\x8050'] letter ['1c50', '5']
set -euo pipefail
[ "$(uname -m)" = x86_64 ] && sort --version | grep -q '(GNU coreutils) 9.1$' || { echo 'this needs GNU sort 9.1 on x86-64, as in Debian 12'; exit 2; }
python3 - << 'END'
import os
import subprocess


def sort(text, option):
    environment = dict(os.environ, LC_ALL="C")
    done = subprocess.run(["sort", option], input=text.encode("cp1252"), env=environment, capture_output=True, check=True)
    return done.stdout.decode("latin1").split("\n")[:-1]


for option in ("-n", "-h"):
    euro, letter = sort("5\n1€50\n", option), sort("5\n1c50\n", option)
    assert letter == ["1c50", "5"], letter
    assert euro == ["5", "1\x8050"], f"the number ends at the byte 0x80 now: {euro}"
print("euro sign", euro, "letter", letter)
END
