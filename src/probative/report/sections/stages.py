"""Stages: what each adds, and where gold is lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from probative.report import parts, words
from probative.report.folder import RunFolder
from probative.report.plots import bars

STEPS = {
    "annotated": "annotated",
    "ranked": "ranked at all",
    "in_pool": "in the pool",
    "top_20": "in the first 20",
    "top_10": "in the first 10",
    "top_5": "in the first 5",
    "top_1": "first",
    "selected_raw": "selected (raw)",
    "selected_gate": "selected (gate)",
    "selected_triage": "shown (triage)",
}
METRICS = ("ndcg@10", "recall@10", "auroc", "evidence_recall", "alert_precision")


def section(run: RunFolder) -> parts.Part:
    """What each part of the pipeline is worth."""
    return parts.section(
        "stages",
        "Stages",
        "What each stage adds, and where gold sentences are lost on the way to the reader.",
        parts.figures(_flow(run), _drawn(run)),
        _ablation(run),
        _comparisons(run),
        _costs(run),
    )


def _flow(run: RunFolder) -> parts.Part:
    rows = {row["step"]: row for row in run.rows("gold_flow")}
    steps = [(said, rows[step]["gold"], rows[step]["share"]) for step, said in STEPS.items() if step in rows]
    if not steps:
        return parts.missing("Where gold is lost", "no gold sentence is marked.")
    return parts.figure(
        bars.flow(steps),
        "Where gold is lost",
        "Share of gold sentences left after each step: "
        + ", ".join(f"{said} {words.percent(share)}" for said, _, share in steps)
        + ".",
        ["step", "gold", "share"],
        steps,
    )


def _rows(run: RunFolder) -> list[Mapping[str, Any]]:
    return [row for row in (run.ablation or {}).get("rows") or () if isinstance(row, Mapping)]


def _label(row: Mapping[str, Any]) -> str:
    return str(row.get("title") or row.get("label") or row.get("name") or row.get("id") or "")


def _cells(row: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The records of a row by metric, wherever the row keeps them."""
    inner = row.get("metrics") or row.get("records") or row
    if isinstance(inner, list | tuple):
        return {str(record["id"]): record for record in inner}
    return {
        name: value if isinstance(value, Mapping) else {"value": value}
        for name, value in inner.items()
        if isinstance(value, Mapping) or (isinstance(value, int | float) and parts.pattern(name))
    }


def _ablation(run: RunFolder) -> parts.Part:
    found = _rows(run)
    if not found:
        return parts.missing("The ablation", "`probative ablate` has not been run; Ranking compares the stages.")
    cells = [(_label(row), _cells(row)) for row in found]
    names = [name for name in METRICS if any(name in row for _, row in cells)]
    rows = [[label, *(_measured(row.get(name)) for name in names)] for label, row in cells]
    return parts.table(
        "ablation_stages",
        "Ablation on the same folds and candidates",
        ["configuration", *map(parts.metric, names)],
        rows,
    )


def _measured(record: Mapping[str, Any] | None) -> parts.Part:
    if record is None:
        return parts.cell(words.NONE)
    if record.get("value") is None:
        return parts.cell(str(record.get("reason") or words.NONE))
    spread = record.get("std_sample")
    if record.get("ci_low") is None and spread is not None:
        return parts.cell(f"{words.number(record['value'])} ± {words.number(spread)}", sort=record["value"])
    return parts.measured(record)


def _drawn(run: RunFolder) -> parts.Part | None:
    rows = []
    for row in _rows(run):
        record = _cells(row).get("ndcg@10")
        if record is not None and record.get("value") is not None:
            rows.append(
                {
                    "name": _label(row),
                    **{"value": record["value"], "low": record.get("ci_low"), "high": record.get("ci_high")},
                }
            )
    if not rows:
        return None
    return parts.figure(
        bars.ablation(rows, "ndcg@10"),
        "ndcg@10 of every configuration",
        "One dot a configuration, with its 95 % interval.",
        list(rows[0]),
        [tuple(row.values()) for row in rows],
    )


def _comparisons(run: RunFolder) -> parts.Part | None:
    found = [row for row in (run.ablation or {}).get("comparisons") or () if isinstance(row, Mapping)]
    if not found:
        return None
    keys = [key for key in found[0] if all(not isinstance(row.get(key), dict | list) for row in found)]
    rows = [[_said(row.get(key)) for key in keys] for row in found]
    title = "Paired comparisons"
    return parts.folded(title, parts.table("ablation_comparisons", title, keys, rows))


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return words.number(value, 4) if isinstance(value, int | float) or value is None else str(value)


def _costs(run: RunFolder) -> parts.Part | None:
    title = "Seconds by stage and fold"
    timings = list(_timed(run))
    if not timings:
        return None
    stages = list(dict.fromkeys(stage for _, stage, _ in timings))
    folds = sorted({fold for fold, _, _ in timings}, key=str)
    found = {(fold, stage): said for fold, stage, said in timings}
    rows = [[stage, *(found.get((fold, stage), words.NONE) for fold in folds)] for stage in stages]
    head = ["stage", *(f"fold {fold}" for fold in folds)]
    after = "(cached): the stage was read from the cache; the seconds are those of its making."
    return parts.folded(title, parts.table("timings", title, head, rows, after))


def _timed(run: RunFolder) -> Iterator[tuple[Any, str, str]]:
    for timing in run.manifest.get("timings") or ():
        cached = " (cached)" if timing.get("cached") else ""
        yield timing.get("fold"), str(timing["stage"]), f"{timing['seconds']:.1f}{cached}"
