"""An independent and smaller resampling of documents within folds, to hold stated intervals against.

Only here does the audit use NumPy: to draw weights and to add them up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
BUDGETS = ("0.01", "0.03", "0.05", "0.1")


@dataclass
class Draws:
    """How often each document was drawn, the same for every statistic."""

    documents: list[str]
    weights: Array
    """(resamples, documents)"""

    @classmethod
    def of(cls, queries: Sequence[Query], resamples: int = RESAMPLES, seed: int = SEED) -> Draws:
        folds: dict[str | None, set[str]] = defaultdict(set)
        for query in queries:
            folds[query.fold].add(query.doc_id)
        generator = np.random.default_rng(seed)
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
    _found: dict[tuple[str, tuple[str, str]], Array | None] = field(default_factory=dict)
    _others: list[Resampled] = field(default_factory=list)

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

    def more(self, key: Key) -> Array | None:
        """The statistic in as many resamples as the others have, for one that needs few where nothing is in doubt."""
        if not self._others:
            seeds = range(SEED + 1, SEED + RESAMPLES // FEWER)
            self._others += [Resampled(self.frame, Draws.of(self.frame.queries, FEWER, seed)) for seed in seeds]
        found = [r.values(key) for r in (self, *self._others)]
        return np.concatenate([values for values in found if values is not None]) if found else None

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
        scope = (key.scope, "all" if key.scope.startswith("criterion:") else key.criteria)
        if (key.metric, scope) not in self._found:
            self._found.update({(name, scope): found for name, found in self._redraw(key, rows)})
        return self._found.get((key.metric, scope))

    def _redraw(self, key: Key, rows: Sequence[int]) -> Iterator[tuple[str, Array | None]]:
        """This statistic, and those that come with it."""
        queries = [self.frame.queries[i] for i in rows]
        if key.metric in {"auroc_within", "auprc_within"}:
            yield from self._within(rows)
        elif key.metric in {"calibration_slope", "calibration_intercept"}:
            yield from redrawn.line(queries, self._weights(rows))
        elif key.metric == "ece_equalmass":
            yield key.metric, redrawn.ece_equalmass(queries, self._weights(rows))
        elif key.metric in {"auroc_candidates", "auprc_candidates"}:
            chosen = self.document[np.asarray(rows, dtype=np.int64)]
            curve = redrawn.candidates(queries, chosen, self.draws.weights[:FEWER])
            yield from (("auroc_candidates", curve.auroc()), ("auprc_candidates", curve.auprc()))
        elif key.metric == "aurc":
            yield key.metric, redrawn.aurc(queries, self._weights(rows))
        elif key.metric in labels.METRICS:
            yield from redrawn.multilabel(queries, self._weights(rows))
        elif key.metric == "auroc_raw":
            yield key.metric, self.curve(rows, raw=True).auroc()
        elif key.metric in {"auroc", "auprc"} or key.metric.startswith("tpr@fpr="):
            curve = self.curve(rows)
            yield from (("auroc", curve.auroc()), ("auprc", curve.auprc()))
            yield from ((f"tpr@fpr={budget}", curve.tpr(float(budget))) for budget in BUDGETS)

    def _weights(self, rows: Sequence[int]) -> Array:
        return self.draws.weights[:FEWER][:, self.document[np.asarray(rows, dtype=np.int64)]]

    def curve(self, rows: Sequence[int], *, raw: bool = False) -> redrawn.Curve:
        """The staircase of some queries' scores in fewer resamples."""
        scores = [self.frame.queries[i].prob_raw if raw else self.frame.queries[i].prob for i in rows]
        truth = self.truth[np.asarray(rows, dtype=np.int64)]
        return redrawn.Curve.of(np.array(scores, dtype=np.float64), truth, self._weights(rows))

    def _within(self, rows: Sequence[int]) -> Iterator[tuple[str, Array]]:
        groups: dict[str, list[int]] = defaultdict(list)
        for i in rows:
            groups[self.frame.queries[i].criterion_id].append(i)
        curves = [self.curve(members) for members in groups.values() if self._has_enough(members)]
        if curves:
            yield "auroc_within", np.asarray(np.mean([curve.auroc() for curve in curves], axis=0))
            yield "auprc_within", np.asarray(np.mean([curve.auprc() for curve in curves], axis=0))

    def _has_enough(self, rows: Sequence[int]) -> bool:
        positives = self.truth[np.asarray(rows, dtype=np.int64)].sum()
        return bool(positives >= ENOUGH and len(rows) - positives >= ENOUGH)
