#!/usr/bin/env bash
# Faiss returns vector 0 as the best by inner product, and vector 1 before vector 0 as the best two, if their scores tie.
#
# Expected: the best k are the first k of the best k + 1, whatever the rule for ties, so a page of results does not change with its length.
#   Ties have one rule for both metrics of a flat index, which compares with every vector.
# Seen: by L2 distance ties come in order of the identifiers. By inner product the k least of equal vectors are chosen and returned
#   backwards, so the first result is k - 1, and behind a better vector the best three are no beginning of the best four. Cosine
#   similarity is searched by inner product too. No warning.
# Versions: faiss-cpu 1.15.1, numpy 2.4.6. Date: 2026-11-30.
# Output seen:
#   4 equal vectors, IndexFlatIP k=1: [0], k=2: [1, 0], k=3: [2, 1, 0], k=4: [3, 2, 1, 0]
#   4 equal vectors, IndexFlatL2 k=1: [0], k=2: [0, 1], k=3: [0, 1, 2], k=4: [0, 1, 2, 3]
#   vector 2 scores 2, the others 1, IndexFlatIP k=1: [2], k=2: [2, 1], k=3: [2, 1, 0], k=4: [2, 3, 1, 0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: faiss-cpu==1.15.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import faiss
import numpy


def search(what, kind, scores):
    index = kind(2)
    index.add(numpy.array([[score, 0] for score in scores], numpy.float32))
    results = [index.search(numpy.array([[1, 0]], numpy.float32), k)[1][0].tolist() for k in (1, 2, 3, 4)]
    print(f"{what}, {kind.__name__}", ", ".join(f"k={len(result)}: {result}" for result in results))
    return results


same = "4 equal vectors"
assert search(same, faiss.IndexFlatIP, [1, 1, 1, 1]) == [[0], [1, 0], [2, 1, 0], [3, 2, 1, 0]], "ties of inner products changed"
assert search(same, faiss.IndexFlatL2, [1, 1, 1, 1]) == [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]], "ties of distances changed"
behind = search("vector 2 scores 2, the others 1", faiss.IndexFlatIP, [1, 1, 2, 1])
assert behind == [[2], [2, 1], [2, 1, 0], [2, 3, 1, 0]], "ties behind the best changed"
END
