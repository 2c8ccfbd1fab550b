"""Three states: skip, look with care, raise an alert."""

from __future__ import annotations

import numpy as np

from probative.segments import BoolArray, FloatArray, IntArray

NEG, UNCERTAIN, POS = 0, 1, 2
STATES = ("NEG", "UNCERTAIN", "POS")


def assign(p: FloatArray, tau_neg: FloatArray, tau_pos: FloatArray) -> IntArray:
    """p < τ_neg → 0 (NEG); τ_neg ≤ p < τ_pos → 1 (UNCERTAIN); else 2 (POS)."""
    return np.where(p < tau_neg, NEG, np.where(p < tau_pos, UNCERTAIN, POS)).astype(np.int64)


def confidence(p: FloatArray, threshold: FloatArray, state: IntArray) -> FloatArray:
    """The order in which queries are answered, surest first when sorted falling.

    Decided queries come before UNCERTAIN ones; within each, those farther from the decision come first. A missing
    threshold predicts nothing, so it lies at 1.
    """
    distance = np.abs(p - np.where(np.isnan(threshold), 1.0, threshold))
    distinct, place = np.unique(distance, return_inverse=True)
    return (place.reshape(-1) + np.where(state == UNCERTAIN, 0, len(distinct))).astype(np.float64)


def wrong(positive: BoolArray, predicted: BoolArray, state: IntArray) -> BoolArray:
    """Errors when every query must be answered: POS and NEG as they say, UNCERTAIN as predicted."""
    answer = np.where(state == UNCERTAIN, predicted, state == POS)
    return np.asarray(answer != positive, dtype=bool)


def risk_coverage(confidence: FloatArray, wrong: BoolArray) -> tuple[FloatArray, FloatArray]:
    """(coverage, risk) after 1, 2, … n answers; equal confidences are answered in random order, on average."""
    n = len(wrong)
    order = np.argsort(-confidence, kind="stable")
    ranked = confidence[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1])) if n else np.zeros(0, dtype=np.int64)
    size = np.diff(np.append(starts, n))
    share = np.add.reduceat(wrong[order].astype(np.float64), starts) / size if n else np.zeros(0)
    errors = np.cumsum(np.repeat(share, size))
    answered = np.arange(1, n + 1)
    return answered / max(n, 1), errors / answered


def aurc(confidence: FloatArray, wrong: BoolArray) -> float:
    """Area under the risk–coverage curve: the mean risk over all coverages."""
    risk = risk_coverage(confidence, wrong)[1]
    return float(risk.mean()) if len(risk) else 0.0
