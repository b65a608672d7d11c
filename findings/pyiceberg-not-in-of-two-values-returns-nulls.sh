#!/usr/bin/env bash
# A filter "x not in (1, 2)" of PyIceberg returns nulls, and "x not in (1)" or "x != 1 and x != 2" do not.
#
# Expected: one rule for nulls, whichever way the filter is written. delete with the same filter removes the rows that scan returns.
# Seen: a list of two or more becomes the complement of PyArrow's is_in, which is true for a null. A list of one becomes !=, which is null for
#   a null. delete("x not in (1, 2)") keeps the null that a scan with the filter has returned. No warning.
# Versions: pyiceberg 0.12.0, pyarrow 26.0.1. Date: 2026-11-30.
# Output seen:
#   x not in (1)      [2, 3]
#   x != 1 and x != 2 [3]
#   x not in (1, 2)   [3, None]
#   after its delete  [1, 2, None]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet 'pyiceberg[sql-sqlite]==0.12.0' pyarrow==26.0.1
"$folder/venv/bin/python" -W ignore - "$folder" << 'END'
import sys

import pyarrow
from pyiceberg.catalog.sql import SqlCatalog

folder = sys.argv[1]
catalog = SqlCatalog("test", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
catalog.create_namespace("test")
rows = pyarrow.table({"x": [1, 2, 3, None]})
table = catalog.create_table("test.numbers", rows.schema)
table.append(rows)


def show(name, scan):
    values = scan.to_arrow()["x"].to_pylist()
    print(f"{name:17} {values}")
    return values


def scan(text):
    return show(text, table.scan(row_filter=text))


assert scan("x not in (1)") == [2, 3], "a list of one changed"
assert scan("x != 1 and x != 2") == [3], "two comparisons changed"
assert scan("x not in (1, 2)") == [3, None], "a list of two changed"
table.delete("x not in (1, 2)")
assert show("after its delete", table.scan()) == [1, 2, None], "delete changed"
END
