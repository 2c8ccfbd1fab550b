"""What every reader makes and the engine measures: one row a query, gold rows with their ranks behind offsets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from probative.segments import BoolArray, FloatArray, IntArray

NEG, UNCERTAIN, POS = 0, 1, 2
STATES = ("NEG", "UNCERTAIN", "POS")
MODES = ("raw", "gate", "triage")
HashArray = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The sentences that one mode shows, counted."""

    size: IntArray
    """(Q,) sentences selected."""
    hits: IntArray
    """(Q,) of them gold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """The predictions for Q queries, sorted by document, then criterion, then fold.

    A query is positive when it has evidence, located when at least one gold sentence of it is known. What is absent
    is None; what needs it is then listed as not computed.
    """

    doc_ids: tuple[str, ...]
    """D distinct documents, sorted."""
    criterion_ids: tuple[str, ...]
    """C distinct criteria, sorted."""
    doc: IntArray
    """(Q,) position of the query's document."""
    criterion: IntArray
    """(Q,) position of the query's criterion."""
    fold: IntArray | None
    """(Q,) number of the outer fold."""
    n_candidates: IntArray
    """(Q,) sentences of the query's document."""
    n_ranked: IntArray
    """(Q,) length of the ranking as listed."""
    gold_offsets: IntArray
    """(Q + 1,) into the gold rows."""
    gold_rank: IntArray
    """Rank of every gold row, from 1; 0 = not in the ranking."""
    positive: BoolArray
    """(Q,) has evidence, located or not."""
    located: BoolArray
    """(Q,) has at least one gold row."""
    gold_in_pool: BoolArray | None = None
    """Per gold row."""
    gold_hash: HashArray | None = None
    """(Q,) equal where two tables name the same gold sentences; None where all systems share one gold table."""
    prob: FloatArray | None = None
    prob_raw: FloatArray | None = None
    prior: FloatArray | None = None
    threshold: FloatArray | None = None
    """(Q,) operating threshold; NaN predicts nothing."""
    tau_neg: FloatArray | None = None
    tau_pos: FloatArray | None = None
    predicted: BoolArray | None = None
    state: IntArray | None = None
    """(Q,) 0 NEG, 1 UNCERTAIN, 2 POS."""
    selections: Mapping[str, Selection] = field(default_factory=dict)
    """Keys: some of raw, gate, triage."""
    budget_thresholds: Mapping[str, FloatArray] = field(default_factory=dict)
    """"0.05" → (Q,); NaN predicts nothing."""
    row_offsets: IntArray | None = None
    """(Q + 1,) into the (query, sentence) rows, in ranking order."""
    row_score: FloatArray | None = None
    row_gold: BoolArray | None = None
    excluded: frozenset[str] = frozenset()
    """Criteria excluded from training."""

    @property
    def n_queries(self) -> int:
        return len(self.doc)
