"""Calibration: from a gate's log-odds to probabilities, in the same order.

A method is a monotone map g of the log-odds z. `Calibrator` picks one and predicts (1 − δ)·g(z) + δ·σ(z), which is
strictly increasing: it makes no ties, so thresholds found on raw scores keep their meaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from probative.decide.isotonic import Isotonic
from probative.decide.labelled import Labelled, finite
from probative.decide.logistic import Platt, Temperature, UnfitError, sigmoid
from probative.errors import ConfigError, ModelError
from probative.segments import FloatArray

Kind = Literal["isotonic", "platt", "temperature"]
Method = Isotonic | Platt | Temperature
METHODS: Mapping[Kind, type[Isotonic] | type[Platt] | type[Temperature]] = {
    "isotonic": Isotonic,
    "platt": Platt,
    "temperature": Temperature,
}
"""In the order in which equal losses are decided."""
DELTA = 1e-6
FOLDS = 5
BELOW_ONE = float(np.nextafter(1.0, 0.0))
"""No calibrated probability is 1, so that a threshold of 1 means: never."""


class Calibrator:
    """The calibration method that predicts unseen documents best, chosen by document-grouped log loss.

    >>> gate = Calibrator().fit([-3, -1, 0, 1, 2, 4], [0, 0, 1, 0, 1, 1], groups=["a", "a", "b", "b", "c", "c"])
    >>> gate.kind_, gate.predict([-1, 0, 1, 2]).round(3).tolist()
    ('isotonic', [0.0, 0.5, 0.5, 1.0])
    """

    kind_: Kind
    method_: Method
    cv_log_loss_: dict[Kind, float | None]
    reason_: str | None

    def __init__(self, kinds: Sequence[Kind] = ("isotonic", "platt", "temperature"), delta: float = DELTA) -> None:
        self.kinds = kinds
        self.delta = delta

    def fit(self, logits: ArrayLike, labels: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Choose among `kinds` and fit the choice on all rows."""
        if unknown := set(self.kinds) - set(METHODS):
            raise ConfigError(f"calibration: {', '.join(sorted(unknown))} is unknown; known are {', '.join(METHODS)}.")
        rows = Labelled.of(logits, labels, groups)
        offered = [kind for kind in METHODS if kind in self.kinds]
        self.cv_log_loss_ = dict.fromkeys(offered)
        self.reason_ = None
        if rows.one_class:
            return self._identity("the labels hold one class only, so the scores are left as they are")
        fitted = {kind: method for kind in offered if (method := _try(kind, rows)) is not None}
        if rows.n_documents < 2:
            self.reason_ = "one document only: methods cannot be compared on unseen documents, so the plainest is taken"
            fitted = dict(list(fitted.items())[-1:])
        else:
            losses: dict[Kind, float | None] = {kind: _cross_validated(kind, rows, self.delta) for kind in fitted}
            self.cv_log_loss_.update(losses)
            compared = {kind: loss for kind, loss in losses.items() if loss is not None}
            fitted = {kind: fitted[kind] for kind in sorted(compared, key=compared.__getitem__)[:1]}
        for kind, method in fitted.items():
            self.kind_, self.method_ = kind, method
            return self
        return self._identity("no method could be fitted to these rows, so the scores are left as they are")

    def _identity(self, reason: str) -> Self:
        self.kind_, self.method_, self.reason_ = "temperature", Temperature(1.0), reason
        return self

    def predict(self, logits: ArrayLike) -> FloatArray:
        """Calibrated probabilities, strictly between 0 and 1 and in the order of the scores."""
        return _blend(self.method_, finite(logits, "logits"), self.delta)

    def to_dict(self) -> dict[str, Any]:
        """The entry `calibrator` of a run's manifest."""
        return {
            "kind": self.kind_,
            **self.method_.to_dict(),
            "delta": self.delta,
            "cv_log_loss": dict(self.cv_log_loss_),
            "reason": self.reason_,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """A fitted calibrator from its manifest entry."""
        if values.get("kind") not in METHODS:
            raise ModelError(f"calibrator: kind {values.get('kind')!r} is unknown; known are {', '.join(METHODS)}.")
        losses = dict(values.get("cv_log_loss", {}))
        self = cls(kinds=tuple(losses) or (values["kind"],), delta=float(values["delta"]))
        self.kind_ = values["kind"]
        try:
            self.method_ = METHODS[self.kind_].from_dict(values)
        except KeyError as error:
            raise ModelError(f"calibrator: parameter {error} of kind {self.kind_!r} is missing.") from None
        self.cv_log_loss_ = losses
        self.reason_ = values.get("reason")
        return self


def _try(kind: Kind, rows: Labelled) -> Method | None:
    try:
        return METHODS[kind]().fit(rows.score, rows.positive)
    except UnfitError:
        return None


def _blend(method: Method, logits: FloatArray, delta: float) -> FloatArray:
    return np.minimum((1.0 - delta) * method.predict(logits) + delta * sigmoid(logits), BELOW_ONE)


def _cross_validated(kind: Kind, rows: Labelled, delta: float) -> float | None:
    """Mean over the folds of the log loss on documents left out; None when a part admits no fit."""
    part = rows.document % FOLDS
    losses = []
    for held_out in range(min(FOLDS, rows.n_documents)):
        test = part == held_out
        train = Labelled(score=rows.score[~test], positive=rows.positive[~test], document=rows.document[~test])
        method = _try(kind, train)
        if method is None:
            return None
        edge = 1.0 / (train.score.size + 2)
        p = np.clip(_blend(method, rows.score[test], delta), edge, 1.0 - edge)
        losses.append(float(-np.log(np.where(rows.positive[test], p, 1.0 - p)).mean()))
    return float(np.mean(losses))
