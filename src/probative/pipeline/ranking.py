"""The full order of a query's candidates: the pool first by its score, the rest behind it in retriever order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from probative import segments
from probative.segments import BoolArray, FloatArray, IntArray
from probative.types import Floats, Inputs

STAGES = ("retrieve", "rerank", "graph")
"""The stages that have a ranking of their own, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The candidate rows of every query in their final order."""

    order: IntArray
    """(N,) rows, query after query, best first."""
    rank: IntArray
    """(N,) 1 for a query's first."""
    score: FloatArray
    """(N,) the score behind the order; rows outside the pool lie below every row of their query's pool."""


def rank(score: Floats, ties: IntArray, pool: BoolArray | None, offsets: IntArray) -> Ranking:
    """Order by score, ties by the previous stage's rank; rows outside the pool follow in the previous order."""
    values = np.asarray(score, dtype=np.float64)
    if pool is not None and not pool.all():
        values = _rest_below(values, ties, pool, offsets)
    order = segments.order(values, offsets, ties)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = segments.within(offsets) + 1
    return Ranking(order=order, rank=ranks, score=values)


def _rest_below(values: FloatArray, ties: IntArray, pool: BoolArray, offsets: IntArray) -> FloatArray:
    floor = segments.minimum(np.where(pool, values, np.inf), offsets)
    floor[~np.isfinite(floor)] = 0.0
    lowered = floor[segments.owner(offsets)] - 1e-3 * (1 + ties)
    return np.where(pool, values, lowered)


def rankings(inputs: Inputs) -> dict[str, Ranking]:
    """The ranking of every stage that has scored these inputs, and `final`: the last of them."""
    offsets = inputs.view.offsets
    made: dict[str, Ranking] = {}
    ties = segments.within(offsets) + 1
    for stage in STAGES:
        if stage in inputs.scores:
            pool = None if stage == "retrieve" else inputs.pool
            made[stage] = rank(inputs.scores[stage], ties, pool, offsets)
            ties = made[stage].rank
    final = (
        rank(inputs.scores["final"], ties, inputs.pool, offsets) if "final" in inputs.scores else made[list(made)[-1]]
    )
    return {**made, "final": final}


def best_candidate(inputs: Inputs, stage: str) -> FloatArray:
    """(Q,) the gate before there is a gate: the best candidate's score that is comparable between queries."""
    names = {"retrieve": ("dense", "bm25"), "rerank": ("rerank_node", "linear"), "graph": ("graph_node",)}[stage]
    values = next((inputs.scores[name] for name in names if name in inputs.scores), inputs.scores[stage])
    return segments.maximum(
        np.asarray(values, dtype=np.float64), inputs.view.offsets, empty=float(values.min(initial=0.0))
    )
