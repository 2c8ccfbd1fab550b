"""Do probabilities mean what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from probative.metrics.ranking import divide
from probative.segments import BoolArray, FloatArray, IntArray

EDGES: FloatArray = np.linspace(0, 1, 11)
CLIP = 1e-12
Array = NDArray[np.floating[Any]]


def bins(p: FloatArray, edges: FloatArray = EDGES) -> IntArray:
    """The bin of every probability: [low, high), the last one closed."""
    return np.clip(np.searchsorted(edges, p, side="right") - 1, 0, len(edges) - 2).astype(np.int64)


def equal_mass_edges(p: FloatArray, n_bins: int = 10) -> FloatArray:
    """Deciles of p; equal ones merged, so that equal probabilities share a bin whatever their order."""
    if not len(p):
        return np.array([0.0, 1.0])
    edges = np.unique(np.quantile(p, np.linspace(0, 1, n_bins + 1)))
    return edges if len(edges) > 1 else np.append(edges, edges[-1] + 1.0)


def gap(sum_p: Array, sum_y: Array, n: Array | float) -> FloatArray:
    """Expected calibration error from bins along the first axis."""
    return divide(np.abs(sum_p - sum_y).sum(axis=0, dtype=np.float64), n)


def largest_gap(sum_p: Array, sum_y: Array, size: Array) -> FloatArray:
    """The largest bin error; empty bins do not count."""
    return np.asarray(divide(np.abs(sum_p - sum_y), size).max(axis=0), dtype=np.float64)


def binned(p: ArrayLike, y: ArrayLike, edges: FloatArray = EDGES) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sums of p and y and the size of every bin."""
    p, y = np.asarray(p, dtype=np.float64), np.asarray(y, dtype=np.float64)
    at, m = bins(p, edges), len(edges) - 1
    return (
        np.bincount(at, weights=p, minlength=m).astype(np.float64),
        np.bincount(at, weights=y, minlength=m).astype(np.float64),
        np.bincount(at, minlength=m).astype(np.float64),
    )


def brier(y: ArrayLike, p: ArrayLike) -> float:
    """Mean squared error of the probabilities."""
    error = np.asarray(p, dtype=np.float64) - np.asarray(y, dtype=np.float64)
    return float(np.mean(error**2)) if error.size else 0.0


def ece(y: ArrayLike, p: ArrayLike) -> float:
    """Expected calibration error over ten equal bins, the last one closed at 1."""
    sum_p, sum_y, size = binned(p, y)
    return float(gap(sum_p, sum_y, size.sum()))


def logit(p: FloatArray) -> FloatArray:
    """Log-odds, with p kept CLIP away from 0 and 1."""
    inside = np.clip(p, CLIP, 1 - CLIP)
    return np.log(inside) - np.log1p(-inside)


def line(y: BoolArray, p: FloatArray, steps: int = 100) -> tuple[float, float] | None:
    """(slope, intercept) of the logistic regression of y on the log-odds of p; None when it has no finite maximum."""
    if y.all() or not y.any():
        return None
    x = logit(p)
    if np.ptp(x) == 0 or _separated(y, x):
        return None
    shift, scale = x.mean(), x.std()
    z, target = (x - shift) / scale, y.astype(np.float64)
    theta = np.zeros(2)
    for _ in range(steps):
        move = _newton(theta, z, target)
        theta = theta + move
        if np.abs(move).max() < 1e-13:
            break
    slope = theta[1] / scale
    return float(slope), float(theta[0] - slope * shift)


def _separated(y: BoolArray, x: FloatArray) -> bool:
    return bool(x[y].min() >= x[~y].max() or x[y].max() <= x[~y].min())


def _loss(theta: FloatArray, z: FloatArray, target: FloatArray) -> float:
    eta = theta[0] + theta[1] * z
    return float(np.logaddexp(0, eta).sum() - target @ eta)


def _newton(theta: FloatArray, z: FloatArray, target: FloatArray) -> FloatArray:
    """One Newton step, halved while it does not lower the loss."""
    mean = sigmoid(theta[0] + theta[1] * z)
    spread = mean * (1 - mean)
    gradient = np.array([(target - mean).sum(), ((target - mean) * z).sum()])
    a, b, c = spread.sum(), (spread * z).sum(), (spread * z * z).sum()
    move: FloatArray = np.array([c * gradient[0] - b * gradient[1], a * gradient[1] - b * gradient[0]]) / (
        a * c - b * b
    )
    before = _loss(theta, z, target) * (1 + 1e-12)  # near the maximum the loss moves less than it is rounded
    for _ in range(30):
        if _loss(theta + move, z, target) <= before:
            return move
        move = move / 2
    return np.zeros(2)


def sigmoid(x: FloatArray) -> FloatArray:
    """1 / (1 + e^-x) without overflow."""
    out: FloatArray = np.exp(-np.logaddexp(0, -x))
    return out
