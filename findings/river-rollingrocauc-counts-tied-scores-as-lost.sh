#!/usr/bin/env bash
# River's RollingROCAUC of a model that gives each row the score 0.5 is 0 for two rows and 0.33 for six. ROCAUC and scikit-learn say 0.5.
#
# Expected: a positive and a negative row with one score count as half a pair, as in the definition of the area, in scikit-learn and in River's
#   own ROCAUC. A constant score has the area 0.5. The documentation says that RollingROCAUC "calculates the exact value".
# Seen: a pair of tied rows counts less than a half, down to nothing, in either order. So the area is too small as soon as a positive
#   and a negative row have one score, and a constant model looks worse than a guess. Without ties the area is right. No warning.
# Versions: river 0.26.1, scikit-learn 1.9.1, numpy 2.4.6. Date: 2026-11-30.
# Output seen:
#   no ties: RollingROCAUC 0.750, ROCAUC 0.750, scikit-learn 0.750
#   one tied pair: RollingROCAUC 0.000, ROCAUC 0.500, scikit-learn 0.500
#   six tied rows: RollingROCAUC 0.333, ROCAUC 0.500, scikit-learn 0.500
#   two tied pairs: RollingROCAUC 0.250, ROCAUC 0.500, scikit-learn 0.500
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: river==0.26.1 scikit-learn==1.9.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
from river import metrics
from sklearn.metrics import roc_auc_score


def measure(rows):
    rolling, whole = metrics.RollingROCAUC(window_size=10), metrics.ROCAUC()
    for label, score in rows:
        rolling.update(label, score)
        whole.update(label, score)
    return [round(float(area), 3) for area in (rolling.get(), whole.get(), roc_auc_score(*zip(*rows)))]


def show(what, rows):
    areas = measure(rows)
    print(f"{what}:", ", ".join(f"{name} {area:.3f}" for name, area in zip(["RollingROCAUC", "ROCAUC", "scikit-learn"], areas)))
    assert areas == measure(rows[::-1]), "the order of the rows has an effect now"
    return areas


assert show("no ties", [(1, 0.8), (0, 0.6), (1, 0.4), (0, 0.2)]) == [0.75, 0.75, 0.75], "scores without ties changed"
assert show("one tied pair", [(1, 0.5), (0, 0.5)]) == [0, 0.5, 0.5], "one tied pair changed"
assert show("six tied rows", [(1, 0.5)] * 3 + [(0, 0.5)] * 3) == [0.333, 0.5, 0.5], "six tied rows changed"
assert show("two tied pairs", [(1, 0.9), (0, 0.9), (1, 0.1), (0, 0.1)]) == [0.25, 0.5, 0.5], "two tied pairs changed"
END
