#!/usr/bin/env bash
# Whoosh groups a document without a number under 2147483647 if the field is sortable, beside one that has this number, else under None.
#
# Expected: None in both cases, as a sortable field is to be sorted faster, and its values are the same. The range from 10 on finds the
#   documents with 10 and 2147483647 only.
# Seen: the column of a sortable field stores the largest integer where there is none, and facets read it as a value: two groups become
#   one, and its key is a number that nobody wrote. In a sort such documents come last, and first in reverse, before all numbers. No
#   warning.
# Version: whoosh-reloaded 2.7.5. Date: 2026-12-01.
# Output seen:
#   not sortable: groups {10: ['ten'], None: ['none'], 2147483647: ['large']}
#   sortable:     groups {10: ['ten'], 2147483647: ['none', 'large']}
#   from 10 on:   ['ten', 'large'] and ['ten', 'large']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet whoosh-reloaded==2.7.5
"$folder/venv/bin/python" -W ignore - << 'END'
import whoosh.fields
import whoosh.filedb.filestore
import whoosh.query

documents = [{"name": "ten", "x": 10}, {"name": "none"}, {"name": "large", "x": 2147483647}]


def index(sortable):
    schema = whoosh.fields.Schema(name=whoosh.fields.ID(stored=True), x=whoosh.fields.NUMERIC(int, sortable=sortable))
    result = whoosh.filedb.filestore.RamStorage().create_index(schema)
    writer = result.writer()
    for document in documents:
        writer.add_document(**document)
    writer.commit()
    with result.searcher() as searcher:
        found = searcher.search(whoosh.query.Every(), groupedby="x").groups()
        groups = {key: [documents[place]["name"] for place in places] for key, places in found.items()}
        above = [hit["name"] for hit in searcher.search(whoosh.query.NumericRange("x", 10, None))]
    print("sortable:    " if sortable else "not sortable:", "groups", groups)
    return groups, above


plain, sortable = index(False), index(True)
print("from 10 on:  ", plain[1], "and", sortable[1])
assert plain[0] == {10: ["ten"], None: ["none"], 2147483647: ["large"]}, "groups of a field that is not sortable changed"
assert sortable[0] == {10: ["ten"], 2147483647: ["none", "large"]}, "groups of a sortable field changed"
assert plain[1] == sortable[1] == ["ten", "large"], "the range changed"
END
