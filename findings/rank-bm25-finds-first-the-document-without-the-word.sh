#!/usr/bin/env bash
# In rank_bm25, the best of three short documents for the word "fox" is the one that does not hold it, and the score of the others is negative.
#
# Expected: a document that holds the word of a query is before one that does not, which has the score 0. A word in most documents says little,
#   so its weight is small but not below 0: the code says that it "sets a floor on the idf values", at epsilon (0.25) of their average.
# Seen: the average itself is below 0 if most words are frequent, and then so is the floor. Scores turn negative, and get_top_n returns first
#   what does not match. A word in exactly half of the documents has the weight 0, and get_top_n returns the last document for it, as ties
#   come backwards. BM25Plus of the package has no such weights. No warning.
# Versions: rank-bm25 0.2.2, numpy 2.4.6. Date: 2026-11-30.
# Output seen:
#   BM25Okapi, fox: scores [-0.039, -0.039, 0.0], best "cat"
#   BM25Plus, fox: scores [1.329, 1.329, 0.693], best "fox den"
#   BM25Okapi of 4 documents, fox in the first 2: scores [0.0, 0.0, 0.0, 0.0], best "owl"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: rank-bm25==0.2.2 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import rank_bm25


def show(what, kind, documents):
    index = kind([document.split() for document in documents])
    scores = [round(float(score), 3) for score in index.get_scores(["fox"])]
    best = index.get_top_n(["fox"], documents, 1)[0]
    print(f'{what}: scores {scores}, best "{best}"')
    return scores, best


three = ["fox den", "fox den", "cat"]
scores, best = show("BM25Okapi, fox", rank_bm25.BM25Okapi, three)
assert max(scores[:2]) < scores[2] and best == "cat", "BM25Okapi finds the word now"
scores, best = show("BM25Plus, fox", rank_bm25.BM25Plus, three)
assert min(scores[:2]) > scores[2] and best == "fox den", "BM25Plus changed"
scores, best = show("BM25Okapi of 4 documents, fox in the first 2", rank_bm25.BM25Okapi, ["fox den", "fox", "cat", "owl"])
assert scores == [0, 0, 0, 0] and best == "owl", "a word in half of the documents changed"
END
