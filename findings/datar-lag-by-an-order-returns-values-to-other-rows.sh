#!/usr/bin/env bash
# In datar, lag(x, order_by=t) of rows at the times 3, 1 and 2 says that the value before time 1 is that of time 2.
#
# Expected: for each row the value at the time before it: for time 3 that of 2, for 2 that of 1, none for 1. datar is a port of dplyr, to
#   whose reference its documentation leads, and lag there does so; so does arrange by t followed by lag.
# Seen: the rows are put in order and shifted, but the result goes back to the rows by the wrong permutation. It is right if the rows
#   are in order, or two of them are swapped. lead and with_order, which makes a cumulative sum of it, do the same. No warning.
# Versions: datar 0.16.1, datar-pandas 0.7.1, pandas 3.1.1, numpy 2.4.6. Date: 2026-12-01.
# Output seen:
#   times 1, 2, 3: lag None 10.0 20.0   lead 20.0 30.0 None   sums 10 30 60
#   times 2, 1, 3: lag 10.0 None 20.0   lead 30.0 20.0 None   sums 30 10 60
#   times 3, 1, 2: lag 10.0 20.0 None   lead 30.0 None 20.0   sums 30 60 10
#   times 3, 1, 2 by arrange, time 3 first: lag 20.0 None 10.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet datar==0.16.1 datar-pandas==0.7.1 datar-numpy==0.3.8 pandas==3.1.1 numpy==2.4.6
cat > "$folder/lag.py" << 'END'
import datar.all as datar
import pandas
from datar import f


def texts(column):
    return " ".join("None" if pandas.isna(value) else str(value) for value in column)


def show(*times):
    rows = pandas.DataFrame({"t": times, "x": [10 * time for time in times]})
    lagged = {"lag": datar.lag(f.x, order_by=f.t), "lead": datar.lead(f.x, order_by=f.t)}
    found = rows >> datar.mutate(**lagged, sums=datar.with_order(f.t, datar.cumsum, f.x))
    lag, lead, sums = (texts(found[name]) for name in ("lag", "lead", "sums"))
    print(f"times {', '.join(map(str, times))}: lag {lag}   lead {lead}   sums {sums}")
    return lag, lead, sums


assert show(1, 2, 3) == ("None 10.0 20.0", "20.0 30.0 None", "10 30 60"), "rows in order changed"
assert show(2, 1, 3) == ("10.0 None 20.0", "30.0 20.0 None", "30 10 60"), "two swapped rows changed"
assert show(3, 1, 2) == ("10.0 20.0 None", "30.0 None 20.0", "30 60 10"), "three rows changed"
rows = pandas.DataFrame({"t": [3, 1, 2], "x": [30, 10, 20]}) >> datar.arrange(f.t) >> datar.mutate(lag=datar.lag(f.x))
lag = texts(pandas.DataFrame(rows).set_index("t").loc[[3, 1, 2]]["lag"])
print("times 3, 1, 2 by arrange, time 3 first: lag", lag)
assert lag == "20.0 None 10.0", "lag after arrange changed"
END
"$folder/venv/bin/python" -W ignore "$folder/lag.py"
