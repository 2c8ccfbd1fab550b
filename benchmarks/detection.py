"""AUROC, average precision and TPR under four FPR budgets, beside scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.data import Data, Shape, simulate
from benchmarks.ranking import Row, Values
from benchmarks.timing import agree, seconds, timed
from probative.metrics import ALPHAS, detection


def ours(data: Data) -> Values:
    stairs = detection.count_steps(data.positive, data.prob)
    values = {"auroc": float(stairs.auroc()[0]), "auprc": float(stairs.average_precision()[0])}
    found = stairs.tpr([float(alpha) for alpha in ALPHAS])[:, 0].tolist()
    return values | {f"tpr@fpr={alpha}": rate for alpha, rate in zip(ALPHAS, found, strict=True)}


def sklearn(data: Data) -> Values:
    from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

    y, p = data.positive, data.prob
    fpr, tpr, _ = roc_curve(y, p, drop_intermediate=False)
    values = {"auroc": float(roc_auc_score(y, p)), "auprc": float(average_precision_score(y, p))}
    return values | {f"tpr@fpr={alpha}": float(tpr[fpr <= float(alpha)].max()) for alpha in ALPHAS}


def compare(shape: Shape) -> Iterable[Row]:
    """One row a library."""
    data = simulate(shape)
    mine, values = timed(lambda: ours(data), repeat=9)
    yield "probative", seconds(mine), "–", "1"
    theirs, found = timed(lambda: sklearn(data), repeat=9)
    yield "scikit-learn", seconds(theirs), str(agree("scikit-learn", values, found)), f"{theirs / mine:.0f}"
