"""Is there evidence at all: curves over every distinct score, and the confusion table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from probative.metrics.ranking import divide
from probative.segments import BoolArray, FloatArray, IntArray

ALPHAS = ("0.01", "0.03", "0.05", "0.1")
CONFUSION = ("tp", "fp", "tn", "fn")
RATES = ("sensitivity", "specificity", "fpr", "precision", "npv", "f1", "mcc", "balanced_accuracy")
Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Scores as a staircase: one step a distinct score of a positive, from the highest.

    Between two such scores only the number of false positives changes, so AUROC, average precision and the best TPR
    under a budget need no other scores.
    """

    score: FloatArray
    """(G,) the distinct scores of positives, falling."""
    positive_rows: IntArray
    positive_step: IntArray
    negative_rows: IntArray
    """Rows of negatives at or above the lowest positive score."""
    negative_step: IntArray
    """The first step whose threshold lets this negative through."""
    tied: BoolArray
    """Negatives that score exactly like their step."""
    n_positive: int
    n_negative: int
    top: float
    """The highest score of all."""
    top_negatives: int
    """Negatives that have it."""

    @property
    def one_class(self) -> bool:
        return self.n_positive == 0 or self.n_negative == 0


def steps(y: BoolArray, score: FloatArray) -> Steps:
    """The staircase of some scores."""
    positive = np.flatnonzero(y)
    negative = np.flatnonzero(~y)
    distinct, place = np.unique(-score[positive], return_inverse=True)
    step = np.searchsorted(distinct, -score[negative], side="left")
    kept = step < len(distinct)
    top = float(score.max()) if len(score) else float("nan")
    negative_rows, negative_step = negative[kept], step[kept]
    return Steps(
        score=-distinct,
        positive_rows=positive,
        positive_step=place.reshape(-1).astype(np.int64),
        negative_rows=negative_rows,
        negative_step=negative_step.astype(np.int64),
        tied=score[negative_rows] == -distinct[negative_step],
        n_positive=len(positive),
        n_negative=len(negative),
        top=top,
        top_negatives=int((score[negative] == top).sum()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Staircase:
    """Weighted counts on every step, b columns side by side."""

    gained: Array
    """(G, b) positives on the step."""
    tp: Array
    """(G, b) positives at or above it."""
    fp: Array
    """(G, b) negatives at or above it."""
    tied: Array
    """(T, b) negatives exactly on the steps `tied_steps`."""
    tied_steps: IntArray
    n_positive: Array
    """(b,)"""
    n_negative: Array
    """(b,)"""

    def auroc(self) -> FloatArray:
        """Area under the ROC curve; NaN with one class."""
        lost = np.einsum("gb,gb->b", self.gained, self.fp).astype(np.float64)
        lost -= 0.5 * np.einsum("gb,gb->b", self.gained[self.tied_steps], self.tied)
        return 1.0 - _divide_or_nan(lost, self.n_positive.astype(np.float64) * self.n_negative)

    def average_precision(self) -> FloatArray:
        """Average precision; NaN with one class."""
        precision = np.maximum(self.tp + self.fp, 1)
        np.divide(self.tp, precision, out=precision)
        summed = np.einsum("gb,gb->b", self.gained, precision).astype(np.float64)
        both = (self.n_positive > 0) & (self.n_negative > 0)
        return np.where(both, _divide_or_nan(summed, self.n_positive.astype(np.float64)), np.nan)

    def reached(self, alphas: Sequence[float]) -> IntArray:
        """(a, b) the number of steps whose FPR is at most each alpha, by bisection."""
        budget = allowed(self.n_negative, np.asarray(alphas, dtype=np.float64)[:, None])
        if budget.shape[1] == 1:
            return np.searchsorted(self.fp[:, 0], budget, side="right")
        low = np.zeros(budget.shape, dtype=np.int64)
        high = np.full(budget.shape, len(self.fp), dtype=np.int64)
        column = np.arange(budget.shape[1])
        for _ in range(len(self.fp).bit_length()):
            middle = (low + high) // 2
            open_ = middle < high
            fits = open_ & (self.fp[np.minimum(middle, len(self.fp) - 1), column] <= budget)
            low = np.where(fits, middle + 1, low)
            high = np.where(open_ & ~fits, middle, high)
        return low

    def tpr(self, alphas: Sequence[float]) -> FloatArray:
        """(a, b) the largest TPR with FPR at most each alpha; NaN with one class."""
        count = self.reached(alphas)
        if not len(self.tp):
            return np.full(count.shape, np.nan)
        both = (self.n_positive > 0) & (self.n_negative > 0)
        tp = self.tp[np.maximum(count - 1, 0), np.arange(count.shape[1])]
        return np.where(both & (count > 0), tp, 0.0) / np.where(both, self.n_positive, np.nan)


def _divide_or_nan(a: Array, b: Array) -> FloatArray:
    out: FloatArray = np.divide(a, b, out=np.full(np.shape(b), np.nan), where=b > 0)
    return out


def allowed(n_negative: Array, alpha: Array | float) -> FloatArray:
    """The largest whole number of false positives whose share is at most alpha, compared as doubles."""
    total = np.maximum(np.asarray(n_negative, dtype=np.float64), 1.0)
    count = np.floor(alpha * total) + 1
    count -= count / total > alpha
    count -= count / total > alpha
    return count


def accumulate(rows: Array) -> Array:
    """Cumulative sums down the rows. Row by row, because NumPy walks columns when asked for axis 0."""
    if rows.shape[1] < 8:
        return np.cumsum(rows, axis=0)
    out = np.empty_like(rows)
    out[:1] = rows[:1]
    for row, (above, below) in zip(rows[1:], pairwise(out), strict=True):
        np.add(above, row, out=below)
    return out


def staircase(stairs: Steps) -> Staircase:
    """The staircase with every row counted once."""
    n = len(stairs.score)
    gained = np.bincount(stairs.positive_step, minlength=n).astype(np.float64)[:, None]
    fp = np.bincount(stairs.negative_step, minlength=n).astype(np.float64)[:, None]
    tied = np.bincount(stairs.negative_step[stairs.tied], minlength=n).astype(np.float64)[:, None]
    return Staircase(
        gained=gained,
        tp=np.cumsum(gained, axis=0),
        fp=np.cumsum(fp, axis=0),
        tied=tied,
        tied_steps=np.arange(n),
        n_positive=np.array([float(stairs.n_positive)]),
        n_negative=np.array([float(stairs.n_negative)]),
    )


def count_steps(y: ArrayLike, score: ArrayLike) -> Staircase:
    """The same staircase straight from scores: who stands on a step is not kept, only how many do."""
    y, score = np.asarray(y, dtype=bool), np.asarray(score, dtype=np.float64)
    rising, counts = np.unique(score[y.nonzero()], return_counts=True)
    everyone = np.sort(score)
    below = np.searchsorted(everyone, rising)
    beyond = below + counts
    more = everyone[np.minimum(beyond, len(everyone) - 1)] == rising
    tied_steps = np.flatnonzero((more & (beyond < len(everyone)))[::-1])
    tied_at = len(rising) - 1 - tied_steps
    through = np.searchsorted(everyone, rising[tied_at], side="right")
    gained = counts[::-1].astype(np.float64)[:, None]
    tp = np.cumsum(gained, axis=0)
    n_positive = float(counts.sum())
    return Staircase(
        gained=gained,
        tp=tp,
        fp=(len(everyone) - below[::-1])[:, None] - tp,
        tied=(through - beyond[tied_at]).astype(np.float64)[:, None],
        tied_steps=tied_steps,
        n_positive=np.array([n_positive]),
        n_negative=np.array([len(everyone) - n_positive]),
    )


def curve_threshold(stairs: Steps, plain: Staircase, alpha: float) -> float | None:
    """The threshold of `tpr@fpr`: the highest score that reaches the largest TPR within the budget."""
    if stairs.one_class:
        return None
    count = int(plain.reached((alpha,))[0, 0])
    if count:
        return float(stairs.score[count - 1])
    alone = stairs.top > stairs.score[0] and stairs.top_negatives / stairs.n_negative <= alpha
    return stairs.top if alone else None


def auroc(y: ArrayLike, score: ArrayLike) -> float:
    """Area under the ROC curve; .5 with one class only.

    >>> auroc([1, 1, 0, 0, 1], [0.9, 0.7, 0.4, 0.2, 0.8])
    1.0
    """
    value = float(count_steps(y, score).auroc()[0])
    return 0.5 if np.isnan(value) else value


def auprc(y: ArrayLike, score: ArrayLike) -> float:
    """Average precision; the prevalence with one class only."""
    value = float(count_steps(y, score).average_precision()[0])
    return value if not np.isnan(value) else float(np.asarray(y, dtype=np.float64).mean()) if np.size(y) else 0.0


def confusion(tp: Array, fp: Array, tn: Array, fn: Array) -> dict[str, FloatArray]:
    """Contract §3's rates from counts of any shape; a zero denominator gives 0."""
    sensitivity, specificity = divide(tp, tp + fn), divide(tn, tn + fp)
    return {
        "sensitivity": sensitivity,
        "specificity": specificity,
        "fpr": divide(fp, fp + tn),
        "precision": divide(tp, tp + fp),
        "npv": divide(tn, tn + fn),
        "f1": divide(2 * tp, 2 * tp + fp + fn),
        "mcc": mcc(tp, fp, tn, fn),
        "balanced_accuracy": (sensitivity + specificity) / 2,
    }


def mcc(tp: Array, fp: Array, tn: Array, fn: Array) -> FloatArray:
    """Matthews correlation; 0 when a margin is empty."""
    margins = (
        np.sqrt(np.asarray(tp + fp, dtype=np.float64))
        * np.sqrt(np.asarray(tp + fn, dtype=np.float64))
        * np.sqrt(np.asarray(tn + fp, dtype=np.float64))
        * np.sqrt(np.asarray(tn + fn, dtype=np.float64))
    )
    return np.clip(divide(np.asarray(tp, np.float64) * tn - np.asarray(fp, np.float64) * fn, margins), -1.0, 1.0)
