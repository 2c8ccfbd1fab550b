"""Isotonic calibration by pooling adjacent violators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from probative.decide.labelled import Labelled, finite
from probative.errors import ModelError
from probative.segments import FloatArray, IntArray


class Isotonic:
    """The best rising step function (pool adjacent violators), joined by straight lines, constant outside.

    >>> Isotonic().fit([-2, -1, 1, 2], [0, 1, 0, 1]).predict([-2, 0, 2]).tolist()
    [0.0, 0.5, 1.0]
    """

    kind: ClassVar[Literal["isotonic"]] = "isotonic"
    x_: FloatArray
    y_: FloatArray

    def fit(self, logits: ArrayLike, labels: ArrayLike) -> Self:
        rows = Labelled.of(logits, labels)
        x, place = np.unique(rows.score, return_inverse=True)
        total = np.bincount(place.reshape(-1), minlength=x.size).astype(np.float64)
        positive = np.bincount(place.reshape(-1)[rows.positive], minlength=x.size).astype(np.float64)
        first, level = _pool(positive, total)
        last = np.append(first[1:], x.size) - 1
        ends = np.unique(np.concatenate([first, last]))
        self.x_ = x[ends]
        self.y_ = level[np.searchsorted(first, ends, side="right") - 1]
        return self

    def predict(self, logits: ArrayLike) -> FloatArray:
        z = finite(logits, "logits")
        if self.x_.size == 1:
            return np.full(z.size, self.y_[0])
        left = np.clip(np.searchsorted(self.x_, z, side="right") - 1, 0, self.x_.size - 2)
        share = np.clip((z - self.x_[left]) / (self.x_[left + 1] - self.x_[left]), 0.0, 1.0)
        low, high = self.y_[left], self.y_[left + 1]
        return np.asarray(np.where(share == 1.0, high, low + share * (high - low)))

    def to_dict(self) -> dict[str, Any]:
        return {"x": self.x_.tolist(), "y": self.y_.tolist()}

    @classmethod
    def from_dict(cls, params: Mapping[str, Any]) -> Self:
        self = cls()
        self.x_ = np.asarray(params["x"], dtype=np.float64)
        self.y_ = np.asarray(params["y"], dtype=np.float64)
        if (
            self.x_.size == 0
            or self.x_.shape != self.y_.shape
            or (np.diff(self.x_) <= 0).any()
            or (np.diff(self.y_) < 0).any()
        ):
            raise ModelError("calibrator: an isotonic map needs as many x as y, x rising and y never falling.")
        return self


def _pool(positive: FloatArray, total: FloatArray) -> tuple[IntArray, FloatArray]:
    """The first place and the frequency of every block after pooling neighbours that fall."""
    blocks: list[tuple[int, float, float]] = []
    for place, (hits, size) in enumerate(zip(positive.tolist(), total.tolist(), strict=True)):
        block = (place, hits, size)
        while blocks and blocks[-1][1] * block[2] >= block[1] * blocks[-1][2]:
            before = blocks.pop()
            block = (before[0], before[1] + block[1], before[2] + block[2])
        blocks.append(block)
    first = np.array([b[0] for b in blocks], dtype=np.int64)
    return first, np.array([b[1] / b[2] for b in blocks], dtype=np.float64)
