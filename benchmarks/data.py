"""Simulated predictions, given to every library in the shape it likes; making that shape is never timed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

CRITERIA = 10


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How much data."""

    queries: int
    candidates: int
    positive: float

    @property
    def name(self) -> str:
        return f"{self.queries:,} × {self.candidates}, {self.positive:.1%} positive"


@dataclass(frozen=True, kw_only=True)
class Data:
    """Q queries of n candidates each: scores without ties, gold, and a probability that there is evidence."""

    shape: Shape
    scores: NDArray[np.float64]
    """(Q, n)"""
    gold: NDArray[np.bool_]
    """(Q, n)"""
    positive: NDArray[np.bool_]
    prob: NDArray[np.float64]
    document: NDArray[np.int64]

    @property
    def offsets(self) -> NDArray[np.int64]:
        return np.arange(self.shape.queries + 1, dtype=np.int64) * self.shape.candidates

    @cached_property
    def run(self) -> dict[str, dict[str, float]]:
        """{query: {sentence: score}}, as pytrec_eval and ranx take it."""
        names = [f"s{i}" for i in range(self.shape.candidates)]
        return {str(q): dict(zip(names, row, strict=True)) for q, row in enumerate(self.scores.tolist())}

    @cached_property
    def qrels(self) -> dict[str, dict[str, int]]:
        """{query: {sentence: 1}}, positives only."""
        found: dict[str, dict[str, int]] = {}
        for q, s in np.argwhere(self.gold).tolist():
            found.setdefault(str(q), {})[f"s{s}"] = 1
        return found

    @cached_property
    def judged(self) -> dict[str, dict[str, int]]:
        """The same with a line `0` for every query without gold, which some libraries need."""
        return {query: self.qrels.get(query, {"s0": 0}) for query in self.run}


def simulate(shape: Shape, seed: int = 0) -> Data:
    """Gold sentences score higher on average; probabilities are informative and calibrated badly, as in life."""
    rng = np.random.default_rng(seed)
    q, n = shape.queries, shape.candidates
    positive = rng.random(q) < shape.positive
    at = np.flatnonzero(positive)
    gold = np.zeros((q, n), dtype=np.bool_)
    gold[at, rng.integers(0, n, len(at))] = True
    more = at[rng.random(len(at)) < 0.4]
    gold[more, rng.integers(0, n, len(more))] = True
    scores = rng.normal(size=(q, n))
    scores += 1.5 * gold
    logits = rng.normal(size=q) * 1.2 - 2.0 + 2.5 * positive
    prob = np.round(1 / (1 + np.exp(-logits)), 6)
    return Data(shape=shape, scores=scores, gold=gold, positive=positive, prob=prob, document=np.arange(q) // CRITERIA)


def per_query(data: Data) -> Any:
    """The same data as a per_query table with every column there is."""
    import polars as pl

    q, n = data.scores.shape
    order = np.argsort(-data.scores, axis=1, kind="stable")
    uids = pl.Series((data.document[:, None] * n + order).ravel()).cast(pl.String)
    rows, columns = np.nonzero(data.gold)
    gold = pl.DataFrame({"row": rows, "uid": pl.Series(data.document[rows] * n + columns).cast(pl.String)})
    lists = gold.group_by("row", maintain_order=True).agg(pl.col("uid").alias("gold_uids"))
    documents = int(data.document.max()) + 1
    frame = pl.DataFrame(
        {
            "row": np.arange(q),
            "fold": data.document * 5 // documents,
            "doc_id": pl.Series(data.document).cast(pl.String).str.zfill(7),
            "criterion_id": [f"A.{i % CRITERIA + 1}" for i in range(q)],
            "ranked_uids": uids.reshape((q, n)).arr.to_list(),
            "ranked_scores": pl.Series(np.take_along_axis(data.scores, order, 1).ravel()).reshape((q, n)).arr.to_list(),
            "prob_raw": data.prob,
            "prob": data.prob,
            "prior": data.shape.positive + 0.001 * (np.arange(q) % CRITERIA),
            "threshold": np.full(q, 0.4),
            "tau_neg": np.full(q, 0.02),
            "tau_pos": np.full(q, 0.7),
            **{f"threshold@fpr={a}": np.full(q, t) for a, t in ((0.01, 0.7), (0.03, 0.5), (0.05, 0.4), (0.1, 0.3))},
        }
    )
    frame = frame.join(lists, on="row", how="left", maintain_order="left").drop("row")
    top = pl.col("ranked_uids").list.head(5)
    nothing = pl.lit([], dtype=pl.List(pl.String))
    return frame.with_columns(
        pl.col("gold_uids").fill_null(nothing),
        pl.col("ranked_uids").list.head(16).alias("pool_uids"),
        top.alias("selected_raw"),
        pl.when(pl.col("prob") >= pl.col("threshold")).then(top).otherwise(nothing).alias("selected_gate"),
        pl.when(pl.col("prob") >= pl.col("tau_neg")).then(top).otherwise(nothing).alias("selected_triage"),
    )
