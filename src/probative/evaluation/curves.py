"""Recall by K, ROC with its band, precision–recall and reliability, as rows to plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probative.evaluation import intervals
from probative.evaluation.bootstrap import estimate, measure
from probative.evaluation.curve import stairs
from probative.evaluation.cut import Cut
from probative.evaluation.records import number
from probative.evaluation.resample import Draw
from probative.evaluation.totals import Fact, Key
from probative.metrics import calibration
from probative.metrics.ranking import divide
from probative.segments import FloatArray, IntArray

LONGEST = 50
POINTS = 400
BAND_RESAMPLES = 2048
"""Resamples behind the ROC band: enough for a drawn line."""
BAND: FloatArray = np.unique(np.concatenate([np.linspace(0, 1, 41), [0.01, 0.02, 0.03, 0.04, 0.06, 0.08]]))
Row = Sequence[Any]


def recall_by_k(cut: Cut, draw: Draw | None, level: float) -> list[Row]:
    """Recall at every K up to 50 with its bounds, hit rate, precision, and the best recall that K allows."""
    p, located = cut.predictions, cut.prepared.located
    if not len(located):
        return []
    size = cut.prepared.gold_size[located].astype(np.float64)
    owner = np.repeat(np.arange(len(located)), cut.prepared.gold_size[located])
    first = np.full(len(located), np.iinfo(np.int64).max)
    np.minimum.at(first, owner, np.where(p.gold_rank > 0, p.gold_rank, np.iinfo(np.int64).max))
    totals = cut.totals()
    last = min(LONGEST, int(p.n_candidates.max()))
    for k in range(1, last + 1):
        inside = np.bincount(owner, weights=(p.gold_rank > 0) & (p.gold_rank <= k), minlength=len(located))
        for name, values in (("recall", inside / size), ("hit", first <= k), ("precision", inside / k)):
            fact = Fact(n=len(located), n_docs=0, interval=name == "recall")
            over = (totals.column(f"{name}:{k}", values, located), cut.with_gold.column)
            totals.ratio(Key(f"{name}:{k}", ""), fact, over)
    found = estimate(measure([totals], cut.units, draw), level)
    value = found.values.reshape(last, 3)
    bounds = [np.full((last, 3), np.nan)] * 2
    if found.intervals is not None:
        bounds = [found.intervals.low.reshape(last, 3), found.intervals.high.reshape(last, 3)]
    oracle = [float(np.mean(np.minimum(size, k) / size)) for k in range(1, last + 1)]
    return [
        (k + 1, *(number(v) for v in (value[k, 0], bounds[0][k, 0], bounds[1][k, 0], *value[k, 1:], oracle[k])))
        for k in range(last)
    ]


def _steps(cut: Cut) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Distinct probabilities, falling, with the positives and negatives at or above each."""
    assert cut.predictions.prob is not None  # noqa: S101 - the caller has looked
    distinct, place = np.unique(-cut.predictions.prob[cut.rows], return_inverse=True)
    tp = np.bincount(place.reshape(-1), weights=cut.positive, minlength=len(distinct)).cumsum()
    fp = np.bincount(place.reshape(-1), weights=~cut.positive, minlength=len(distinct)).cumsum()
    return -distinct, tp, fp


def _thin(length: FloatArray) -> IntArray:
    """Places that lie evenly along a curve of this running length; both ends stay."""
    if len(length) <= POINTS:
        return np.arange(len(length))
    places = np.searchsorted(length, np.linspace(length[0], length[-1], POINTS))
    return np.unique(np.append(places, [0, len(length) - 1]))


def roc(cut: Cut) -> list[Row]:
    """The ROC curve, thinned to a few hundred points; it starts at (0, 0)."""
    threshold, tp, fp = _steps(cut)
    if not len(tp) or not tp[-1] or not fp[-1]:
        return []
    tpr, fpr = tp / tp[-1], fp / fp[-1]
    rows = [(float(threshold[i]), float(fpr[i]), float(tpr[i])) for i in _thin(tpr + fpr)]
    return [(None, 0.0, 0.0), *rows]


def precision_recall(cut: Cut) -> list[Row]:
    """The precision–recall curve, thinned to a few hundred points."""
    threshold, tp, fp = _steps(cut)
    if not len(tp) or not tp[-1]:
        return []
    recall, precision = tp / tp[-1], divide(tp, tp + fp)
    bend = np.abs(np.diff(precision, prepend=1.0)).cumsum()
    return [(float(threshold[i]), float(recall[i]), float(precision[i])) for i in _thin(recall + bend)]


def roc_band(cut: Cut, draw: Draw | None, level: float) -> list[Row]:
    """TPR within a grid of FPR budgets, with bounds."""
    assert cut.predictions.prob is not None  # noqa: S101 - the caller has looked
    found = stairs(cut, cut.predictions.prob[cut.rows])
    if draw is None or found.steps.one_class:
        return []
    value = found.plain.tpr(BAND.tolist())[:, 0].tolist()
    cases = [found.weighted(draw.block(place)) for place in range(min(-(-BAND_RESAMPLES // draw.width), draw.n_blocks))]
    blocks = [case.tpr(BAND.tolist()) for case in cases]
    bounds = intervals.percentile(np.concatenate(blocks, axis=1), level)
    rows = zip(BAND, value, bounds.low, bounds.high, strict=True)
    return [tuple(number(part) for part in row) for row in rows]


def reliability(cut: Cut, draw: Draw | None, level: float) -> list[Row]:
    """Every bin of `ece`: how many queries, their mean probability, how often there was evidence, with bounds."""
    assert cut.predictions.prob is not None  # noqa: S101 - the caller has looked
    prob = cut.predictions.prob[cut.rows]
    at, edges = calibration.bins(prob), calibration.EDGES
    totals = cut.totals()
    for place in range(len(edges) - 1):
        rows = np.flatnonzero(at == place)
        n = totals.column(f"n:{place}", 1.0, rows)
        y = totals.column(f"y:{place}", cut.positive[rows], rows)
        mean = totals.column(f"p:{place}", prob[rows], rows)
        totals.proportion(Key(f"frequency:{place}", ""), Fact(n=len(rows), n_docs=0), (y, n))
        totals.ratio(Key(f"mean:{place}", ""), Fact(n=len(rows), n_docs=0, interval=False), (mean, n))
    found = estimate(measure([totals], cut.units, draw), level)
    bins: list[Row] = []
    for place in range(len(edges) - 1):
        at_bin = slice(2 * place, 2 * place + 2)
        frequency, mean_p = found.values[at_bin]
        bounds = [np.nan] * 2
        if found.intervals is not None:
            bounds = [found.intervals.low[2 * place], found.intervals.high[2 * place]]
        parts = (number(part) for part in (mean_p, frequency, *bounds))
        bins.append((float(edges[place]), float(edges[place + 1]), found.facts[2 * place].n, *parts))
    return bins
