#!/usr/bin/env bash
# tablib's sort of a table in which two columns share a name writes the values of the second into the first as well.
#
# Expected: the rows, in another order. A CSV file with a name twice is loaded, indexed and exported without a loss.
# Seen: sort turns the rows into dictionaries by column name and back, so of two columns with one name the first is lost, even if the key
#   is a third column or its number. The tags of the rows are lost, too: filter finds none. No error, no warning.
# Version: tablib 3.10.0. Date: 2026-11-29.
# Output seen:
#   loaded               [['2', 'Oslo', 'Bern'], ['1', 'Rome', 'Kyiv']]
#   sorted by id         [['1', 'Kyiv', 'Kyiv'], ['2', 'Bern', 'Bern']]
#   rows with the tag    1, sorted 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tablib==3.10.0
"$folder/venv/bin/python" -W error - << 'END'
import tablib


def rows(title, table):
    values = [list(row) for row in table]
    print(f"{title:20} {values}")
    return values


table = tablib.Dataset().load("id,city,city\n2,Oslo,Bern\n1,Rome,Kyiv\n", format="csv")
assert rows("loaded", table) == [["2", "Oslo", "Bern"], ["1", "Rome", "Kyiv"]], "loading changed"
assert rows("sorted by id", table.sort("id")) == [["1", "Kyiv", "Kyiv"], ["2", "Bern", "Bern"]], "sort keeps both columns now"

tagged = tablib.Dataset(headers=["id"])
tagged.append(["2"], tags=["new"])
tagged.append(["1"])
counts = len(tagged.filter(["new"])), len(tagged.sort("id").filter(["new"]))
print("{:20} {}, sorted {}".format("rows with the tag", *counts))
assert counts == (1, 0), "sort keeps tags now"
END
