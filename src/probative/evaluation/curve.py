"""AUROC, average precision and TPR under an FPR budget in a scope, plain and resampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from probative.evaluation.cut import Cut
from probative.evaluation.totals import DENSE, Array, Events, Fact, Key
from probative.metrics import detection
from probative.segments import BoolArray, FloatArray, IntArray

GROUPS = 96
"""Resamples of auroc_candidates and auprc_candidates join neighbouring scores into so many groups at most."""
ENOUGH = 20
"""auroc_within needs this many positives and negatives of a criterion."""
ORDER = ("positive_rows", "positive_step", "negative_rows", "negative_step", "tied")
HALF = "one class only: 0.5 by convention"
PREVALENCE = "one class only: the prevalence by convention"
NO_RATE = "one class only: no false positive rate to keep"


class Part(Protocol):
    """Some metrics of a scope."""

    keys: list[Key]
    facts: list[Fact]

    def point(self) -> FloatArray:
        """(m,) the values; NaN where undefined."""
        ...

    def resampled(self, weights: Array) -> Array:
        """(m, b) the values under b columns of unit weights; NaN where undefined."""
        ...


@dataclass(frozen=True, kw_only=True)
class Stairs:
    """A staircase whose steps are counted by unit, so that unit weights count them again."""

    steps: detection.Steps
    unit: IntArray
    n_units: int
    groups: int | None = None
    """Resamples join neighbouring steps into so many groups; None keeps every step."""

    @cached_property
    def plain(self) -> detection.Staircase:
        """Every row counted once."""
        return detection.staircase(self.steps)

    def orders_like(self, other: Stairs) -> bool:
        """Whether both put the same rows of the same scope on the same steps."""
        pairs = [(getattr(self.steps, name), getattr(other.steps, name)) for name in ORDER]
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    @cached_property
    def _group(self) -> IntArray:
        """(G,) the group of every step in resamples.

        Half of the groups are for the first steps, which weigh most in average precision. The others share what steps
        and negatives are left, so that low steps with thousands of negatives between them stay apart.
        """
        place = np.arange(len(self.steps.score))
        if self.groups is None or len(place) <= self.groups:
            return place
        alone = self.groups // 2
        negatives = np.bincount(self.steps.negative_step, minlength=len(place))[alone:]
        mass = np.cumsum(1 / len(negatives) + negatives / max(negatives.sum(), 1))
        place[alone:] = alone + np.floor(mass / mass[-1] * (self.groups - alone - 1))
        return np.unique(place, return_inverse=True)[1].reshape(-1)

    @cached_property
    def _size(self) -> IntArray:
        """Steps in every group."""
        return np.bincount(self._group)

    @cached_property
    def _matrices(self) -> tuple[Any, Any, Any, IntArray]:
        """Positives, negatives and tied negatives by group and unit, and the groups with ties.

        The negatives' last row holds those below every step.
        """
        from scipy.sparse import csr_matrix

        s, unit, height = self.steps, self.unit, len(self._size)

        def counts(group: IntArray, rows: IntArray, height: int) -> Any:
            ones = np.ones(len(rows), dtype=np.float32)
            place = (group.astype(np.int32), unit[rows].astype(np.int32))
            matrix = csr_matrix((ones, place), shape=(height, self.n_units))
            return matrix.toarray() if matrix.nnz > DENSE * height * self.n_units else matrix

        group = np.full(len(unit), height, dtype=np.int64)
        group[s.negative_rows] = self._group[s.negative_step]
        negative = np.ones(len(unit), dtype=bool)
        negative[s.positive_rows] = False
        tied = s.negative_rows[s.tied]
        tied = tied[self._size[group[tied]] == 1]
        tied_groups, place = np.unique(group[tied], return_inverse=True)
        return (
            counts(self._group[s.positive_step], s.positive_rows, height),
            counts(group[negative], np.flatnonzero(negative), height + 1),
            counts(place.reshape(-1), tied, len(tied_groups)),
            tied_groups,
        )

    def weighted(self, weights: Array) -> detection.Staircase:
        """The staircase under b columns of weights."""
        positive, negative, tied, tied_steps = self._matrices
        gained, passed = positive @ weights, negative @ weights
        grouped = len(self._size) < len(self._group)
        tp = detection.accumulate(gained)
        summed = detection.accumulate(passed)
        fp, n_positive, n_negative = summed[:-1], tp[-1].copy(), summed[-1]
        if grouped:  # inside a group both classes come evenly mixed, a negative before a positive
            late = ((self._size - 1) / (2 * self._size)).astype(np.float32)[:, None]
            tp -= gained * late
            fp -= passed[:-1] * late
        return detection.Staircase(
            gained=gained,
            tp=tp,
            fp=fp,
            tied=tied @ weights,
            tied_steps=tied_steps,
            n_positive=n_positive,
            n_negative=n_negative,
        )


def stairs(cut: Cut, score: FloatArray) -> Stairs:
    """The staircase of one score a query."""
    return Stairs(steps=detection.steps(cut.positive, score), unit=cut.unit, n_units=len(cut.units))


@dataclass(kw_only=True)
class Curve:
    """auroc, auprc and, where asked for, tpr@fpr and curve_threshold@fpr of one score."""

    stairs: Stairs
    areas: tuple[Key, ...]
    """auroc, and auprc where wanted."""
    budgets: tuple[str, ...]
    population: str
    n: int
    n_docs: int
    keys: list[Key] = field(init=False)
    facts: list[Fact] = field(init=False)
    _last: tuple[Array, Array] | None = None
    """The latest block: `auroc_within` of one criterion asks for it again."""

    def __post_init__(self) -> None:
        s = self.stairs.steps
        total = s.n_positive + s.n_negative
        prevalence = s.n_positive / total if total else 0.0
        conventions = ((0.5, HALF), (prevalence, PREVALENCE))
        self.keys, self.facts = [], []
        for key, (fallback, empty) in zip(self.areas, conventions, strict=False):
            self._add(key, Fact(n=self.n, n_docs=self.n_docs, fallback=fallback, empty=empty))
        units = len(np.unique(self.stairs.unit[s.positive_rows])) if self.budgets else 0
        best = [0.0] * len(self.budgets) if s.one_class else self._tpr(self.stairs.plain)[:, 0].tolist()
        for alpha, share in zip(self.budgets, best, strict=True):
            events = Events(events=round(share * s.n_positive), trials=s.n_positive, units=units)
            fact = Fact(n=self.n, n_docs=self.n_docs, empty=NO_RATE, events=events)
            self._add(Key(f"tpr@fpr={alpha}", self.population), fact)
        for alpha in self.budgets:
            threshold = detection.curve_threshold(s, self.stairs.plain, float(alpha))
            empty = NO_RATE if s.one_class else f"every threshold lets through more than {alpha} of the negatives"
            fact = Fact(n=self.n, n_docs=self.n_docs, empty=empty, fallback=None, interval=False)
            fact.exact = np.nan if threshold is None else threshold
            self._add(Key(f"curve_threshold@fpr={alpha}", self.population), fact)

    def _add(self, key: Key, fact: Fact) -> None:
        self.keys.append(key)
        self.facts.append(fact)

    def point(self) -> FloatArray:
        values: FloatArray = self._values(self.stairs.plain)[:, 0].astype(np.float64)
        for place, fact in enumerate(self.facts):
            if fact.exact is not None:
                values[place] = fact.exact
        return values

    def resampled(self, weights: Array) -> Array:
        if self._last is None or self._last[0] is not weights:
            self._last = (weights, self._resampled(weights))
        return self._last[1]

    def _resampled(self, weights: Array) -> Array:
        if self.stairs.steps.one_class:
            return np.full((len(self.keys), weights.shape[1]), np.nan, dtype=np.float32)
        return self._values(self.stairs.weighted(weights)) + self._shift

    @cached_property
    def _shift(self) -> FloatArray:
        """(m, 1) what groups of steps get wrong on the data themselves; 0 where every step is kept."""
        if self.stairs.groups is None:
            return np.zeros((len(self.keys), 1))
        ones = np.ones((self.stairs.n_units, 1), dtype=np.float32)
        return np.asarray(self.point()[:, None] - self._values(self.stairs.weighted(ones)))

    def _values(self, case: detection.Staircase) -> Array:
        out = np.full((len(self.keys), len(case.n_negative)), np.nan)
        if self.stairs.steps.one_class:
            return out
        out[0] = case.auroc()
        if len(self.areas) > 1:
            out[1] = case.average_precision()
        if self.budgets:
            out[len(self.areas) : len(self.areas) + len(self.budgets)] = self._tpr(case)
        return out

    def _tpr(self, case: detection.Staircase) -> Array:
        return case.tpr([float(alpha) for alpha in self.budgets])


@dataclass(kw_only=True)
class Same:
    """An area of a score that orders its rows as another one does: calibrated and raw probabilities in a fold."""

    curve: Curve
    keys: list[Key]
    facts: list[Fact]

    def point(self) -> FloatArray:
        return self.curve.point()[:1]

    def resampled(self, weights: Array) -> Array:
        return self.curve.resampled(weights)[:1]


@dataclass(kw_only=True)
class Within:
    """auroc_within and auprc_within: the mean over criteria with enough of both classes."""

    members: Sequence[Curve]
    keys: list[Key]
    facts: list[Fact]

    def point(self) -> FloatArray:
        if not self.members:
            return np.full(2, np.nan)
        return np.asarray(np.mean([member.point()[:2] for member in self.members], axis=0), dtype=np.float64)

    def resampled(self, weights: Array) -> Array:
        total = np.full((2, weights.shape[1]), np.nan) if not self.members else np.zeros((2, weights.shape[1]))
        for member in self.members:
            total += member.resampled(weights)[:2]
        return total / max(len(self.members), 1)


def detection_parts(cut: Cut) -> list[Part]:
    """Every curve that the predictions of a scope allow."""
    p, every = cut.predictions, cut.every
    parts: list[Part] = []

    def curve(score: FloatArray, names: tuple[str, ...], budgets: tuple[str, ...]) -> Curve:
        return Curve(
            stairs=stairs(cut, score),
            areas=tuple(Key(name, every.name) for name in names),
            budgets=budgets,
            population=every.name,
            n=every.n,
            n_docs=every.n_docs,
        )

    if p.prob is not None:
        prob = cut.take(p.prob)
        whole = curve(prob, ("auroc", "auprc"), detection.ALPHAS)
        parts += [whole, _within(cut, prob, whole)]
    if p.prob_raw is not None:
        raw = curve(cut.take(p.prob_raw), ("auroc_raw",), ())
        like = [part for part in parts if isinstance(part, Curve) and part.stairs.orders_like(raw.stairs)]
        parts.append(Same(curve=like[0], keys=raw.keys, facts=raw.facts) if like else raw)
    if p.row_score is not None:
        parts.append(_candidates(cut))
    return parts


def _within(cut: Cut, prob: FloatArray, whole: Curve) -> Within:
    criterion = cut.predictions.criterion[cut.rows]
    positives = np.bincount(criterion, weights=cut.positive)
    negatives = np.bincount(criterion, weights=~cut.positive)
    members = []
    for number in np.flatnonzero((positives >= ENOUGH) & (negatives >= ENOUGH)):
        rows = np.flatnonzero(criterion == number)
        if len(rows) == len(criterion):
            members.append(whole)
            continue
        member = Stairs(
            steps=detection.steps(cut.positive[rows], prob[rows]), unit=cut.unit[rows], n_units=len(cut.units)
        )
        areas = (Key("auroc_within", cut.every.name), Key("auprc_within", cut.every.name))
        members.append(Curve(stairs=member, areas=areas, budgets=(), population="", n=len(rows), n_docs=0))
    n = sum(member.n for member in members)
    note = f"mean over {len(members)} of {int((positives + negatives > 0).sum())} criteria"
    empty = f"no criterion has {ENOUGH} queries with evidence and {ENOUGH} without"
    keys = [Key(name, cut.every.name) for name in ("auroc_within", "auprc_within")]
    facts = [Fact(n=n, n_docs=cut.every.n_docs, empty=empty, note=note) for _ in keys]
    return Within(members=members, keys=keys, facts=facts)


def _candidates(cut: Cut) -> Curve:
    """auroc_candidates, auprc_candidates: every row of the rankings, by its score."""
    p = cut.predictions
    assert p.row_score is not None and p.row_gold is not None  # noqa: S101, PT018 - the caller has looked
    place: IntArray = np.full(p.n_queries, -1, dtype=np.int64)
    place[cut.rows] = cut.unit
    unit = place[cut.prepared.row_query]
    inside: BoolArray = unit >= 0
    steps = detection.steps(p.row_gold[inside], p.row_score[inside])
    keys: Any = (Key("auroc_candidates", "candidates"), Key("auprc_candidates", "candidates"))
    found = Stairs(steps=steps, unit=unit[inside], n_units=len(cut.units), groups=GROUPS)
    n = int(inside.sum())
    return Curve(stairs=found, areas=keys, budgets=(), population="candidates", n=n, n_docs=cut.every.n_docs)
