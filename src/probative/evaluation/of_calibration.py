"""Contract §4 in a scope."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from probative import metrics
from probative.evaluation.cut import Cut
from probative.evaluation.totals import Array, Fact, Key, Totals
from probative.metrics import calibration
from probative.segments import FloatArray

FLAT = 1e-5
"""A resample whose log-odds spread less than this has no line: its sums cannot tell it from none."""


def add(cut: Cut, totals: Totals) -> None:
    """Brier, the binned errors and the recalibration line."""
    p = cut.predictions
    if p.prob is None:
        return
    prob, y = cut.take(p.prob), cut.positive.astype(np.float64)
    totals.column("squared", (prob - y) ** 2)
    totals.ratio(Key("brier", cut.every.name), _fact(cut), ("squared", "n"))
    if p.prior is not None:
        totals.column("squared_prior", (cut.take(p.prior) - y) ** 2)
        skill = _fact(cut, "the prior is never wrong")
        totals.finish([Key("brier_skill", cut.every.name)], [skill], _skill)
    _bins(cut, totals, prob, y)
    _line(cut, totals, prob)


def _skill(sums: Mapping[str, Array]) -> Array:
    prior = sums["squared_prior"]
    return np.where(prior > 0, 1.0 - metrics.divide(sums["squared"], prior), np.nan)[None]


def _columns(totals: Totals, name: str, prob: FloatArray, y: FloatArray, edges: FloatArray) -> int:
    at = calibration.bins(prob, edges)
    for number in range(len(edges) - 1):
        rows = np.flatnonzero(at == number)
        totals.column(f"{name}:p:{number}", prob[rows], rows)
        totals.column(f"{name}:y:{number}", y[rows], rows)
        totals.column(f"{name}:n:{number}", 1.0, rows)
    return len(edges) - 1


def _stack(sums: Mapping[str, Array], name: str, what: str, count: int) -> Array:
    return np.stack([sums[f"{name}:{what}:{number}"] for number in range(count)])


def _bins(cut: Cut, totals: Totals, prob: FloatArray, y: FloatArray) -> None:
    width = _columns(totals, "bin", prob, y, calibration.EDGES)
    mass = _columns(totals, "mass", prob, y, calibration.equal_mass_edges(prob))
    certain = np.flatnonzero(prob == 1.0)
    totals.column("certain:y", y[certain], certain)
    totals.column("certain:n", 1.0, certain)

    def errors(sums: Mapping[str, Array]) -> Array:
        n = sums["n"]
        sum_p, sum_y, size = (_stack(sums, "bin", what, width) for what in "pyn")
        plain, largest = calibration.gap(sum_p, sum_y, n), calibration.largest_gap(sum_p, sum_y, size)
        sum_p[-1] -= sums["certain:n"]
        sum_y[-1] -= sums["certain:y"]
        dropped = calibration.gap(sum_p, sum_y, n)
        equal = calibration.gap(_stack(sums, "mass", "p", mass), _stack(sums, "mass", "y", mass), n)
        return np.where(n > 0, np.stack([plain, dropped, largest, equal]), np.nan)

    keys = [Key(name, cut.every.name) for name in ("ece", "ece_dropone", "mce", "ece_equalmass")]
    facts = [_fact(cut) for _ in keys]
    for fact in facts:
        fact.biased = True
    totals.finish(keys, facts, errors)


def _line(cut: Cut, totals: Totals, prob: FloatArray) -> None:
    """Resamples take one Newton step from the fitted line: exact to the order of a resample's own noise.

    Log-odds are centred and scaled for it, so that sums in single precision do not cancel.
    """
    fit = calibration.line(cut.positive, prob)
    slope, intercept = fit or (np.nan, np.nan)
    logit = calibration.logit(prob)
    mean = calibration.sigmoid(intercept + slope * logit) if fit else np.zeros(len(logit))
    bend = mean * (1 - mean)
    centre = float(np.average(logit, weights=bend)) if bend.any() else 0.0
    unit = float(np.sqrt(np.average((logit - centre) ** 2, weights=bend))) if bend.any() else 1.0
    x = (logit - centre) / unit
    for name, values in (
        ("line:g0", cut.positive - mean),
        ("line:g1", (cut.positive - mean) * x),
        ("line:h00", bend),
        ("line:h01", bend * x),
        ("line:h11", bend * x * x),
    ):
        totals.column(name, values)

    def step(sums: Mapping[str, Array]) -> Array:
        g0, g1, a, b, c = (sums[f"line:{part}"].astype(np.float64) for part in ("g0", "g1", "h00", "h01", "h11"))
        determinant = a * c - b * b
        with np.errstate(divide="ignore", invalid="ignore"):
            steeper, higher = (a * g1 - b * g0) / determinant / unit, (c * g0 - b * g1) / determinant
        moved = np.stack([slope + steeper, intercept + higher - steeper * centre])
        return np.where(determinant > FLAT * a * c, moved, np.nan)

    empty = "one class, one probability, or classes that a threshold separates: no finite line"
    keys = [Key("calibration_slope", cut.every.name), Key("calibration_intercept", cut.every.name)]
    facts = [_fact(cut, empty), _fact(cut, empty)]
    for fact, value in zip(facts, (slope, intercept), strict=True):
        fact.fallback, fact.exact = None, float(value)
    totals.finish(keys, facts, step)


def _fact(cut: Cut, empty: str = "no query") -> Fact:
    return Fact(n=cut.every.n, n_docs=cut.every.n_docs, empty=empty)
