"""Logistic calibration: Platt's curve with two parameters, the temperature with one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from probative.decide.labelled import Labelled, finite
from probative.errors import DataError, ModelError
from probative.segments import BoolArray, FloatArray


class UnfitError(DataError):
    """This method has no answer for these data; `Calibrator` then tries the others."""


def sigmoid(logits: ArrayLike) -> FloatArray:
    """Log-odds to probabilities, in double precision and without overflow."""
    z = np.asarray(logits, dtype=np.float64)
    small = np.exp(-np.abs(z))
    return np.asarray(np.where(z >= 0, 1.0, small) / (1.0 + small), dtype=np.float64)


class Platt:
    """A logistic curve σ(a·z + b) by maximum likelihood, without regularisation; a must be positive."""

    kind: ClassVar[Literal["platt"]] = "platt"
    a_: float
    b_: float

    def fit(self, logits: ArrayLike, labels: ArrayLike) -> Self:
        rows = Labelled.of(logits, labels)
        z, positive = rows.score, rows.positive
        if rows.one_class:
            raise UnfitError("platt: the labels hold one class only, so no finite curve is the best.")
        spread = float(z.std())
        if spread == 0.0:
            raise UnfitError("platt: all scores are equal.")
        if z[positive].min() >= z[~positive].max() or z[positive].max() <= z[~positive].min():
            raise UnfitError("platt: the scores separate the classes, so no finite curve is the best.")
        centre = float(z.mean())
        slope, shift = _maximum_likelihood(np.column_stack([(z - centre) / spread, np.ones(z.size)]), positive)
        if slope <= 0:
            raise UnfitError("platt: higher scores do not go with more evidence.")
        self.a_ = slope / spread
        self.b_ = shift - self.a_ * centre
        return self

    def predict(self, logits: ArrayLike) -> FloatArray:
        return sigmoid(self.a_ * finite(logits, "logits") + self.b_)

    def to_dict(self) -> dict[str, Any]:
        return {"a": self.a_, "b": self.b_}

    @classmethod
    def from_dict(cls, params: Mapping[str, Any]) -> Self:
        self = cls()
        self.a_, self.b_ = float(params["a"]), float(params["b"])
        if not (self.a_ > 0 and np.isfinite(self.a_) and np.isfinite(self.b_)):
            raise ModelError("calibrator: a Platt curve needs a finite positive a and a finite b.")
        return self


class Temperature:
    """σ(z / T) by maximum likelihood: softens or sharpens without moving the even odds."""

    kind: ClassVar[Literal["temperature"]] = "temperature"

    def __init__(self, t: float = 1.0) -> None:
        self.t_ = t

    def fit(self, logits: ArrayLike, labels: ArrayLike) -> Self:
        rows = Labelled.of(logits, labels)
        z, positive = rows.score, rows.positive
        if rows.one_class:
            raise UnfitError("temperature: the labels hold one class only.")
        toward = np.where(positive, z, -z)
        if toward.sum() <= 0:
            raise UnfitError("temperature: the log-odds point away from the labels.")
        if (toward >= 0).all():
            raise UnfitError("temperature: the sign of the score separates the classes, so no finite T is the best.")
        scale = float(np.abs(z).max())
        (inverse,) = _maximum_likelihood((z / scale)[:, None], positive)
        self.t_ = scale / inverse
        return self

    def predict(self, logits: ArrayLike) -> FloatArray:
        return sigmoid(finite(logits, "logits") / self.t_)

    def to_dict(self) -> dict[str, Any]:
        return {"t": self.t_}

    @classmethod
    def from_dict(cls, params: Mapping[str, Any]) -> Self:
        t = float(params["t"])
        if not (t > 0 and np.isfinite(t)):
            raise ModelError("calibrator: a temperature must be finite and positive.")
        return cls(t)


def _maximum_likelihood(design: FloatArray, positive: BoolArray) -> tuple[float, ...]:
    """Logistic regression by Newton's method; the caller has made sure that the maximum is finite."""
    sign = np.where(positive, 1.0, -1.0)

    def loss(weights: FloatArray) -> float:
        return float(np.logaddexp(0.0, -sign * (design * weights).sum(axis=1)).sum())

    weights = np.zeros(design.shape[1])
    here = loss(weights)
    for _ in range(200):
        p = sigmoid((design * weights).sum(axis=1))
        gradient = (design * (p - positive)[:, None]).sum(axis=0)
        bend = (design[:, :, None] * design[:, None, :] * (p * (1 - p))[:, None, None]).sum(axis=0)
        step = np.linalg.solve(bend + 1e-12 * np.trace(bend) * np.eye(weights.size), gradient)
        if float((gradient * step).sum()) < 1e-20 * design.shape[0]:
            break
        size = 1.0
        while size > 1e-10 and loss(weights - size * step) > here:
            size /= 2
        weights = weights - size * step
        here = loss(weights)
    return tuple(float(w) for w in weights)
