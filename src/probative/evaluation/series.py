"""What is not one number: curves, bins, histograms and tables that plots are drawn from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from probative.evaluation import curves, of_triage
from probative.evaluation.cut import Cut, Prepared
from probative.evaluation.predictions import STATES, Predictions
from probative.evaluation.records import MetricsMaster, Series, number
from probative.evaluation.resample import Draw
from probative.evaluation.settings import EvaluateSettings
from probative.metrics import triage

POINTS = 200
CRITERION_COLUMNS: tuple[tuple[str, str | None], ...] = (
    *(("ndcg@10", None), ("recall@10", None), ("mrr", None), ("auroc", None), ("auprc", None)),
    *(("sensitivity", None), ("precision", None), ("brier", None), ("evidence_recall", "triage")),
    *(("screening_sensitivity", None), ("alert_precision", None)),
)
Row = Sequence[Any]


def of(stage: str, prepared: Prepared, draw: Draw | None, settings: EvaluateSettings) -> list[Series]:
    """Every series that the predictions of a stage allow."""
    cut = Cut(prepared=prepared, rows=np.arange(prepared.predictions.n_queries))
    found: list[Series] = []

    def keep(id: str, columns: str, rows: Sequence[Row], scope: str = "pooled") -> None:  # noqa: A002
        if len(rows):
            table = [list(row) for row in rows]
            found.append({"id": id, "scope": scope, "stage": stage, "columns": columns.split(), "rows": table})

    if stage != "prior":
        keep("recall_by_k", "k recall low high hit precision oracle", curves.recall_by_k(cut, draw, settings.level))
    if prepared.predictions.prob is not None:
        keep("roc", "threshold fpr tpr", curves.roc(cut))
        keep("pr", "threshold recall precision", curves.precision_recall(cut))
        keep("roc_band", "fpr tpr low high", curves.roc_band(cut, draw, settings.level))
        for scope, part in _with_criteria(cut, settings):
            rows = curves.reliability(part, draw, settings.level)
            keep("reliability", "low high n mean_p frequency ci_low ci_high", rows, scope)
    if stage == "final":
        for id, (columns, make) in _TABLES.items():  # noqa: A001
            keep(id, columns, list(make(cut)))
        if prepared.predictions.state is not None and prepared.predictions.prob is not None:
            keep("risk_coverage", "coverage risk abstaining", _risk_coverage(cut))
        keep("thresholds", " ".join(["fold", *_threshold_names(cut.predictions)]), _thresholds(cut.predictions))
    return found


def _with_criteria(cut: Cut, settings: EvaluateSettings) -> Iterator[tuple[str, Cut]]:
    yield "pooled", cut
    criteria = cut.predictions.criterion_ids
    if len(criteria) <= settings.criteria_limit:
        for place, name in enumerate(criteria):
            yield f"criterion:{name}", cut.narrow(cut.predictions.criterion == place)


def _document_length(cut: Cut) -> Iterator[Row]:
    p = cut.predictions
    _, first = np.unique(p.doc, return_index=True)
    sizes, counts = np.unique(p.n_candidates[first], return_counts=True)
    return zip(sizes.tolist(), counts.tolist(), strict=True)


def _gold_flow(cut: Cut) -> Iterator[Row]:
    p = cut.predictions
    total = len(p.gold_rank)
    if not total:
        return
    steps = {"annotated": total, "ranked": int((p.gold_rank > 0).sum())}
    if p.gold_in_pool is not None:
        steps["in_pool"] = int(p.gold_in_pool.sum())
    for k in (20, 10, 5, 3, 1):
        steps[f"top_{k}"] = int(((p.gold_rank > 0) & (p.gold_rank <= k)).sum())
    for mode, selection in p.selections.items():
        steps[f"selected_{mode}"] = int(selection.hits.sum())
    yield from ((step, gold, gold / total) for step, gold in steps.items())


def _groups(p: Predictions) -> Iterator[tuple[str, Any]]:
    known = p.located | ~p.positive
    yield "all", known
    yield "evidence", known & p.positive
    yield "no_evidence", known & ~p.positive
    if p.state is not None:
        for place, name in enumerate(STATES):
            yield f"state:{name}", known & (p.state == place)


def _k_histogram(cut: Cut) -> Iterator[Row]:
    for mode, selection in cut.predictions.selections.items():
        for group, inside in _groups(cut.predictions):
            sizes, counts = np.unique(selection.size[inside], return_counts=True)
            yield from ((mode, group, int(k), int(n)) for k, n in zip(sizes, counts, strict=True))


def _state_by_evidence(cut: Cut) -> Iterator[Row]:
    p = cut.predictions
    if p.state is None:
        return
    for place, name in enumerate(STATES):
        for label, inside in (("evidence", p.positive), ("no_evidence", ~p.positive)):
            n = int(((p.state == place) & inside).sum())
            yield name, label, n, 1000 * n / max(p.n_queries, 1)


def _errors(cut: Cut) -> Iterator[Row]:
    """Evidence set aside, alerts without evidence, and UNCERTAIN where the threshold alone was right."""
    p = cut.predictions
    if p.predicted is None:
        return
    predicted = p.predicted.astype(bool)
    missed, alarmed = (~predicted, predicted) if p.state is None else (p.state == triage.NEG, p.state == triage.POS)
    yield "misses", int((missed & p.positive).sum())
    yield "alarms", int((alarmed & ~p.positive).sum())
    if p.state is not None:
        yield "needless", int(((p.state == triage.UNCERTAIN) & (predicted == p.positive)).sum())


def _risk_coverage(cut: Cut) -> list[Row]:
    sure, wrong = of_triage.order(cut)
    coverage, risk = triage.risk_coverage(sure, wrong)
    state = cut.predictions.state
    decided = int((state != triage.UNCERTAIN).sum()) if state is not None else 0
    n = len(coverage)
    if not n:
        return []
    places = np.unique([*np.linspace(0, n - 1, POINTS).astype(int), *([decided - 1] if decided else [])])
    return [(float(coverage[i]), float(risk[i]), int(i < decided)) for i in places]


def _threshold_names(p: Predictions) -> list[str]:
    plain = [name for name in ("threshold", "tau_neg", "tau_pos") if getattr(p, name) is not None]
    return plain + [f"threshold@fpr={alpha}" for alpha in p.budget_thresholds]


def _thresholds(p: Predictions) -> list[Row]:
    names = _threshold_names(p)
    if not names:
        return []
    columns = [
        p.budget_thresholds[name.partition("=")[2]] if "@" in name else np.asarray(getattr(p, name)) for name in names
    ]
    fold = np.zeros(p.n_queries) if p.fold is None else p.fold
    rows = np.unique(np.column_stack([fold, *columns]), axis=0, equal_nan=False)
    distinct = {tuple(number(value) for value in row) for row in rows}
    ordered = sorted(distinct, key=lambda row: [(value is None, value or 0.0) for value in row])
    return [(None if p.fold is None else int(row[0] or 0), *row[1:]) for row in ordered]


_TABLES: dict[str, tuple[str, Callable[[Cut], Iterator[Row]]]] = {
    "document_length": ("n_sentences n_documents", _document_length),
    "gold_flow": ("step gold share", _gold_flow),
    "k_histogram": ("mode group k n", _k_histogram),
    "state_by_evidence": ("state evidence n per_1000", _state_by_evidence),
    "errors": ("kind n", _errors),
}


def criteria(master: MetricsMaster) -> list[Series]:
    """The table per criterion: counts, and headline metrics with their bounds, read from the records."""
    rows = []
    for entry in master.meta["criteria"]:
        scope = f"criterion:{entry['criterion_id']}"
        row: list[Any] = list(entry.values())
        for id, mode in CRITERION_COLUMNS:  # noqa: A001
            record = master.get(id, scope, mode=mode)
            row += [None] * 3 if record is None else [record["value"], record["ci_low"], record["ci_high"]]
        rows.append(row)
    columns = ["criterion_id", "n_queries", "n_positive", "small", "excluded"]
    columns += [f"{id}{end}" for id, _ in CRITERION_COLUMNS for end in ("", "_low", "_high")]  # noqa: A001
    return [{"id": "criteria", "scope": "pooled", "stage": "final", "columns": columns, "rows": rows}]
