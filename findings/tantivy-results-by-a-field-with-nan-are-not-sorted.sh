#!/usr/bin/env bash
# A search of Tantivy that is ordered by a float field returns numbers out of order if a document has NaN there.
#
# Expected: the numbers in order, and NaN first or last.
# Seen: a comparison with NaN counts as equal, so numbers before and after a NaN are not compared, and 5 comes before 9 in a
#   descending order. No error when the document is added, and none when the index is searched.
# Version: tantivy 0.27.0. Date: 2026-11-29.
# Output seen:
#   Order.Desc [9.0, 7.0, 5.0, 3.0, 2.0, 1.0]
#   Order.Desc [1.0, nan, 5.0, nan, 9.0, 7.0, 3.0, 2.0]
#   Order.Asc [1.0, nan, 5.0, nan, 2.0, 3.0, 7.0, 9.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tantivy==0.27.0
cd "$folder"
venv/bin/python - << 'END'
import tantivy


def search(values, order):
    builder = tantivy.SchemaBuilder()
    builder.add_float_field("x", fast=True, stored=True)
    index = tantivy.Index(builder.build())
    writer = index.writer(num_threads=1)
    for value in values:
        writer.add_document(tantivy.Document(x=float(value)))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    hits = searcher.search(tantivy.Query.all_query(), len(values), order_by_field="x", order=order).hits
    found = [searcher.doc(address).to_dict()["x"][0] for _, address in hits]
    print(order, found)
    return [value for value in found if value == value]


nan = float("nan")
assert search([1, 5, 7, 2, 9, 3], tantivy.Order.Desc) == [9, 7, 5, 3, 2, 1], "without NaN the order changed"
assert search([1, nan, 5, nan, 7, 2, 9, 3], tantivy.Order.Desc) != [9, 7, 5, 3, 2, 1], "numbers are sorted now, descending"
assert search([1, nan, 5, nan, 7, 2, 9, 3], tantivy.Order.Asc) != [1, 2, 3, 5, 7, 9], "numbers are sorted now, ascending"
END
