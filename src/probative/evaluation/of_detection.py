"""Contract §3 in a scope: counts, the confusion tables and the thresholds that TUNE chose. Curves are in `curve`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from probative import metrics
from probative.evaluation.cut import Cut
from probative.evaluation.totals import Array, Fact, Key, Totals
from probative.segments import BoolArray

NO_POSITIVES, NO_NEGATIVES = "no query with evidence", "no query without evidence"


def counts(cut: Cut, totals: Totals) -> None:
    """n_queries, n_positive, positive_rate."""
    everything = cut.every.name
    totals.ratio(Key("n_queries", everything), _fact(cut), ("n", None))
    totals.ratio(Key("n_positive", everything), _fact(cut), ("n_positive", None))
    totals.proportion(Key("positive_rate", everything), _fact(cut, "no query"), ("n_positive", "n"))


def decisions(cut: Cut, totals: Totals) -> None:
    """The confusion tables and the transferred thresholds, as far as their inputs are there."""
    p = cut.predictions
    if p.predicted is not None:
        confusion(cut, totals, p.predicted[cut.rows], "")
    if p.prob is None:
        return
    confusion(cut, totals, p.prob[cut.rows] >= 0.5, "@p=0.5")
    for alpha, thresholds in p.budget_thresholds.items():
        through = p.prob[cut.rows] >= thresholds[cut.rows]
        tp = totals.column(f"tp:{alpha}", through & cut.positive)
        fp = totals.column(f"fp:{alpha}", through & ~cut.positive)
        everything = cut.every.name
        tpr, fpr = Key(f"tpr_transfer@fpr={alpha}", everything), Key(f"fpr_transfer@fpr={alpha}", everything)
        totals.proportion(tpr, _fact(cut, NO_POSITIVES), (tp, "n_positive"))
        totals.proportion(fpr, _fact(cut, NO_NEGATIVES), (fp, "n_negative"))


def confusion(cut: Cut, totals: Totals, predicted: BoolArray, suffix: str) -> None:
    """tp fp tn fn and the eight rates of one table."""
    y, name = cut.positive, cut.every.name
    parts = {"tp": predicted & y, "fp": predicted & ~y, "tn": ~predicted & ~y, "fn": ~predicted & y}
    cell = {part: totals.column(f"{part}{suffix}", values) for part, values in parts.items()}
    positive = totals.column(f"predicted{suffix}", predicted)
    negative = totals.column(f"rejected{suffix}", ~predicted)
    twice = totals.column(f"2tp{suffix}", 2.0 * parts["tp"])
    either = totals.column(f"either{suffix}", 1.0 * y + predicted)
    for part, column in cell.items():
        totals.ratio(Key(part + suffix, name), _fact(cut), (column, None))
    for metric, top, bottom, empty in (
        ("sensitivity", "tp", "n_positive", NO_POSITIVES),
        ("specificity", "tn", "n_negative", NO_NEGATIVES),
        ("fpr", "fp", "n_negative", NO_NEGATIVES),
        ("precision", "tp", positive, "nothing is predicted positive"),
        ("npv", "tn", negative, "nothing is predicted negative"),
    ):
        totals.proportion(Key(metric + suffix, name), _fact(cut, empty), (cell[top], bottom))
    neither = "no query has evidence and none is predicted"
    totals.ratio(Key(f"f1{suffix}", name), _fact(cut, neither), (twice, either))

    def rest(sums: Mapping[str, Array]) -> Array:
        tp, fp, tn, fn = (sums[cell[part]] for part in metrics.CONFUSION)
        margins = np.minimum(np.minimum(tp + fp, tn + fn), np.minimum(tp + fn, tn + fp))
        both = np.minimum(tp + fn, tn + fp)
        correlation = np.where(margins > 0, metrics.mcc(tp, fp, tn, fn), np.nan)
        sensitivity, specificity = metrics.divide(tp, tp + fn), metrics.divide(tn, tn + fp)
        return np.stack([correlation, np.where(both > 0, (sensitivity + specificity) / 2, np.nan)])

    one_class = not y.any() or bool(y.all())
    accuracy = _fact(cut, "one class only")
    if one_class:
        half = np.mean(parts["tp"] | parts["tn"]) / 2 if len(y) else 0.0
        accuracy.fallback = float(half)
    correlation = _fact(cut, "a margin of the table is empty")
    totals.finish([Key(f"mcc{suffix}", name), Key(f"balanced_accuracy{suffix}", name)], [correlation, accuracy], rest)


def _fact(cut: Cut, empty: str = "") -> Fact:
    return Fact(n=cut.every.n, n_docs=cut.every.n_docs, empty=empty)
