"""Whether a query has evidence at all, from how its candidates score: a logistic regression and trees, averaged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from probative import segments
from probative.rerank.boost import boost
from probative.rerank.logistic import fit_logistic
from probative.segments import FloatArray
from probative.types import Floats, Inputs, Vectors, View

TOP = 5
TREES = 150
NOTHING = -12.0
"""Log-odds that stand for a candidate that is not there."""


@dataclass(frozen=True, kw_only=True)
class QueryGate:
    """Log-odds that a query has evidence."""

    rates: dict[str, float]
    """Criterion text → log-odds of evidence on TRAIN, shrunk towards the overall rate."""
    overall: float
    mean: Vectors
    scale: Vectors
    theta: Vectors
    trees: Any

    @staticmethod
    def fit(inputs: Inputs, earlier: tuple[str, ...], *, seed: int) -> QueryGate | None:
        """Learn from out-of-fold linear scores; None where TRAIN has one class only."""
        view = inputs.view
        if view.has_evidence is None or not view.has_evidence.any() or view.has_evidence.all():
            return None
        target = view.has_evidence.astype(np.float32)
        rates, overall, own = _rates(view, target)
        table = _features(inputs, earlier, own)
        mean, scale = table.mean(0), np.maximum(table.std(0), 1e-6)
        column = target[:, None]
        theta = fit_logistic(
            [(table - mean) / scale], column, np.ones_like(column), np.zeros_like(column), iterations=100
        )
        settings = {"objective": "binary", "learning_rate": 0.05, "num_leaves": 8, "min_data_in_leaf": 40}
        trees = boost(table, target, settings, trees=TREES, seed=seed)
        return QueryGate(rates=rates, overall=overall, mean=mean, scale=scale, theta=theta[:, 0], trees=trees)

    def score(self, inputs: Inputs, earlier: tuple[str, ...]) -> FloatArray:
        """(Q,) log-odds."""
        view = inputs.view
        rate = np.array([self.rates.get(text, self.overall) for text in view.criterion_texts], dtype=np.float64)
        table = _features(inputs, earlier, rate[view.query_criterion])
        if len(table) == 0:
            return np.zeros(0)
        linear = ((table - self.mean) / self.scale) @ self.theta[:-1] + self.theta[-1]
        trees = self.trees.predict(table, raw_score=True, num_threads=1)
        return np.asarray((linear + trees) / 2, dtype=np.float64)

    def facts(self) -> dict[str, Any]:
        """All but the trees, as JSON."""
        arrays = {"mean": self.mean, "scale": self.scale, "theta": self.theta}
        return {"rates": self.rates, "overall": self.overall} | {k: [float(x) for x in v] for k, v in arrays.items()}

    @classmethod
    def of(cls, facts: Mapping[str, Any], trees: Any) -> QueryGate:
        """The gate that `facts` and its trees describe."""
        mean, scale, theta = (np.array(facts[name], dtype=np.float32) for name in ("mean", "scale", "theta"))
        return cls(rates=facts["rates"], overall=facts["overall"], mean=mean, scale=scale, theta=theta, trees=trees)


def _rates(view: View, target: Floats) -> tuple[dict[str, float], float, FloatArray]:
    """Each criterion's rate, the overall one, and for every query its criterion's rate without the query itself."""
    texts, criterion = np.unique(np.array(view.criterion_texts), return_inverse=True)
    of_query = criterion.reshape(-1)[view.query_criterion]
    found = np.bincount(of_query, target, minlength=len(texts))
    asked = np.bincount(of_query, minlength=len(texts))
    average = float(target.mean())
    rates = _log_odds((found + average) / (asked + 1))
    without = (found[of_query] - target + average) / asked[of_query]
    overall = float(_log_odds(np.array([average]))[0])
    return {str(t): float(r) for t, r in zip(texts, rates, strict=True)}, overall, _log_odds(without)


def _features(inputs: Inputs, earlier: tuple[str, ...], rate: FloatArray) -> Vectors:
    view = inputs.view
    offsets = view.offsets
    length = np.diff(offsets)
    linear = np.asarray(inputs.scores["linear"], dtype=np.float64)
    falling = linear[segments.order(linear, offsets)]
    top = np.full((view.n_queries, TOP), NOTHING)
    for place in range(TOP):
        there = length > place
        top[there, place] = falling[offsets[:-1][there] + place]
    chance = 1 / (1 + np.exp(-linear))
    best = 1 / (1 + np.exp(-top[:, 0]))
    asked = np.bincount(view.query_doc, minlength=view.n_documents)[view.query_doc]
    firing = np.bincount(view.query_doc, best, minlength=view.n_documents)[view.query_doc]
    columns = [
        *top.T,
        np.log(segments.total(chance, offsets) + 1e-6),
        (firing - best) / np.maximum(asked - 1, 1),
        np.log1p(length),
        rate,
        top[:, 0] - rate,
        *(segments.maximum(np.asarray(inputs.scores[name]), offsets, empty=0.0) for name in earlier),
    ]
    return np.stack(columns, axis=1).astype(np.float32)


def _log_odds(rate: FloatArray) -> FloatArray:
    safe = np.clip(rate, 1e-4, 1 - 1e-4)
    return np.asarray(np.log(safe / (1 - safe)), dtype=np.float64)
