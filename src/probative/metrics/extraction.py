"""What a selection of varying size finds, and how large it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from probative.metrics.detection import accumulate
from probative.metrics.ranking import divide
from probative.segments import FloatArray, IntArray

Array = NDArray[np.floating[Any]]
QUANTILES = {"k_median": 0.5, "k_p25": 0.25, "k_p75": 0.75, "k_p90": 0.9}


def recall(hits: IntArray, gold: IntArray) -> FloatArray:
    """|sel ∩ G| / |G|, 0 without gold."""
    return divide(hits, gold)


def precision(hits: IntArray, size: IntArray) -> FloatArray:
    """|sel ∩ G| / |sel|, 0 when nothing is selected."""
    return divide(hits, size)


def f1(hits: IntArray, size: IntArray, gold: IntArray) -> FloatArray:
    """Harmonic mean of the two."""
    return divide(2 * hits, size + gold)


def recall_all(hits: IntArray, size: IntArray, gold: IntArray) -> FloatArray:
    """Recall where an empty gold counts 1 when nothing is selected, else 0 (000)."""
    return np.where(gold == 0, (size == 0).astype(np.float64), recall(hits, gold))


def precision_all(hits: IntArray, size: IntArray, gold: IntArray) -> FloatArray:
    """Precision where an empty selection counts 1 when gold is empty, else 0 (000)."""
    return np.where(size == 0, (gold == 0).astype(np.float64), precision(hits, size))


def quantiles(counts: Array, sizes: FloatArray, at: list[float]) -> FloatArray:
    """Linear quantiles of weighted histograms: (Q, b) from counts (S, b) over rising sizes (S,)."""
    above = accumulate(counts)
    total = above[-1].astype(np.float64)
    last = np.maximum(total - 1, 0)
    place = np.multiply.outer(np.array(at), last)
    low = np.floor(place)
    ends = np.stack([low, np.minimum(low + 1, last)]).astype(counts.dtype)
    passed = np.empty((2, len(at), *above[:-1].shape), dtype=counts.dtype)
    np.less_equal(above[:-1], ends[:, :, None, :], out=passed, casting="unsafe")
    below, beyond = sizes[0] + (np.diff(sizes).astype(counts.dtype) @ passed).astype(np.float64)
    value = below + (place - low) * (beyond - below)
    value[:, total == 0] = np.nan
    return np.asarray(value, dtype=np.float64)
