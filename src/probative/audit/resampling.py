"""An independent and smaller resampling of documents within folds, to hold stated intervals against.

Only here does the audit use NumPy: to draw weights and to add them up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from probative.audit import labels, redrawn
from probative.audit.frame import Frame
from probative.audit.queries import Query
from probative.audit.recompute import ENOUGH, Key
from probative.audit.sums import Array, column, plan

RESAMPLES = 2000
FEWER = 400
"""For statistics that must be sorted or fitted again in every resample."""
SEED = 20


@dataclass
class Draws:
    """How often each document was drawn, the same for every statistic."""

    documents: list[str]
    weights: Array
    """(resamples, documents)"""

    @classmethod
    def of(cls, queries: Sequence[Query], resamples: int = RESAMPLES) -> Draws:
        folds: dict[str | None, set[str]] = defaultdict(set)
        for query in queries:
            folds[query.fold].add(query.doc_id)
        generator = np.random.default_rng(SEED)
        documents: list[str] = []
        parts = []
        for fold in sorted(folds, key=str):
            names = sorted(folds[fold])
            documents += names
            parts.append(generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=resamples))
        return cls(documents, np.concatenate(parts, axis=1).astype(np.float64))


@dataclass
class Resampled:
    """One frame's statistics in every resample. NaN where a statistic is undefined there."""

    frame: Frame
    draws: Draws
    _columns: dict[str, Array] = field(default_factory=dict)
    _sums: dict[tuple[str, str], dict[str, Array]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        place = {doc: i for i, doc in enumerate(self.draws.documents)}
        self.document = np.array([place[q.doc_id] for q in self.frame.queries], dtype=np.int64)
        self.truth = np.array([q.positive for q in self.frame.queries], dtype=np.float64)

    def values(self, key: Key) -> Array | None:
        """The statistic in every resample; None when this method has no answer for it."""
        if key.scope == "fold_mean":
            return self._mean(key, [f"fold:{f}" for f in self.frame.folds])
        if key.scope == "criterion_macro":
            return self._mean(key, [f"criterion:{c}" for c in self.frame.criteria(key.criteria)])
        rows = self.frame.rows(key.scope, key.criteria)
        if not rows:
            return None
        linear = plan(key, self.frame)
        if linear is not None:
            names, combine = linear
            sums = self._added(key, rows, names)
            with np.errstate(divide="ignore", invalid="ignore"):
                return combine(lambda name: sums[name])
        return self._sorted(key, rows)

    def _mean(self, key: Key, scopes: Sequence[str]) -> Array | None:
        parts = []
        for scope in scopes:
            moved = Key(
                metric=key.metric,
                scope=scope,
                population=key.population,
                mode=key.mode,
                criteria=key.criteria,
                stage=key.stage,
            )
            found = self.values(moved)
            if found is not None:
                parts.append(found)
        if not parts:
            return None
        table = np.array(parts)
        known = np.isfinite(table)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(known, table, 0.0).sum(axis=0) / known.sum(axis=0))

    def prepare(self, keys: Sequence[Key]) -> None:
        """Add up every column that these keys need, one product a scope."""
        wanted: dict[tuple[str, str], set[str]] = defaultdict(set)
        for key in keys:
            scopes = [key.scope]
            if key.scope == "fold_mean":
                scopes = [f"fold:{f}" for f in self.frame.folds]
            elif key.scope == "criterion_macro":
                scopes = [f"criterion:{c}" for c in self.frame.criteria(key.criteria)]
            linear = plan(key, self.frame)
            for scope in scopes if linear is not None else ():
                wanted[scope, key.criteria].update(linear[0])  # type: ignore[index]
        for (scope, criteria), names in wanted.items():
            self._add_up((scope, criteria), self.frame.rows(scope, criteria) or [], sorted(names))

    def _added(self, key: Key, rows: Sequence[int], names: Sequence[str]) -> Mapping[str, Array]:
        there = self._sums.get((key.scope, key.criteria), {})
        missing = [name for name in names if name not in there]
        if missing:
            self._add_up((key.scope, key.criteria), rows, missing)
        return self._sums[key.scope, key.criteria]

    def _add_up(self, scope: tuple[str, str], rows: Sequence[int], names: Sequence[str]) -> None:
        if not rows:
            return
        chosen = np.asarray(rows, dtype=np.int64)
        chosen = chosen[np.argsort(self.document[chosen], kind="stable")]
        docs, starts = np.unique(self.document[chosen], return_index=True)
        table = np.stack([self.column(name)[chosen] for name in names], axis=1)
        per_document = np.add.reduceat(table, starts, axis=0)
        sums = self.draws.weights[:, docs] @ per_document
        self._sums.setdefault(scope, {}).update({name: sums[:, i] for i, name in enumerate(names)})

    def column(self, name: str) -> Array:
        """(Q,) one number a query, to be added up."""
        if name not in self._columns:
            self._columns[name] = np.asarray(column(self.frame, name), dtype=np.float64)
        return self._columns[name]

    def _sorted(self, key: Key, rows: Sequence[int]) -> Array | None:
        if key.metric.endswith("_candidates"):
            return None
        chosen = np.asarray(rows, dtype=np.int64)
        weights = self.draws.weights[:FEWER][:, self.document[chosen]]
        queries = [self.frame.queries[i] for i in rows]
        if key.metric in {"auroc_within", "auprc_within"}:
            return self._within(key, rows)
        if key.metric == "aurc":
            return redrawn.aurc(queries, weights)
        if key.metric in {"calibration_slope", "calibration_intercept"}:
            return redrawn.line(queries, weights, key.metric == "calibration_intercept")
        if key.metric in labels.METRICS:
            return redrawn.multilabel(key.metric, queries, weights)
        scores = [q.prob_raw if key.metric == "auroc_raw" else q.prob for q in queries]
        if any(s is None for s in scores):
            return None
        name, _, budget = key.metric.partition("@fpr=")
        return redrawn.curve(
            name.removesuffix("_raw"), budget, np.array(scores, dtype=np.float64), self.truth[chosen], weights
        )

    def _within(self, key: Key, rows: Sequence[int]) -> Array | None:
        groups: dict[str, list[int]] = defaultdict(list)
        for i in rows:
            groups[self.frame.queries[i].criterion_id].append(i)
        parts = []
        for members in groups.values():
            chosen = np.asarray(members, dtype=np.int64)
            truth = self.truth[chosen]
            if truth.sum() < ENOUGH or len(truth) - truth.sum() < ENOUGH:
                continue
            probs = np.array([self.frame.queries[i].prob for i in members], dtype=np.float64)
            parts.append(
                redrawn.curve(
                    key.metric.removesuffix("_within"),
                    "",
                    probs,
                    truth,
                    self.draws.weights[:FEWER][:, self.document[chosen]],
                )
            )
        return np.asarray(np.mean(np.array(parts), axis=0)) if parts else None
