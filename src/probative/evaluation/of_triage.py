"""Contract §7 in a scope."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from probative.evaluation.cut import Cut
from probative.evaluation.totals import Array, Fact, Key, Totals
from probative.metrics import triage
from probative.metrics.detection import accumulate
from probative.segments import BoolArray, FloatArray

GROUPS = 128


def add(cut: Cut, totals: Totals) -> None:
    """Workload, screening, alerts and the risk–coverage area."""
    p = cut.predictions
    if p.state is None:
        return
    state, y, name = p.state[cut.rows], cut.positive, cut.every.name
    for number, label in enumerate(triage.STATES):
        totals.column(label, state == number)
    totals.column("screened", (state != triage.NEG) & y)
    totals.column("missed", (state == triage.NEG) & y)
    totals.column("alerts", (state == triage.POS) & y)
    none = "no query with evidence"
    for metric, top, bottom, scale, empty in (
        ("neg_rate", "NEG", "n", 1.0, "no query"),
        ("uncertain_rate", "UNCERTAIN", "n", 1.0, "no query"),
        ("pos_rate", "POS", "n", 1.0, "no query"),
        ("alerts_per_1000", "POS", "n", 1000.0, "no query"),
        ("screening_sensitivity", "screened", "n_positive", 1.0, none),
        ("screening_fn_per_1000", "missed", "n", 1000.0, "no query"),
        ("screening_fn_per_1000_positives", "missed", "n_positive", 1000.0, none),
        ("alert_precision", "alerts", "POS", 1.0, "no alert"),
        ("alert_recall", "alerts", "n_positive", 1.0, none),
    ):
        fact = Fact(n=cut.every.n, n_docs=cut.every.n_docs, empty=empty)
        totals.proportion(Key(metric, name), fact, (top, bottom), scale=scale)
    if p.prob is not None:
        _area(cut, totals)


def order(cut: Cut) -> tuple[FloatArray, BoolArray]:
    """(confidence, wrong) of every query."""
    p = cut.predictions
    assert p.prob is not None and p.state is not None  # noqa: S101, PT018 - callers have looked
    threshold = np.full(p.n_queries, 0.5) if p.threshold is None else p.threshold
    predicted = p.prob >= threshold if p.predicted is None else p.predicted
    sure = triage.confidence(p.prob[cut.rows], threshold[cut.rows], p.state[cut.rows])
    return sure, triage.wrong(cut.positive, predicted[cut.rows], p.state[cut.rows])


def _area(cut: Cut, totals: Totals) -> None:
    """Resamples use the risk of groups of neighbouring confidence ranks; the value itself uses every query."""
    sure, wrong = order(cut)
    ranks = np.unique(-sure, return_inverse=True)[1].reshape(-1)
    count = min(GROUPS, int(ranks.max()) + 1 if len(ranks) else 0)
    group = ranks * count // max(int(ranks.max()) + 1 if len(ranks) else 1, 1)
    by_group = np.argsort(group, kind="stable")
    for number, rows in enumerate(np.split(by_group, np.searchsorted(group[by_group], np.arange(1, count)))):
        totals.column(f"risk:n:{number}", 1.0, rows)
        totals.column(f"risk:e:{number}", wrong[rows], rows)
    fact = Fact(n=cut.every.n, n_docs=cut.every.n_docs, empty="no query", exact=triage.aurc(sure, wrong))

    def area(sums: Mapping[str, Array]) -> Array:
        n = np.stack([sums[f"risk:n:{number}"] for number in range(count)])
        errors = np.stack([sums[f"risk:e:{number}"] for number in range(count)])
        total, wrong_so_far = accumulate(n), accumulate(errors)
        before, wrong_before = total - n, wrong_so_far - errors
        share = np.divide(errors, n, out=np.zeros_like(n), where=n > 0)
        harmonic = np.log1p(n / (before + 0.5))
        summed = share * n + (wrong_before - share * before) * harmonic
        with np.errstate(divide="ignore", invalid="ignore"):
            value = summed.sum(axis=0) / total[-1]
        return np.where(total[-1] > 0, value, np.nan)[None]

    if count:
        totals.finish([Key("aurc", cut.every.name)], [fact], area)
