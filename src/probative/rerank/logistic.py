"""Regularised logistic regressions of many outcomes on the same rows, solved side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probative.types import Vectors

MEMORY = 8
"""Past steps that L-BFGS remembers."""
TOLERANCE = 1e-3
"""An outcome is done when its slope is this much smaller than at the start."""


def fit_logistic(
    blocks: Sequence[Any],
    target: Vectors,
    weight: Vectors,
    offset: Vectors,
    *,
    iterations: int,
    penalty: float = 1.0,
    intercept_penalty: float = 0.01,
) -> Vectors:
    """Weights (features + 1, outcomes), the intercepts last, of `offset` + rows · weights.

    `blocks` are the feature columns, dense or sparse; `target`, `weight` and `offset` are (rows, outcomes). A weight of
    0 leaves a row out of an outcome. Every outcome has its own L-BFGS, so none depends on which others are fitted too.
    """
    problem = _Problem(blocks, target, weight, offset, penalty, intercept_penalty)
    theta = problem.start()
    value, slope = problem.loss(theta)
    first = np.linalg.norm(slope, axis=0)
    steps: list[tuple[Vectors, Vectors, Vectors]] = []
    for _ in range(iterations):
        live = np.linalg.norm(slope, axis=0) > TOLERANCE * first
        if not live.any():
            break
        direction = _direction(slope, steps) * live
        theta, value, new_slope, moved = _search(problem, theta, value, slope, direction)
        change = new_slope - slope
        curvature = (moved * change).sum(0)
        good = curvature > 1e-10
        inverse = np.where(good, 1 / np.where(good, curvature, 1), 0).astype(np.float32)
        steps = [*steps[1 - MEMORY :], (moved, change, inverse)]
        slope = new_slope
    return theta


def predict_logistic(blocks: Sequence[Any], theta: Vectors) -> Vectors:
    """(rows, outcomes) log-odds without any offset."""
    logit = np.repeat(theta[-1:], blocks[0].shape[0], axis=0)
    start = 0
    for block in blocks:
        end = start + block.shape[1]
        logit += block @ theta[start:end]
        start = end
    return logit


class _Problem:
    def __init__(
        self,
        blocks: Sequence[Any],
        target: Vectors,
        weight: Vectors,
        offset: Vectors,
        penalty: float,
        intercept_penalty: float,
    ) -> None:
        self.blocks = blocks
        self.back = [b.T.tocsr() if hasattr(b, "tocsr") else b.T for b in blocks]
        self.target, self.weight, self.offset = target, weight, offset
        self.ridge = np.full((sum(b.shape[1] for b in blocks) + 1, 1), penalty, dtype=np.float32)
        self.ridge[-1] = intercept_penalty

    def start(self) -> Vectors:
        """All weights 0, the intercept at the outcome's rate where nothing else is known."""
        theta = np.zeros((len(self.ridge), self.target.shape[1]), dtype=np.float32)
        total = self.weight.sum(0) + 1
        rate = ((self.weight * self.target).sum(0) + 0.5) / total
        centre = (self.weight * self.offset).sum(0) / total
        theta[-1] = np.log(rate / (1 - rate)) - centre
        return theta

    def loss(self, theta: Vectors) -> tuple[Any, Vectors]:
        """(outcomes,) the penalised loss, and its slope."""
        logit = predict_logistic(self.blocks, theta) + self.offset
        tail = np.exp(-np.abs(logit))
        row_loss = np.maximum(logit, 0) - logit * self.target + np.log1p(tail)
        value = (self.weight * row_loss).sum(0, dtype=np.float64)
        residual = self.weight * (np.where(logit > 0, np.float32(1), tail) / (1 + tail) - self.target)
        slope = np.concatenate([*(b @ residual for b in self.back), residual.sum(0, keepdims=True)])
        slope += self.ridge * theta
        return value + 0.5 * (self.ridge * theta**2).sum(0, dtype=np.float64), slope


def _direction(slope: Vectors, steps: Sequence[tuple[Vectors, Vectors, Vectors]]) -> Vectors:
    """Each outcome's quasi-Newton direction: the two-loop recursion."""
    q = -slope
    if not steps:
        return np.asarray(q / np.maximum(np.linalg.norm(slope, axis=0), 1e-12), dtype=np.float32)
    shares = []
    for moved, change, inverse in reversed(steps):
        share = inverse * (moved * q).sum(0)
        q -= share * change
        shares.append(share)
    moved, change, inverse = steps[-1]
    scale = np.where(inverse > 0, 1 / np.maximum(inverse * (change * change).sum(0), 1e-12), 1)
    q *= scale.astype(np.float32)
    for (moved, change, inverse), share in zip(steps, reversed(shares), strict=True):
        q += moved * (share - inverse * (change * q).sum(0))
    return q


def _search(
    problem: _Problem, theta: Vectors, value: Any, slope: Vectors, direction: Vectors
) -> tuple[Vectors, Any, Vectors, Vectors]:
    """Halve each outcome's step until its loss falls enough; an outcome that cannot fall stays where it is."""
    fall = (slope * direction).sum(0)
    step = np.where(fall < 0, 1, 0).astype(np.float32)
    for _ in range(12):
        moved = step * direction
        new_value, new_slope = problem.loss(theta + moved)
        worse = (new_value > value + 1e-4 * step * fall + 1e-6 * np.abs(value)) & (step > 0)
        if not worse.any():
            return theta + moved, new_value, new_slope, moved
        step = np.where(worse, step / 2, step).astype(np.float32)
    moved = np.where(worse, 0, step).astype(np.float32) * direction
    new_value, new_slope = problem.loss(theta + moved)
    return theta + moved, new_value, new_slope, moved
