"""Statistics that no sum gives, in every resample at once: each from one sort or one fit, and weights."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from probative.audit import labels, reliability
from probative.audit.queries import Query
from probative.audit.sums import Array


@dataclass(frozen=True)
class Curve:
    """True and false alarms at or above every distinct score, in every resample, from one sort."""

    tp: Array
    fp: Array

    @classmethod
    def of(cls, scores: Array, truth: Array, weights: Array) -> Curve:
        order = np.argsort(-scores, kind="stable")
        last = np.append(scores[order][1:] != scores[order][:-1], True)
        w = weights[:, order]
        tp = np.cumsum(w * truth[order], axis=1)[:, last]
        return cls(tp, np.cumsum(w, axis=1)[:, last] - tp)

    def _defined(self, value: Array) -> Array:
        return np.where((self.tp[:, -1] > 0) & (self.fp[:, -1] > 0), value, np.nan)

    def auroc(self) -> Array:
        gained = np.diff(self.tp, axis=1, prepend=0.0)
        lost = np.diff(self.fp, axis=1, prepend=0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            area = np.einsum("br,br->b", lost, self.tp - gained / 2)
            return self._defined(area / (self.tp[:, -1] * self.fp[:, -1]))

    def auprc(self) -> Array:
        gained = np.diff(self.tp, axis=1, prepend=0.0)
        share = self.tp / np.maximum(self.tp + self.fp, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._defined(np.einsum("br,br->b", gained, share) / self.tp[:, -1])

    def tpr(self, budget: float) -> Array:
        """The largest TPR whose FPR is within the budget."""
        inside = (self.fp <= budget * self.fp[:, -1:] * (1 + 1e-12)).sum(axis=1)
        best = np.where(inside > 0, self.tp[np.arange(len(self.tp)), np.maximum(inside - 1, 0)], 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._defined(best / self.tp[:, -1])


SIDES: tuple[Literal["right", "left"], ...] = ("right", "left")
STEPS = 2000
"""Gold scores that make steps of their own; more of them are thinned."""


def candidates(queries: Sequence[Query], document: NDArray[np.int64], weights: Array) -> Curve:
    """The staircase over all candidates: every gold score is a step, and so is what lies between two of them."""
    scores = np.concatenate([np.array(q.scores or (), dtype=np.float64) for q in queries])
    gold = np.concatenate([np.isin(q.ranked, q.gold) if q.gold else np.zeros(len(q.ranked), bool) for q in queries])
    owner = np.repeat(document, [len(q.ranked) for q in queries])
    edges = np.unique(scores[gold])
    edges = edges[np.unique(np.linspace(0, len(edges) - 1, STEPS).astype(np.int64))] if len(edges) > STEPS else edges
    above, at = (np.searchsorted(edges, scores, side=side) for side in SIDES)
    step = 2 * len(edges) + 1 - (above + at)
    size = 2 * len(edges) + 2
    positives, negatives = (_counted(owner[mask], step[mask], weights.shape[1], size) for mask in (gold, ~gold))
    return Curve(np.cumsum(weights @ positives, axis=1), np.cumsum(weights @ negatives, axis=1))


def _counted(owner: NDArray[np.int64], step: NDArray[np.int64], documents: int, steps: int) -> Array:
    counts = np.bincount(owner * steps + step, minlength=documents * steps)
    return counts.reshape(documents, steps).astype(np.float64)


def ece_equalmass(queries: Sequence[Query], weights: Array) -> Array:
    probs = np.array([q.prob for q in queries], dtype=np.float64)
    gap = probs - np.array([q.positive for q in queries], dtype=np.float64)
    edges = reliability.deciles(probs.tolist())
    place = np.clip(np.searchsorted(edges, probs, side="right") - 1, 0, len(edges) - 2)
    sums = np.stack([weights[:, place == i] @ gap[place == i] for i in range(len(edges) - 1)])
    with np.errstate(invalid="ignore"):  # a resample may hold none of these queries
        return np.asarray(np.abs(sums).sum(axis=0) / weights.sum(axis=1))


def aurc(queries: Sequence[Query], weights: Array) -> Array:
    """Equal confidences, a query drawn twice among them, are answered in random order, on average."""
    sure, wrong = (np.array(part) for part in zip(*map(reliability.answer, queries), strict=True))
    order = np.lexsort((-sure[:, 1], -sure[:, 0]))
    first = np.flatnonzero(np.append(True, (np.diff(sure[order], axis=0) != 0).any(axis=1)))
    size, errors = (np.add.reduceat(weights[:, order] * part, first, axis=1) for part in (1.0, wrong[order]))
    done, failed = (np.cumsum(part, axis=1) for part in (size, errors))
    before = (done - size).astype(np.int64)
    harmonic = np.append(0.0, np.cumsum(1 / np.arange(1, int(done[:, -1].max()) + 1)))
    share = np.divide(errors, size, out=np.zeros_like(size), where=size > 0)
    carried = (failed - errors - share * before) * (harmonic[done.astype(np.int64)] - harmonic[before])
    with np.errstate(invalid="ignore"):  # a resample may hold none of these queries
        return np.asarray((errors + carried).sum(axis=1) / done[:, -1])


FLAT = 1e-5
"""A resample whose log-odds spread so little has no line."""


def line(queries: Sequence[Query], weights: Array) -> Iterator[tuple[str, Array]]:
    start = reliability.line([q.prob or 0.0 for q in queries], [q.positive for q in queries])
    if start is None:
        return
    slope, intercept = start
    x = np.array([reliability.log_odds(q.prob or 0.0) for q in queries])
    y = np.array([q.positive for q in queries], dtype=np.float64)
    middle = math.fsum(x) / len(x)
    design = np.stack([x - middle, np.ones_like(x)], axis=1)
    # One Newton step from the fitted line, as the one-step bootstrap has it.
    p = 1 / (1 + np.exp(-np.clip(slope * x + intercept, -700, 700)))
    bend = np.einsum("bi,ij,ik->bjk", weights, design * (p * (1 - p))[:, None], design, optimize=True)
    pull = weights @ (design * (y - p)[:, None])
    sound = np.linalg.det(bend) > FLAT * bend[:, 0, 0] * bend[:, 1, 1]
    moves = np.linalg.solve(np.where(sound[:, None, None], bend, np.eye(2)), pull[:, :, None])[:, :, 0]
    yield "calibration_slope", np.where(sound, slope + moves[:, 0], np.nan)
    yield "calibration_intercept", np.where(sound, intercept + moves[:, 1] - moves[:, 0] * middle, np.nan)


def multilabel(queries: Sequence[Query], weights: Array) -> Iterator[tuple[str, Array]]:
    by_document: dict[str, list[int]] = defaultdict(list)
    for i, q in enumerate(queries):
        by_document[q.doc_id].append(i)
    groups = [[queries[i] for i in members] for members in by_document.values()]
    w = weights[:, np.array([members[0] for members in by_document.values()])]
    with np.errstate(divide="ignore", invalid="ignore"):
        for metric in sorted(labels.PER_DOCUMENT):
            yield metric, np.asarray(w @ np.array(labels.document_values(metric, queries)) / w.sum(axis=1))
        positives = np.array([float(sum(q.positive for q in g)) for g in groups])
        f1 = np.array([labels.f1(g) for g in groups])
        yield "f1_weighted_document", np.asarray(w @ (positives * f1) / (w @ positives))
        yield from _by_criterion(queries, weights)


def _by_criterion(queries: Sequence[Query], weights: Array) -> Iterator[tuple[str, Array]]:
    hits, errors, mass = [], [], []
    for name in sorted({q.criterion_id for q in queries}):
        rows = [i for i, q in enumerate(queries) if q.criterion_id == name]
        tp = np.array([float(queries[i].positive and bool(queries[i].predicted)) for i in rows])
        wrong = np.array([float(queries[i].positive != bool(queries[i].predicted)) for i in rows])
        truth = np.array([float(queries[i].positive) for i in rows])
        w = weights[:, rows]
        hits.append(w @ tp)
        errors.append(w @ wrong)
        mass.append(w @ truth)
    tp_, wrong_, positive = (np.array(part) for part in (hits, errors, mass))
    f1 = np.where(tp_ + wrong_ > 0, 2 * tp_ / (2 * tp_ + wrong_), 0.0)
    yield "f1_macro", np.asarray(f1.mean(axis=0))
    yield "f1_weighted", np.asarray((f1 * positive).sum(axis=0) / positive.sum(axis=0))
    yield "f1_micro", np.asarray(2 * tp_.sum(axis=0) / (2 * tp_.sum(axis=0) + wrong_.sum(axis=0)))
