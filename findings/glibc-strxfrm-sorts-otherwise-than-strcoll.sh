#!/usr/bin/env bash
# Sorted by locale.strxfrm, two lines of a UTF-8 locale come in the order opposite to that of locale.strcoll and of sort.
#
# Expected: the order of transformed strings is that of strcoll, as the C standard and Python's documentation say. So sorted(...,
#   key=locale.strxfrm) is the usual advice, and databases and sorts keep transformed keys.
# Seen: in the last pass of a locale, which compares ignored characters, strcoll and strxfrm of glibc walk back through a run of them
#   in different ways. "1%h" is less than "1%:h" by the one and greater by the other. The binary search of a list that was sorted by
#   the one with the other fails. Alike in de_DE, sv_SE, cs_CZ, da_DK, es_ES, fr_FR and tr_TR.
# Versions: glibc 2.36 and the package locales of Debian 12, GNU sort 9.1, Python 3.11. Date: 2026-11-29.
# Output seen:
#   by strxfrm ['1%:h', '1%h'] by strcoll ['1%h', '1%:h'] by sort ['1%h', '1%:h']
set -euo pipefail
ldd --version | grep -q 'GLIBC 2.36' || { echo 'this needs glibc 2.36 with the package locales, as in Debian 12'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
localedef -c -i en_US -f UTF-8 "$folder/en_US.UTF-8" || [ -e "$folder/en_US.UTF-8/LC_COLLATE" ]
LOCPATH=$folder LC_ALL=en_US.UTF-8 python3 - << 'END'
import functools
import locale
import subprocess

locale.setlocale(locale.LC_ALL, "")
lines = ["1%:h", "1%h"]
by_strxfrm = sorted(lines, key=locale.strxfrm)
by_strcoll = sorted(lines, key=functools.cmp_to_key(locale.strcoll))
by_sort = subprocess.run(["sort"], input="\n".join(lines), capture_output=True, text=True, check=True).stdout.split()
print("by strxfrm", by_strxfrm, "by strcoll", by_strcoll, "by sort", by_sort)
assert by_strcoll == by_sort, "GNU sort does not follow strcoll"
assert by_strxfrm != by_strcoll, "strxfrm and strcoll agree now"
END
