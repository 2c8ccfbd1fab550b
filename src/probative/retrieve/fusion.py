"""Two orders made one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from probative import segments
from probative.segments import IntArray
from probative.types import Floats


def reciprocal_rank(orders: list[Floats], offsets: IntArray, k: float) -> NDArray[np.float32]:
    """The sum of 1 / (k + rank) over several scores."""
    total = sum((1.0 / (k + segments.rank(scores, offsets)) for scores in orders), np.zeros(int(offsets[-1])))
    return total.astype(np.float32)


def weighted(dense: Floats, bm25: Floats, offsets: IntArray, weight: float) -> NDArray[np.float32]:
    """Both scores brought to [0, 1] within each query, then mixed."""
    return (weight * min_max(dense, offsets) + (1 - weight) * min_max(bm25, offsets)).astype(np.float32)


def min_max(scores: Floats, offsets: IntArray) -> NDArray[np.float64]:
    """Each segment stretched to [0, 1]; all equal gives 0."""
    sizes = np.diff(offsets)
    low = np.repeat(segments.minimum(scores, offsets), sizes)
    span = np.repeat(segments.maximum(scores, offsets), sizes) - low
    return np.divide(scores - low, span, out=np.zeros(len(low)), where=span > 0)
