"""Percentile intervals from resamples, and Clopper–Pearson where resampling cannot see past the boundary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from probative.evaluation.totals import Array, Events
from probative.segments import FloatArray, IntArray

NEAR = 5
"""A proportion with this few events, or this few misses, is at the boundary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """(m,) bounds, NaN where there are none, and how many resamples were undefined."""

    low: FloatArray
    high: FloatArray
    dropped: IntArray


def percentile(values: Array, level: float) -> Intervals:
    """Percentile bounds of every row of (m, B); undefined resamples are dropped. Sorts in place."""
    m, total = values.shape
    values.sort(axis=1)  # NaN last
    kept = total - np.isnan(values).sum(axis=1)
    bounds = []
    for q in ((1 - level) / 2, (1 + level) / 2):
        place = q * np.maximum(kept - 1, 0)
        low = np.floor(place).astype(np.int64)
        high = np.minimum(low + 1, np.maximum(kept - 1, 0))
        below, above = (values[np.arange(m), at].astype(np.float64) for at in (low, high))
        bounds.append(np.where(kept > 0, below + (place - low) * (above - below), np.nan))
    return Intervals(low=bounds[0], high=bounds[1], dropped=(total - kept).astype(np.int64))


def at_boundary(events: Events) -> bool:
    """Whether a proportion has at most five events or at most five misses."""
    return min(events.events, events.trials - events.events) <= NEAR


def clopper_pearson(share: FloatArray, n: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Exact binomial bounds for shares of n trials; n may be an effective number and need not be whole."""
    from scipy.special import betaincinv

    hits, tail = share * n, (1 - level) / 2
    misses = n - hits
    low = np.where(hits > 0, betaincinv(np.where(hits > 0, hits, 1), misses + 1, tail), 0.0)
    high = np.where(misses > 0, betaincinv(hits + 1, np.where(misses > 0, misses, 1), 1 - tail), 1.0)
    return np.minimum(low, share), np.maximum(high, share)
