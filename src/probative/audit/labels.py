"""Contract §8 once more: each document's criteria as one multi-label answer."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from probative.audit.queries import Query

METRICS = frozenset(
    {
        "exact_match",
        "hamming_score",
        "hamming_loss",
        "f1_macro",
        "f1_weighted",
        "f1_micro",
        "f1_macro_document",
        "f1_weighted_document",
    }
)
PER_DOCUMENT = frozenset({"exact_match", "hamming_score", "hamming_loss", "f1_macro_document"})


def grouped(queries: Iterable[Query], by: Callable[[Query], str]) -> dict[str, list[Query]]:
    found: dict[str, list[Query]] = defaultdict(list)
    for query in queries:
        found[by(query)].append(query)
    return dict(found)


def accuracy(queries: Sequence[Query]) -> float:
    return sum(bool(q.predicted) == q.positive for q in queries) / len(queries)


def f1(queries: Sequence[Query]) -> float:
    tp = sum(bool(q.predicted) and q.positive for q in queries)
    wrong = sum(bool(q.predicted) != q.positive for q in queries)
    return 2 * tp / (2 * tp + wrong) if tp or wrong else 0.0


def _weighted(groups: Iterable[Sequence[Query]]) -> float:
    parts = [(sum(q.positive for q in group), f1(group)) for group in groups]
    total = sum(weight for weight, _ in parts)
    return math.fsum(weight * value for weight, value in parts) / total if total else 0.0


def document_values(metric: str, queries: Sequence[Query]) -> list[float]:
    """One value a document, for the metrics that are plain means over documents."""
    documents = grouped(queries, lambda q: q.doc_id).values()
    if metric == "exact_match":
        return [float(accuracy(d) == 1.0) for d in documents]
    if metric == "hamming_score":
        return [accuracy(d) for d in documents]
    if metric == "hamming_loss":
        return [sum(bool(q.predicted) != q.positive for q in d) / len(d) for d in documents]
    return [f1(d) for d in documents]


def is_defined(metric: str, queries: Sequence[Query]) -> bool:
    """Weights by positives need a positive, the micro average something to find or predict."""
    if metric in {"f1_weighted", "f1_weighted_document"}:
        return any(q.positive for q in queries)
    return metric != "f1_micro" or any(q.positive or q.predicted for q in queries)


def measure(metric: str, queries: Sequence[Query]) -> float:
    """A multi-label metric of these queries."""
    if metric == "f1_micro":
        return f1(queries)
    if metric == "f1_macro":
        groups = grouped(queries, lambda q: q.criterion_id).values()
        return math.fsum(f1(group) for group in groups) / len(groups)
    if metric == "f1_weighted":
        return _weighted(grouped(queries, lambda q: q.criterion_id).values())
    if metric == "f1_weighted_document":
        return _weighted(grouped(queries, lambda q: q.doc_id).values())
    values = document_values(metric, queries)
    return math.fsum(values) / len(values)
