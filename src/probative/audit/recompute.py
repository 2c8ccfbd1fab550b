"""Every record of metrics_master.json, worked out a second time from the per_query tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from probative.audit import detection, extraction, labels, reliability, triage
from probative.audit.frame import Frame
from probative.audit.queries import Query

ENOUGH = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What one record is about."""

    metric: str
    scope: str
    population: str
    mode: str | None = None
    criteria: str = "all"
    stage: str = "final"

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Key:
        return cls(
            metric=str(record.get("id")),
            scope=str(record.get("scope")),
            population=str(record.get("population")),
            mode=record.get("mode"),
            criteria=record.get("criteria") or "all",
            stage=record.get("stage") or "final",
        )

    def __str__(self) -> str:
        parts = [self.metric, self.scope, self.population, self.mode]
        parts += [f"criteria={self.criteria}" if self.criteria != "all" else None]
        parts += [f"stage={self.stage}" if self.stage != "final" else None]
        return " · ".join(p for p in parts if p)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the definitions give. `defined` is False where a convention stands in for a value."""

    value: float | None
    n: int
    n_docs: int
    defined: bool = True
    values: Sequence[float] | None = None
    """The value of each query or document, where the metric is their mean."""
    parts: Sequence[float] | None = None
    """The values of each fold or criterion, where the metric is their mean."""


Measured = tuple[float | None, bool]
"""A value and whether it is defined rather than a convention."""


@dataclass
class Recomputation:
    """Answers keys from frames; knows nothing of the numbers it will be compared with."""

    frames: Mapping[str, Frame]
    _answers: dict[Key, Answer | None] = field(default_factory=dict)

    def answer(self, key: Key) -> Answer | None:
        """The second opinion on a record; None when the definitions do not know such a record."""
        if key not in self._answers:
            self._answers[key] = self._work_out(key)
        return self._answers[key]

    def _work_out(self, key: Key) -> Answer | None:
        frame = self.frames.get(key.stage)
        if frame is None:
            return None
        if key.scope == "fold_mean":
            return self._mean_over(key, [f"fold:{f}" for f in frame.folds])
        if key.scope == "criterion_macro":
            return self._mean_over(key, [f"criterion:{c}" for c in frame.criteria(key.criteria)])
        rows = frame.rows(key.scope, key.criteria)
        return None if rows is None else measure(frame, key, rows)

    def _mean_over(self, key: Key, scopes: Sequence[str]) -> Answer | None:
        """The plain mean of the members that have a defined value."""
        pooled = self.answer(_moved(key, "pooled"))
        found = [self.answer(_moved(key, scope)) for scope in scopes]
        answers = [a for a in found if a is not None]
        if pooled is None or not answers or len(answers) < len(found):
            return None
        parts = [a.value for a in answers if a.defined and a.value is not None]
        value = math.fsum(parts) / len(parts) if parts else 0.0
        return Answer(value=value, n=pooled.n, n_docs=pooled.n_docs, defined=bool(parts), parts=parts)


def _moved(key: Key, scope: str) -> Key:
    return Key(
        metric=key.metric, scope=scope, population=key.population, mode=key.mode, criteria=key.criteria, stage=key.stage
    )


def measure(frame: Frame, key: Key, rows: Sequence[int]) -> Answer | None:
    """One metric of some rows of a frame."""
    for family in (_ranking, _extraction, _sizes, _passed, _deployment, _labels, _candidates, _triage, _detection):
        found = family(frame, key, rows)
        if found is not None:
            return found
    return None


def _docs(queries: Sequence[Query]) -> int:
    return len({q.doc_id for q in queries})


def _mean_answer(frame: Frame, values: Sequence[float], rows: Sequence[int]) -> Answer:
    chosen = [values[i] for i in rows]
    docs = len({frame.queries[i].doc_id for i in rows})
    value = math.fsum(chosen) / len(chosen) if chosen else 0.0
    return Answer(value=value, n=len(chosen), n_docs=docs, defined=bool(chosen), values=chosen)


POPULATIONS: dict[str, Callable[[Query], bool]] = {
    "positives_only": lambda q: q.located,
    "negatives_only": lambda q: not q.positive,
    "all_queries": lambda q: q.located or not q.positive,
}


def populated(frame: Frame, rows: Sequence[int], population: str) -> list[int]:
    """The rows of a ranking or extraction population: a positive without any known sentence is in none of them."""
    kind, _, state = population.partition(":")
    if kind == "state":
        return [i for i in populated(frame, rows, "all_queries") if frame.queries[i].state == state]
    test = POPULATIONS[population]
    return [i for i in rows if test(frame.queries[i])]


def _ranking(frame: Frame, key: Key, rows: Sequence[int]) -> Answer | None:
    values = frame.ranked_values(key.metric)
    if values is None or key.mode is not None or key.population not in {"positives_only", "all_queries"}:
        return None
    return _mean_answer(frame, values, populated(frame, rows, key.population))


def _extraction(frame: Frame, key: Key, rows: Sequence[int]) -> Answer | None:
    known = extraction.PER_QUERY.get(key.metric)
    if known is None or key.mode not in extraction.MODES or key.population != known[0]:
        return None
    return _mean_answer(frame, frame.extracted_values(key.metric, key.mode), populated(frame, rows, key.population))


def _sizes(frame: Frame, key: Key, rows: Sequence[int]) -> Answer | None:
    mode = key.mode
    if key.metric not in extraction.SIZES or mode not in extraction.MODES:
        return None
    if key.population not in POPULATIONS and not key.population.startswith("state:"):
        return None
    chosen = [frame.queries[i] for i in populated(frame, rows, key.population)]
    sizes = [float(extraction.size(q, mode)) for q in chosen]
    value = extraction.of_sizes(key.metric, sizes) if sizes else 0.0
    values = sizes if key.metric == "k_mean" else None
    return Answer(value=value, n=len(chosen), n_docs=_docs(chosen), defined=bool(sizes), values=values)


def _passed(frame: Frame, key: Key, rows: Sequence[int]) -> Answer | None:
    mode = key.mode
    micro = key.metric in {"evidence_recall_micro", "evidence_recall_micro_passed"}
    if mode not in extraction.MODES or not (micro or key.metric == "k_mean_passed"):
        return None
    named = {"evidence_recall_micro": "positives_only", "evidence_recall_micro_passed": "passed_positives"}
    if key.population != named.get(key.metric, "passed_queries"):
        return None
    base = "positives_only" if micro else "all_queries"
    chosen = [frame.queries[i] for i in populated(frame, rows, base)]
    if key.metric.endswith("_passed"):
        chosen = [q for q in chosen if extraction.passed(q, mode)]
    if micro:
        part, whole = sum(extraction.hits(q, mode) for q in chosen), sum(len(set(q.gold)) for q in chosen)
    else:
        part, whole = sum(extraction.size(q, mode) for q in chosen), len(chosen)
    values = None if micro else [float(extraction.size(q, mode)) for q in chosen]
    value = part / whole if whole else 0.0
    return Answer(value=value, n=len(chosen), n_docs=_docs(chosen), defined=whole > 0, values=values)


def _deployment(frame: Frame, key: Key, rows: Sequence[int]) -> Answer | None:
    name = key.metric.removeprefix("deploy_")
    mode = key.mode
    if name == key.metric or mode not in extraction.MODES or key.population != "all_queries":
        return None
    chosen = [frame.queries[i] for i in rows]
    found = detection.confusion([extraction.size(q, mode) > 0 for q in chosen], [q.positive for q in chosen])
    return _of_confusion({"recall": "sensitivity"}.get(name, name), found, chosen)


def _of_confusion(name: str, found: detection.Confusion, chosen: Sequence[Query]) -> Answer | None:
    n, docs = len(chosen), _docs(chosen)
    if name in detection.COUNTS:
        return Answer(value=float(getattr(found, name)), n=n, n_docs=docs, defined=n > 0)
    if name not in detection.RATIOS | {"fnr"}:
        return None
    value, there = found.ratio(name)
    return Answer(value=value, n=n, n_docs=docs, defined=there)


def _labels(frame: Frame, key: Key, rows: Sequence[int]) -> Answer | None:
    if key.metric not in labels.METRICS or key.population != "documents":
        return None
    chosen = [frame.queries[i] for i in rows]
    docs = _docs(chosen)
    if not chosen:
        return Answer(value=0.0, n=0, n_docs=0, defined=False)
    values = labels.document_values(key.metric, chosen) if key.metric in labels.PER_DOCUMENT else None
    defined = labels.is_defined(key.metric, chosen)
    return Answer(value=labels.measure(key.metric, chosen), n=docs, n_docs=docs, values=values, defined=defined)


def _candidates(frame: Frame, key: Key, rows: Sequence[int]) -> Answer | None:
    if key.metric not in {"auroc_candidates", "auprc_candidates"} or key.population != "candidates":
        return None
    chosen = [frame.queries[i] for i in rows]
    if any(q.scores is None for q in chosen):
        return None
    scores: list[float] = []
    gold: list[bool] = []
    for query in chosen:
        wanted = set(query.gold)
        scores.extend(query.scores or ())
        gold.extend(uid in wanted for uid in query.ranked)
    return _curve(key.metric.removesuffix("_candidates"), scores, gold, len(gold), _docs(chosen))


def _curve(metric: str, scores: Sequence[float], gold: Sequence[bool], n: int, docs: int) -> Answer:
    positives = sum(gold)
    if positives in {0, n}:
        value = 0.5 if metric == "auroc" else positives / n if n else 0.0
        return Answer(value=value, n=n, n_docs=docs, defined=False)
    steps = detection.steps(scores, gold)
    value = detection.auroc(steps) if metric == "auroc" else detection.average_precision(steps)
    return Answer(value=value, n=n, n_docs=docs)


def _triage(frame: Frame, key: Key, rows: Sequence[int]) -> Answer | None:
    if key.metric not in triage.METRICS | {"aurc"} or key.population != "all_queries":
        return None
    chosen = [frame.queries[i] for i in rows]
    if any(q.state is None for q in chosen):
        return None
    if key.metric == "aurc":
        return Answer(value=reliability.aurc(chosen), n=len(chosen), n_docs=_docs(chosen), defined=bool(chosen))
    factor, part, whole = triage.parts(key.metric, chosen)
    value = factor * part / whole if whole else 0.0
    return Answer(value=value, n=len(chosen), n_docs=_docs(chosen), defined=whole > 0)


def _detection(frame: Frame, key: Key, rows: Sequence[int]) -> Answer | None:
    if key.population != "all_queries":
        return None
    chosen = [frame.queries[i] for i in rows]
    n, docs = len(chosen), _docs(chosen)
    truth = [q.positive for q in chosen]
    counts = {"n_queries": n, "n_positive": sum(truth)}
    if key.metric in counts:
        return Answer(value=float(counts[key.metric]), n=n, n_docs=docs)
    if key.metric == "positive_rate":
        return Answer(value=sum(truth) / n if n else 0.0, n=n, n_docs=docs, defined=n > 0)
    if key.metric.endswith("@p=0.5"):
        if any(q.prob is None for q in chosen):
            return None
        found = detection.confusion([(q.prob or 0.0) >= 0.5 for q in chosen], truth)
        return _of_confusion(key.metric.removesuffix("@p=0.5"), found, chosen)
    if key.metric in detection.RATIOS | detection.COUNTS:
        if any(q.predicted is None for q in chosen):
            return None
        return _of_confusion(key.metric, detection.confusion([bool(q.predicted) for q in chosen], truth), chosen)
    return _scored(key, chosen, truth)


def _scored(key: Key, chosen: Sequence[Query], truth: Sequence[bool]) -> Answer | None:
    raw = key.metric == "auroc_raw"
    scores = [q.prob_raw if raw else q.prob for q in chosen]
    known = [s for s in scores if s is not None]
    if len(known) < len(scores):
        return None
    n, docs = len(chosen), _docs(chosen)
    if key.metric in {"auroc", "auroc_raw", "auprc"}:
        return _curve(key.metric.removesuffix("_raw"), known, truth, n, docs)
    if key.metric in {"auroc_within", "auprc_within"}:
        return _within(key.metric.removesuffix("_within"), chosen, docs)
    name, at, budget = key.metric.partition("@fpr=")
    if at:
        return _budget(name, budget, known, chosen, truth)
    return _calibration(key.metric, known, chosen, truth)


def _within(metric: str, chosen: Sequence[Query], docs: int) -> Answer:
    parts = []
    n = 0
    for group in labels.grouped(chosen, lambda q: q.criterion_id).values():
        positives = sum(q.positive for q in group)
        if positives >= ENOUGH and len(group) - positives >= ENOUGH:
            n += len(group)
            probs = [q.prob or 0.0 for q in group]
            parts.append(_curve(metric, probs, [q.positive for q in group], len(group), 0).value or 0.0)
    return Answer(value=math.fsum(parts) / len(parts) if parts else 0.0, n=n, n_docs=docs, defined=bool(parts))


def _budget(
    name: str, budget: str, probs: Sequence[float], chosen: Sequence[Query], truth: Sequence[bool]
) -> Answer | None:
    n, docs = len(chosen), _docs(chosen)
    if name in {"tpr", "curve_threshold"}:
        if sum(truth) in {0, n}:
            return Answer(value=0.0 if name == "tpr" else None, n=n, n_docs=docs, defined=False)
        threshold, tpr = detection.at_budget(detection.steps(probs, truth), float(budget))
        if name == "tpr":
            return Answer(value=tpr, n=n, n_docs=docs)
        return Answer(value=threshold, n=n, n_docs=docs, defined=threshold is not None)
    if name not in {"tpr_transfer", "fpr_transfer"} or any(budget not in q.budgets for q in chosen):
        return None
    predicted = [p >= q.budgets[budget] for p, q in zip(probs, chosen, strict=True)]
    value, there = detection.confusion(predicted, truth).ratio("sensitivity" if name == "tpr_transfer" else "fpr")
    return Answer(value=value, n=n, n_docs=docs, defined=there)


def _calibration(metric: str, probs: Sequence[float], chosen: Sequence[Query], truth: Sequence[bool]) -> Answer | None:
    n, docs = len(chosen), _docs(chosen)
    simple: dict[str, Callable[[Sequence[float], Sequence[bool]], float]] = {
        "brier": detection.brier,
        "ece": detection.ece,
        "ece_dropone": detection.ece_dropone,
        "mce": detection.mce,
        "ece_equalmass": reliability.ece_equalmass,
    }
    if metric in simple:
        value = simple[metric](probs, truth) if n else 0.0
        return Answer(value=value, n=n, n_docs=docs, defined=n > 0)
    if metric in {"calibration_slope", "calibration_intercept"}:
        line = reliability.line(probs, truth) if n else None
        part = None if line is None else line[metric == "calibration_intercept"]
        return Answer(value=part, n=n, n_docs=docs, defined=line is not None)
    if metric == "brier_skill":
        priors = [q.prior for q in chosen if q.prior is not None]
        if len(priors) < n:
            return None
        against = detection.brier(priors, truth) if n else 0.0
        skill = 1 - detection.brier(probs, truth) / against if against else 0.0
        return Answer(value=skill, n=n, n_docs=docs, defined=against > 0)
    return None
