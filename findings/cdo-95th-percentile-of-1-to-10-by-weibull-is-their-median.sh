#!/usr/bin/env bash
# The 95th percentile of 1 to 10 by the method weibull of CDO is 5.5, as their median, and that of 1 to 4 is 1, the least of them.
#
# Expected: 10 and 4, as NumPy says, whose methods the help names ("NumPy method"); no percentile is below a lower one.
# Seen: where a method places the percentile beyond the last number, the result falls back below it: weibull, hazen and median_unbiased.
#   At the low end linear gives 1 for 10% of 1 to 10, and NumPy 1.9. The methods nist and rtype8, which compute the same as
#   weibull and median_unbiased, are right. No warning.
# Versions: cdo 2.1.1 of Debian 12, numpy 2.4.6. Date: 2026-12-01.
# Output seen:
#   10%, 50%, 90% and 95% of 1 to 10 by weibull          CDO 1 5.5 9.9 5.5     NumPy 1.1 5.5 9.9 10
#   10%, 50%, 90% and 95% of 1 to 10 by nist             CDO 1.1 5.5 9.9 10    NumPy has no nist
#   10%, 50%, 90% and 95% of 1 to 10 by linear           CDO 1 5.5 9.1 9.55    NumPy 1.9 5.5 9.1 9.55
#   10%, 50%, 90% and 95% of 1 to 4 by weibull           CDO 1 2.5 2 1         NumPy 1 2.5 4 4
#   10%, 50%, 90% and 95% of 1 to 4 by hazen             CDO 1 2.5 3.6 2.8     NumPy 1 2.5 4 4
#   10%, 50%, 90% and 95% of 1 to 4 by linear            CDO 1 2.5 3.7 3.85    NumPy 1.3 2.5 3.7 3.85
set -euo pipefail
cdo --version 2>&1 | grep -q 'version 2.1.1 ' || { echo 'this needs cdo 2.1.1, as in Debian 12 (apt-get install cdo)'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: numpy==2.4.6
cd "$folder"

check() {
    local count=$1 method=$2 expected=$3 other=$4 seen found
    seq "$count" | cdo -s -f nc "input,r${count}x1" numbers.nc > log 2>&1
    seen=$(for percent in 10 50 90 95; do cdo -s --percentile "$method" "outputf,%g" "-fldpctl,$percent" numbers.nc; done | paste -s -d ' ')
    found='has no nist'
    if [ "$method" != nist ]; then
        found=$(venv/bin/python -c '
import sys
import numpy
numbers = numpy.arange(1, int(sys.argv[1]) + 1)
print(*(f"{value:g}" for value in numpy.percentile(numbers, [10, 50, 90, 95], method=sys.argv[2])))' "$count" "$method")
    fi
    printf '%-52s CDO %-17s NumPy %s\n' "10%, 50%, 90% and 95% of 1 to $count by $method" "$seen" "$found"
    [ "$seen" = "$expected" ] || { echo "the percentiles of 1 to $count by $method changed"; exit 1; }
    [ "$found" = "$other" ] || { echo "NumPy's percentiles of 1 to $count by $method changed"; exit 1; }
}

check 10 weibull '1 5.5 9.9 5.5' '1.1 5.5 9.9 10'
check 10 nist '1.1 5.5 9.9 10' 'has no nist'
check 10 linear '1 5.5 9.1 9.55' '1.9 5.5 9.1 9.55'
check 4 weibull '1 2.5 2 1' '1 2.5 4 4'
check 4 hazen '1 2.5 3.6 2.8' '1 2.5 4 4'
check 4 linear '1 2.5 3.7 3.85' '1.3 2.5 3.7 3.85'
