"""The swap test: the two systems' predictions of a document change places at random."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from probative.evaluation.curve import Part
from probative.evaluation.predictions import Predictions, Selection
from probative.evaluation.resample import BLOCK
from probative.evaluation.totals import Array
from probative.segments import FloatArray, IntArray

SAME = 1e-4
ROUNDING = 4e-6
"""Resampled values are single precision: differences closer than this are equal."""


def stacked(base: Predictions, other: Predictions) -> Predictions:
    """The queries of both systems in one table, base first. Both hold the same queries in the same order."""
    both: dict[str, Any] = {name: _joined(base, other, name) for name in _PER_QUERY}
    modes = [mode for mode in base.selections if mode in other.selections]
    budgets = [alpha for alpha in base.budget_thresholds if alpha in other.budget_thresholds]
    rows = base.row_offsets is not None and other.row_offsets is not None
    return replace(
        base,
        **both,
        gold_offsets=_offsets(base.gold_offsets, other.gold_offsets),
        selections={
            mode: Selection(
                size=np.concatenate([base.selections[mode].size, other.selections[mode].size]),
                hits=np.concatenate([base.selections[mode].hits, other.selections[mode].hits]),
            )
            for mode in modes
        },
        budget_thresholds={
            alpha: np.concatenate([base.budget_thresholds[alpha], other.budget_thresholds[alpha]]) for alpha in budgets
        },
        row_offsets=_offsets(base.row_offsets, other.row_offsets) if rows else None,
        row_score=_joined(base, other, "row_score") if rows else None,
        row_gold=_joined(base, other, "row_gold") if rows else None,
    )


_PER_QUERY = (
    *("doc", "criterion", "fold", "n_candidates", "n_ranked", "gold_rank", "gold_in_pool", "positive", "located"),
    *("prob", "prob_raw", "prior", "threshold", "tau_neg", "tau_pos", "predicted", "state"),
)


def _joined(base: Predictions, other: Predictions, name: str) -> Any:
    first, second = getattr(base, name), getattr(other, name)
    return None if first is None or second is None else np.concatenate([first, second])


def _offsets(first: IntArray | None, second: IntArray | None) -> IntArray:
    assert first is not None and second is not None  # noqa: S101, PT018 - the caller has looked
    return np.concatenate([first, first[-1] + second[1:]])


def p_values(part: Part, wanted: IntArray, expected: FloatArray, n_units: int, draws: int, seed: int) -> FloatArray:
    """(m,) two-sided p = (b + 1) / (B + 1) of the wanted metrics; `part` measures the stacked systems.

    A draw gives every document's predictions of one system to either side. For a mean that is the sign flip. Draws
    in which a metric is undefined do not count. A metric whose difference on the stacked systems is not the expected
    one depends on how many queries there are, and has no such test: NaN.
    """
    rng = np.random.default_rng([seed, 1])
    signed = _difference(part, wanted, np.ones((n_units, 1), dtype=np.float32))[:, 0]
    observed = np.abs(np.where(np.abs(signed - expected) < SAME * np.maximum(1.0, np.abs(expected)), signed, np.nan))
    beyond = np.zeros(len(wanted), dtype=np.int64)
    counted = np.zeros(len(wanted), dtype=np.int64)
    for start in range(0, draws, BLOCK):
        width = min(BLOCK, draws - start)
        kept = rng.integers(0, 2, size=(n_units, width), dtype=np.uint8).astype(np.float32)
        drawn = np.abs(_difference(part, wanted, kept))
        tolerance = ROUNDING * np.maximum(1.0, observed)[:, None]
        beyond += (drawn >= observed[:, None] - tolerance).sum(axis=1)
        counted += np.isfinite(drawn).sum(axis=1)
    return np.where(np.isfinite(observed), (beyond + 1) / (counted + 1), np.nan)


def _difference(part: Part, wanted: IntArray, kept: Array) -> FloatArray:
    """(m, b) the second side minus the first; `kept` is 1 where a document stays on its own side."""
    first = part.resampled(np.concatenate([kept, 1 - kept]))[wanted]
    second = part.resampled(np.concatenate([1 - kept, kept]))[wanted]
    return np.asarray(second, dtype=np.float64) - first


def holm(p: FloatArray) -> FloatArray:
    """Holm's adjustment of some p values; NaN stays NaN and is not counted."""
    adjusted = np.full(len(p), np.nan)
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
