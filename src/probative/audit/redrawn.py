"""Statistics that no sum gives, in every resample at once: each from one sort or one fit, and weights."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from probative.audit import labels, reliability
from probative.audit.queries import Query
from probative.audit.sums import Array


def curve(name: str, budget: str, scores: Array, truth: Array, weights: Array) -> Array | None:
    """AUROC, average precision or the TPR within a budget, in every resample, from one sort of the scores."""
    order = np.argsort(-scores, kind="stable")
    last = np.append(scores[order][1:] != scores[order][:-1], True)
    w = weights[:, order]
    tp = np.cumsum(w * truth[order], axis=1)[:, last]
    fp = np.cumsum(w * (1 - truth[order]), axis=1)[:, last]
    positives, negatives = tp[:, -1], fp[:, -1]
    gained = np.diff(tp, axis=1, prepend=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        if name == "auroc":
            lost = np.diff(fp, axis=1, prepend=0.0)
            value = (lost * (tp - gained / 2)).sum(axis=1) / (positives * negatives)
        elif name == "auprc":
            value = (gained * np.where(tp + fp > 0, tp / (tp + fp), 0.0)).sum(axis=1) / positives
        elif name == "tpr":
            inside = fp <= float(budget) * negatives[:, None] * (1 + 1e-12)
            value = np.where(inside, tp, 0.0).max(axis=1) / positives
        else:
            return None
        return np.asarray(np.where((positives > 0) & (negatives > 0), value, np.nan))


def aurc(queries: Sequence[Query], weights: Array) -> Array:
    confident = np.array([_confidence(q) for q in queries])
    wrong = np.array([_wrong(q) for q in queries], dtype=np.float64)
    order = np.argsort(-confident, kind="stable")
    w = weights[:, order]
    done = np.cumsum(w, axis=1)
    errors = np.cumsum(w * wrong[order], axis=1)
    risk = np.where(done > 0, errors / np.maximum(done, 1.0), 0.0)
    return np.asarray((risk * w).sum(axis=1) / done[:, -1])


def _confidence(q: Query) -> float:
    return reliability.answers([q])[0][0]


def _wrong(q: Query) -> bool:
    return reliability.answers([q])[0][1]


def line(queries: Sequence[Query], weights: Array, intercept: bool) -> Array | None:
    x = np.array([reliability.log_odds(q.prob or 0.0) for q in queries])
    y = np.array([q.positive for q in queries], dtype=np.float64)
    start = reliability.line([q.prob or 0.0 for q in queries], [q.positive for q in queries])
    if start is None:
        return None
    design = np.stack([x, np.ones_like(x)], axis=1)
    # One Newton step from the fitted line, as the one-step bootstrap has it.
    p = 1 / (1 + np.exp(-np.clip(design @ np.array(start), -700, 700)))
    bend = np.einsum("bi,ij,ik->bjk", weights, design * (p * (1 - p))[:, None], design, optimize=True)
    slope = weights @ (design * (y - p)[:, None])
    sound = np.linalg.det(bend) > 0
    moved = (
        np.array(start) + np.linalg.solve(np.where(sound[:, None, None], bend, np.eye(2)), slope[:, :, None])[:, :, 0]
    )
    return np.where(sound, moved[:, int(intercept)], np.nan)


def multilabel(metric: str, queries: Sequence[Query], weights: Array) -> Array | None:
    by_document: dict[str, list[int]] = defaultdict(list)
    for i, q in enumerate(queries):
        by_document[q.doc_id].append(i)
    first = np.array([members[0] for members in by_document.values()])
    w = weights[:, first]
    groups = [[queries[i] for i in members] for members in by_document.values()]
    with np.errstate(divide="ignore", invalid="ignore"):
        if metric in labels.PER_DOCUMENT:
            return np.asarray(w @ np.array(labels.document_values(metric, queries)) / w.sum(axis=1))
        if metric == "f1_weighted_document":
            positives = np.array([float(sum(q.positive for q in g)) for g in groups])
            f1 = np.array([labels.f1(g) for g in groups])
            return np.asarray(w @ (positives * f1) / (w @ positives))
        tp = np.array([float(q.positive and bool(q.predicted)) for q in queries])
        wrong = np.array([float(q.positive != bool(q.predicted)) for q in queries])
        truth = np.array([float(q.positive) for q in queries])
        if metric == "f1_micro":
            return np.asarray(2 * (weights @ tp) / (2 * (weights @ tp) + weights @ wrong))
        names = sorted({q.criterion_id for q in queries})
        member = np.array([[float(q.criterion_id == name) for name in names] for q in queries])
        hits, errors, mass = (
            weights @ (member * tp[:, None]),
            weights @ (member * wrong[:, None]),
            weights @ (member * truth[:, None]),
        )
        f1 = np.where(hits + errors > 0, 2 * hits / (2 * hits + errors), 0.0)
        if metric == "f1_macro":
            return np.asarray(f1.mean(axis=1))
        return np.asarray((f1 * mass).sum(axis=1) / mass.sum(axis=1))
