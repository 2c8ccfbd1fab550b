"""Criteria: the same metrics for each of them."""

from __future__ import annotations

from typing import Any

from probative.metrics import lookup
from probative.report import parts, words
from probative.report.folder import RunFolder
from probative.report.plots import bars

DRAWN = ("ndcg@10", "recall@10", "auroc", "evidence_recall", "screening_sensitivity", "alert_precision")
MOST = 60


def section(run: RunFolder) -> parts.Part:
    """Where it works and where it does not."""
    title, intro = (
        "Criteria",
        "Criteria differ. Those with fewer than 20 positives are hollow and grey: read them as hints.",
    )
    rows = run.rows("criteria")
    if not rows or not any(scope.startswith("criterion:") for scope in run.scopes):
        why = "they are more than the limit of the evaluation (evaluate.criteria_limit), or none were evaluated."
        return parts.section("criteria", title, intro, parts.missing("Metrics by criterion", why))
    names = [column for column in rows[0] if f"{column}_low" in rows[0]]
    shown = sorted(rows, key=lambda row: -row["n_positive"])
    return parts.section(
        "criteria",
        title,
        intro,
        parts.figures(*(_forest(run, name, shown[:MOST]) for name in DRAWN if name in names)),
        parts.text(f"The {MOST} criteria with the most positives are drawn.") if len(rows) > MOST else None,
        _table(run, shown, names),
    )


def _mode(name: str) -> str | None:
    return "triage" if lookup(name).by_mode else None


def _forest(run: RunFolder, name: str, rows: list[dict[str, Any]]) -> parts.Part | None:
    kept = [
        {
            **{key: row[key] for key in ("criterion_id", "n_queries", "n_positive", "small", "excluded")},
            **{"value": _value(run, row, name), "low": row[f"{name}_low"], "high": row[f"{name}_high"]},
        }
        for row in rows
    ]
    kept = [row for row in kept if row["value"] is not None]
    if not kept:
        return None
    record = run.record(name, mode=_mode(name))
    pooled = run.value(name, mode=_mode(name))
    mode = f", selection {_mode(name)}" if _mode(name) else ""
    return parts.figure(
        bars.forest(f"forest_{name.replace('@', '-')}", name, kept, pooled),
        f"{name} by criterion",
        f"{name} with 95 % intervals for {len(kept)} criteria; dashed: the pooled value, {words.number(pooled)}.",
        list(kept[0]),
        [tuple(row.values()) for row in kept],
        f"`{name}` with 95 % intervals, {record['population'] if record else ''}{mode}. In brackets the number of "
        f"positives; hollow and grey: fewer than 20; † not trained on; dashed: all criteria, {words.number(pooled)}.",
    )


def _value(run: RunFolder, row: dict[str, Any], name: str) -> float | None:
    """The series keeps values that stand for nothing, such as the precision of no alert; their records say so."""
    return run.value(name, f"criterion:{row['criterion_id']}", mode=_mode(name))


def _table(run: RunFolder, rows: list[dict[str, Any]], names: list[str]) -> parts.Part:
    shown = []
    for row in rows:
        mark = " ○" * bool(row["small"]) + " †" * bool(row["excluded"])
        cells: list[parts.Cell] = [f"{row['criterion_id']}{mark}"]
        cells += [parts.cell(words.count(row[key]), sort=row[key]) for key in ("n_queries", "n_positive")]
        for name in names:
            record = {"value": _value(run, row, name), "ci_low": row[f"{name}_low"], "ci_high": row[f"{name}_high"]}
            cells.append({**parts.measured(record), "tone": "weak" if row["small"] else ""})
        shown.append(cells)
    head = ["criterion", parts.metric("n_queries"), parts.metric("n_positive"), *(parts.metric(name) for name in names)]
    after = "With 95 % intervals. ○ fewer than 20 positives, † not trained on."
    return parts.table("metrics_by_criterion", "Every criterion", head, shown, after)
