"""The operating threshold: as many positives as a budget of false alarms allows (contract §3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from probative.decide.labelled import Labelled, finite
from probative.segments import BoolArray, FloatArray, IntArray

BUDGETS = (0.01, 0.03, 0.05, 0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """What every possible threshold would do, from the highest down: predict positive at or above it."""

    raw: FloatArray
    value: FloatArray
    tp: IntArray
    fp: IntArray
    n_positive: int
    n_negative: int

    @classmethod
    def of(cls, rows: Labelled, values: FloatArray) -> Cuts:
        """One cut a distinct score; scores whose mapped value is the same share a cut, because no value parts them."""
        order = np.lexsort((-rows.score, -values))
        raw, value, positive = rows.score[order], values[order], rows.positive[order]
        last = np.flatnonzero(np.append((np.diff(raw) < 0) & (np.diff(value) < 0), True))
        tp = np.cumsum(positive)[last].astype(np.int64)
        return cls(
            raw=raw[last],
            value=value[last],
            tp=tp,
            fp=last + 1 - tp,
            n_positive=rows.n_positive,
            n_negative=rows.score.size - rows.n_positive,
        )

    @property
    def tpr(self) -> FloatArray:
        return self.tp / max(self.n_positive, 1)

    @property
    def fpr(self) -> FloatArray:
        return self.fp / max(self.n_negative, 1)

    @property
    def precision(self) -> FloatArray:
        return self.tp / (self.tp + self.fp)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """A threshold on the raw scores, the same on the calibrated ones, and what it reached where it was chosen.

    `raw` and `value` are None when no threshold keeps the budget: then nothing is predicted.
    """

    fpr_budget: float
    raw: float | None
    value: float | None
    tpr: float
    fpr: float

    def predict(self, values: ArrayLike) -> BoolArray:
        """Which calibrated scores pass."""
        array = finite(values, "values")
        return array >= self.value if self.value is not None else np.zeros(array.size, dtype=bool)

    def to_dict(self) -> dict[str, Any]:
        return {"fpr_budget": self.fpr_budget, "raw": self.raw, "value": self.value, "tpr": self.tpr, "fpr": self.fpr}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> OperatingPoint:
        return cls(
            fpr_budget=values["fpr_budget"],
            raw=values["raw"],
            value=values["value"],
            tpr=values.get("tpr", 0.0),
            fpr=values.get("fpr", 0.0),
        )


def choose_threshold(
    scores: ArrayLike, labels: ArrayLike, fpr_budget: float = 0.05, *, values: ArrayLike | None = None
) -> OperatingPoint:
    """The threshold with the largest TPR whose FPR keeps the budget; of equal ones the higher.

    `values` are the calibrated scores of the same rows (default: the scores themselves).

    >>> point = choose_threshold([0.9, 0.8, 0.4, 0.2], [1, 0, 1, 0], fpr_budget=0.5)
    >>> point.raw, point.tpr, point.fpr
    (0.4, 1.0, 0.5)
    """
    rows = Labelled.of(scores, labels)
    mapped = rows.score if values is None else finite(values, "values")
    return point_at(Cuts.of(rows, mapped), fpr_budget)


def point_at(cuts: Cuts, fpr_budget: float) -> OperatingPoint:
    """The operating point of one budget."""
    within = int(np.searchsorted(cuts.fpr, fpr_budget, side="right"))
    if within == 0 or cuts.n_positive == 0:
        return OperatingPoint(fpr_budget=fpr_budget, raw=None, value=None, tpr=0.0, fpr=0.0)
    best = int(np.argmax(cuts.tp[:within]))
    return OperatingPoint(
        fpr_budget=fpr_budget,
        raw=float(cuts.raw[best]),
        value=float(cuts.value[best]),
        tpr=float(cuts.tpr[best]),
        fpr=float(cuts.fpr[best]),
    )
