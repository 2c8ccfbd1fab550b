"""The bounds inside series, held against the same independent resampling as those of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from probative.audit import exact, redrawn
from probative.audit.recompute import Key
from probative.audit.resampling import Resampled
from probative.audit.sums import Array

Judge = Callable[[float, float, Array], str]
"""(low, high, the statistic in every resample) → "" or what is wrong."""
Exact = Callable[[float, float, float, exact.Events], str]


def bands(stated: Mapping[str, Any], resampled: Resampled, judge: Judge, judge_exact: Exact) -> Iterator[str]:
    """What is wrong with the bounds of one series."""
    names = stated["columns"]
    where = f"series {stated['id']} · {stated['scope']} · {stated.get('stage') or 'final'}"
    curve: redrawn.Curve | None = None
    for number, cells in enumerate(stated["rows"], start=1):
        row = dict(zip(names, cells, strict=True))
        problem = ""
        if stated["id"] == "recall_by_k" and row["low"] is not None:
            problem = _recall(row, resampled, judge)
        elif stated["id"] == "roc_band" and row["low"] is not None:
            curve = curve or resampled.curve(range(len(resampled.frame.queries)))
            problem = _roc(row, curve, judge)
        elif stated["id"] == "reliability" and row["ci_low"] is not None:
            problem = _bin(row, number - 1, str(stated["scope"]), resampled, judge, judge_exact)
        if problem:
            yield f"{where}, row {number}: {problem}"


def _recall(row: Mapping[str, Any], resampled: Resampled, judge: Judge) -> str:
    values = resampled.values(Key(metric=f"recall@{row['k']}", scope="pooled", population="positives_only"))
    return "" if values is None or row["recall"] in (0.0, 1.0) else judge(row["low"], row["high"], values)


def _roc(row: Mapping[str, Any], curve: redrawn.Curve, judge: Judge) -> str:
    return judge(row["low"], row["high"], curve.tpr(float(row["fpr"])))


def _bin(row: Mapping[str, Any], place: int, scope: str, resampled: Resampled, judge: Judge, judge_exact: Exact) -> str:
    rows = resampled.frame.rows(scope, "all") or []
    size, hits = resampled.column(f"bin_n|{place}")[rows], resampled.column(f"bin_y|{place}")[rows]
    documents = resampled.document[rows]
    found = exact.Events(float(hits.sum()), float(size.sum()), len(set(documents[size > 0].tolist())))
    if found.at_boundary:
        return judge_exact(row["ci_low"], row["ci_high"], row["frequency"], found)
    weights = resampled.draws.weights[:, documents]
    with np.errstate(divide="ignore", invalid="ignore"):
        return judge(row["ci_low"], row["ci_high"], np.asarray((weights @ hits) / (weights @ size)))
