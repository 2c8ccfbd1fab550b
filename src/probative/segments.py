"""Arithmetic on flat arrays cut into segments by offsets: a query's candidates, a document's sentences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def lengths(offsets: IntArray) -> IntArray:
    """The length of every segment."""
    return np.diff(offsets)


def from_lengths(sizes: IntArray) -> IntArray:
    """Offsets of segments with these lengths."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def owner(offsets: IntArray) -> IntArray:
    """For every row the number of its segment."""
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))


def within(offsets: IntArray) -> IntArray:
    """For every row its place inside its segment, from 0."""
    return np.arange(offsets[-1], dtype=np.int64) - np.repeat(offsets[:-1], np.diff(offsets))


def rows(offsets: IntArray, segments: IntArray) -> IntArray:
    """The rows of the chosen segments, segment after segment."""
    sizes = np.diff(offsets)[segments]
    return within(from_lengths(sizes)) + np.repeat(offsets[segments], sizes)


def order(scores: NDArray[np.floating], offsets: IntArray, ties: NDArray[np.number] | None = None) -> IntArray:
    """Rows sorted inside each segment by falling score; equal scores by rising `ties`, then by place."""
    keys: tuple[NDArray[np.number], ...] = (-scores, owner(offsets))
    if ties is not None:
        keys = (ties, *keys)
    return np.lexsort(keys)


def rank(scores: NDArray[np.floating], offsets: IntArray, ties: NDArray[np.number] | None = None) -> IntArray:
    """For every row its rank inside its segment, 1 for the highest score."""
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[order(scores, offsets, ties)] = within(offsets) + 1
    return ranks


def _reduce(ufunc: np.ufunc, values: NDArray[np.floating], offsets: IntArray, empty: float) -> FloatArray:
    out = np.full(len(offsets) - 1, empty, dtype=np.float64)
    filled = np.diff(offsets) > 0
    if filled.any():
        out[filled] = ufunc.reduceat(values, offsets[:-1][filled])
    return out


def maximum(values: NDArray[np.floating], offsets: IntArray, empty: float = -np.inf) -> FloatArray:
    """The highest value of every segment, `empty` where it has no rows."""
    return _reduce(np.maximum, values, offsets, empty)


def minimum(values: NDArray[np.floating], offsets: IntArray, empty: float = np.inf) -> FloatArray:
    """The lowest value of every segment, `empty` where it has no rows."""
    return _reduce(np.minimum, values, offsets, empty)


def total(values: NDArray[np.floating] | BoolArray, offsets: IntArray) -> FloatArray:
    """The sum of every segment."""
    return _reduce(np.add, np.asarray(values, dtype=np.float64), offsets, 0.0)
