"""Some of the queries, their units, and the populations inside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from probative import metrics
from probative.evaluation.predictions import Predictions
from probative.evaluation.resample import Units
from probative.evaluation.totals import Fact, Key, Spread, Totals
from probative.metrics import ties
from probative.segments import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Predictions with what every scope needs of them, computed once."""

    predictions: Predictions
    units: Units
    tie_mode: str = "listed"

    @cached_property
    def gold_size(self) -> IntArray:
        """(Q,)"""
        return np.diff(self.predictions.gold_offsets)

    @cached_property
    def located(self) -> IntArray:
        """Positions of the located queries."""
        return np.flatnonzero(self.predictions.located)

    @cached_property
    def ranking(self) -> dict[str, FloatArray]:
        """Contract §2 for the located queries: id → (L,)."""
        p = self.predictions
        offsets = p.gold_offsets[np.append(self.located, p.n_queries)]
        n = p.n_candidates[self.located]
        pooled = {}
        if p.gold_in_pool is not None:
            pooled = metrics.pool_recall(p.gold_rank, p.gold_in_pool, offsets, n)
        if self.tie_mode == "expected" and p.row_offsets is not None:
            assert p.row_score is not None and p.row_gold is not None  # noqa: S101, PT018 - they come together
            size = self.gold_size[self.located]
            values = ties.expected(p.row_score, p.row_gold, p.row_offsets, self.located, size, n)
            if p.gold_in_pool is not None:
                rows = p.row_score, p.row_offsets, self.located
                pooled |= ties.pool_recall(*rows, p.gold_rank, p.gold_in_pool, offsets, n)
        else:
            values = metrics.ranking(p.gold_rank, offsets, n)
        return values | pooled

    @cached_property
    def row_query(self) -> IntArray:
        """The query of every (query, sentence) row."""
        offsets = self.predictions.row_offsets
        assert offsets is not None  # noqa: S101 - callers have looked
        return np.repeat(np.arange(self.predictions.n_queries), np.diff(offsets))


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """The queries that a mean runs over, as rows of the cut."""

    name: str
    column: str
    rows: IntArray
    n: int
    n_docs: int
    empty: str


@dataclass(frozen=True, kw_only=True)
class Cut:
    """The queries of one scope."""

    prepared: Prepared
    rows: IntArray
    """Positions of the scope's queries."""

    @property
    def predictions(self) -> Predictions:
        return self.prepared.predictions

    @cached_property
    def units(self) -> IntArray:
        """The units that the scope touches."""
        return np.unique(self.prepared.units.unit[self.rows])

    @cached_property
    def unit(self) -> IntArray:
        """(q,) each query's place among them."""
        return np.searchsorted(self.units, self.prepared.units.unit[self.rows])

    @cached_property
    def positive(self) -> BoolArray:
        return self.predictions.positive[self.rows]

    @cached_property
    def located(self) -> BoolArray:
        return self.predictions.located[self.rows]

    def take(self, values: ArrayLike) -> FloatArray:
        """A per-query column of the scope, as floats."""
        return np.asarray(values)[self.rows].astype(np.float64)

    def narrow(self, keep: BoolArray) -> Cut:
        """Fewer queries of the same scope."""
        return Cut(prepared=self.prepared, rows=self.rows[keep])

    def n_docs(self, keep: BoolArray | None = None) -> int:
        """Distinct documents among the queries."""
        rows = self.rows if keep is None else self.rows[keep]
        return len(np.unique(self.predictions.doc[rows]))

    def population(self, name: str, column: str, keep: BoolArray, empty: str) -> Population:
        rows = np.flatnonzero(keep)
        return Population(name=name, column=column, rows=rows, n=len(rows), n_docs=self.n_docs(keep), empty=empty)

    @cached_property
    def every(self) -> Population:
        """All queries: detection, calibration, triage, deployment."""
        return self.population("all_queries", "n", np.ones(len(self.rows), dtype=bool), "no query")

    @cached_property
    def known(self) -> Population:
        """All queries but the unlocated ones: ranking and extraction."""
        return self.population("all_queries", "n_known", self.located | ~self.positive, "no query")

    @cached_property
    def with_gold(self) -> Population:
        return self.population("positives_only", "n_located", self.located, "no query with a gold sentence")

    @cached_property
    def without(self) -> Population:
        return self.population("negatives_only", "n_negative", ~self.positive, "no query without evidence")

    def totals(self) -> Totals:
        """An empty table of sums over the scope, with its populations counted."""
        totals = Totals(unit=self.unit, n_units=len(self.units))
        for population in (self.every, self.known, self.with_gold, self.without):
            totals.column(population.column, 1.0, population.rows)
        totals.column("n_positive", self.positive)
        return totals


def mean(totals: Totals, key: Key, name: str, population: Population, *, binary: bool, spread: Spread | None) -> None:
    """A mean over a population of the column `name`; 0/1 columns are proportions."""
    fact = Fact(n=population.n, n_docs=population.n_docs, spread=spread, empty=population.empty)
    add = totals.proportion if binary else totals.ratio
    add(key, fact, (name, population.column))


def spreads(values: FloatArray, zeros: int = 0) -> list[Spread | None]:
    """Std (÷n), median and quartiles of every row of (m, n) values from 0 up, with more queries that have 0."""
    m, n = values.shape
    total = n + zeros
    if not total:
        return [None] * m
    ordered = np.sort(values, axis=1)
    average = values.sum(axis=1) / total
    variance = (((values - average[:, None]) ** 2).sum(axis=1) + zeros * average**2) / total

    def at(place: int) -> FloatArray:
        return ordered[:, place - zeros] if place >= zeros else np.zeros(m)

    quartiles = []
    for q in (0.5, 0.25, 0.75):
        place = q * (total - 1)
        low = int(place)
        below, above = at(low), at(min(low + 1, total - 1))
        quartiles.append(below + (place - low) * (above - below))
    return [
        Spread(std=float(s), median=float(a), p25=float(b), p75=float(c))
        for s, a, b, c in zip(np.sqrt(variance), *quartiles, strict=True)
    ]
