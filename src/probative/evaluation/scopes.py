"""Contract §9: which queries each scope holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from probative.evaluation.predictions import STATES, Predictions
from probative.segments import BoolArray, IntArray

SMALL = 20
"""A criterion with fewer positives is marked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Some queries under one name; `kind` is pooled, fold, criterion or state."""

    name: str
    kind: str
    rows: IntArray


def criteria_sets(predictions: Predictions) -> dict[str, BoolArray]:
    """`all`, and `trained` where some criteria were excluded from training: set → (Q,)."""
    everything = np.ones(predictions.n_queries, dtype=bool)
    excluded = [i for i, name in enumerate(predictions.criterion_ids) if name in predictions.excluded]
    if not excluded:
        return {"all": everything}
    return {"all": everything, "trained": ~np.isin(predictions.criterion, excluded)}


def scopes(predictions: Predictions, inside: BoolArray, *, criteria: bool) -> Iterator[Scope]:
    """pooled, every fold, every criterion (where wanted) and every state, of the queries inside."""
    yield Scope(name="pooled", kind="pooled", rows=np.flatnonzero(inside))
    if predictions.fold is not None:
        for fold in np.unique(predictions.fold):
            yield Scope(name=f"fold:{fold}", kind="fold", rows=np.flatnonzero(inside & (predictions.fold == fold)))
    if criteria:
        for number, name in enumerate(predictions.criterion_ids):
            rows = np.flatnonzero(inside & (predictions.criterion == number))
            if len(rows):
                yield Scope(name=f"criterion:{name}", kind="criterion", rows=rows)
    if predictions.state is not None:
        for number, name in enumerate(STATES):
            rows = np.flatnonzero(inside & (predictions.state == number))
            yield Scope(name=f"state:{name}", kind="state", rows=rows)


def small_criteria(predictions: Predictions) -> frozenset[str]:
    """Criteria with fewer than 20 positives."""
    positives = np.bincount(
        predictions.criterion, weights=predictions.positive, minlength=len(predictions.criterion_ids)
    )
    return frozenset(name for name, n in zip(predictions.criterion_ids, positives, strict=True) if n < SMALL)
