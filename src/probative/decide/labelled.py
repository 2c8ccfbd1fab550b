"""The labelled queries of TUNE: the only thing that decisions are learned from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from probative.errors import DataError
from probative.segments import BoolArray, FloatArray, IntArray


def finite(values: ArrayLike, name: str) -> FloatArray:
    """The values as doubles; a value that is not a finite number is refused."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise DataError(f"{name}: one number a row is needed, got an array of shape {array.shape}.")
    wrong = np.flatnonzero(~np.isfinite(array))
    if wrong.size:
        raise DataError(
            f"{name}: {wrong.size} of {array.size} values are not finite, the first is {array[wrong[0]]} at row "
            f"{wrong[0]}. Decisions need a score for every query; drop these rows or score them again."
        )
    return array


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One row a query: its score, whether it has evidence, and the position of its document among the sorted ids."""

    score: FloatArray
    positive: BoolArray
    document: IntArray

    @classmethod
    def of(cls, scores: ArrayLike, labels: ArrayLike, groups: ArrayLike | None = None) -> Labelled:
        """Check the three columns; without groups every row counts as a document of its own."""
        score = finite(scores, "scores")
        label = np.asarray(labels)
        if label.shape != score.shape:
            raise DataError(f"labels: {label.size} rows, but there are {score.size} scores.")
        wrong = np.flatnonzero(~np.isin(label, (0, 1)))
        if wrong.size:
            raise DataError(f"labels: must be 0 or 1, got {label[wrong[0]]!r} at row {wrong[0]}.")
        if not score.size:
            raise DataError("scores: no rows. Decisions need at least one labelled query outside EVAL.")
        group = np.arange(score.size) if groups is None else np.asarray(groups)
        if group.shape != score.shape:
            raise DataError(f"groups: {group.size} rows, but there are {score.size} scores.")
        document = np.unique(group, return_inverse=True)[1].reshape(-1).astype(np.int64)
        return cls(score=score, positive=label.astype(bool), document=document)

    @property
    def n_documents(self) -> int:
        return int(self.document.max()) + 1

    @property
    def n_positive(self) -> int:
        return int(self.positive.sum())

    @property
    def one_class(self) -> bool:
        return self.n_positive in (0, self.score.size)

    def lowest_positive(self) -> FloatArray:
        """The lowest score among the positives of every document that has any, rising."""
        lowest = np.full(self.n_documents, np.inf)
        np.minimum.at(lowest, self.document[self.positive], self.score[self.positive])
        return np.sort(lowest[np.isfinite(lowest)])
