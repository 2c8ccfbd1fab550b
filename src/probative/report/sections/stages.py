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
METRICS = ("ndcg@10", "recall@10", "auroc", "evidence_recall", "k_mean", "alert_precision")


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
    return list((run.ablation or {}).get("rows") or ())


def _record(row: Mapping[str, Any], name: str, scope: str = "pooled") -> Mapping[str, Any]:
    return next((record for record in row["metrics"] if record["id"] == name and record["scope"] == scope), {})


def _ablation(run: RunFolder) -> parts.Part:
    found = _rows(run)
    if not found:
        return parts.missing("The ablation", "`probative ablate` has not been run; Ranking compares the stages.")
    rows = []
    for row in found:
        cells: list[Any] = [str(row["label"])]
        cells += [_cell(_record(row, name), _record(row, name, "fold_mean")) for name in METRICS]
        seconds = row.get("seconds")
        rows.append([*cells, parts.cell(words.NONE if seconds is None else f"{seconds:.1f}", sort=seconds)])
    table = parts.table(
        "ablation_stages",
        "Ablation on the same folds and candidates",
        ["configuration", *map(parts.metric, METRICS), "seconds"],
        rows,
        "Pooled value ± standard deviation over folds. Before the gate exists, the probability is the best candidate's "
        "score calibrated on TUNE.",
    )
    said = (run.ablation or {}).get("words") or ()
    return {"kind": "group", "parts": [table, parts.folded("In words", _in_words(said))] if said else [table]}


def _in_words(said: Any) -> parts.Part:
    """Each sentence as a row, beside the metric that it is about."""
    return parts.table("ablation_words", "What each row adds", ["finding"], [[str(line)] for line in said], keep=False)


def _cell(record: Mapping[str, Any], folds: Mapping[str, Any]) -> parts.Part:
    value, spread = record.get("value"), folds.get("std_sample")
    if value is None or record.get("reason"):
        why = record.get("reason")
        return {**parts.cell(words.NONE, tone="weak"), **({"reason": str(why)} if why else {})}
    return parts.cell(f"{words.number(value)}{'' if spread is None else f' ± {words.number(spread)}'}", sort=value)


def _drawn(run: RunFolder) -> parts.Part | None:
    rows = []
    for row in _rows(run):
        record = _record(row, "ndcg@10")
        if record.get("value") is not None:
            low, high = record.get("ci_low"), record.get("ci_high")
            rows.append({"name": str(row["label"]), "value": record["value"], "low": low, "high": high})
    if not rows:
        return None
    return parts.figure(
        bars.ablation(rows, "ndcg@10"),
        "ndcg@10 of every configuration",
        "One dot a configuration, with its 95 % interval.",
        list(rows[0]),
        [tuple(row.values()) for row in rows],
        "Intervals overlap even where the paired difference is clear: see the paired comparisons.",
    )


def _comparisons(run: RunFolder) -> parts.Part | None:
    found = [row for row in (run.ablation or {}).get("comparisons") or () if row.get("difference") is not None]
    if not found:
        return None
    rows = [
        [
            f"{row['other']} against {row['base']}",
            parts.metric(str(row["id"])),
            parts.cell(words.signed(row["difference"]), sort=row["difference"]),
            _interval(row),
            words.number(row.get("p"), 4),
            words.number(row.get("p_holm"), 4),
        ]
        for row in found
    ]
    title = "Paired comparisons with the row above"
    head = ["rows", "metric", "difference", "95 % interval", "p", "p after Holm"]
    after = "Both rows on the same resamples of documents; p by swapping documents between them."
    return parts.folded(title, parts.table("ablation_comparisons", title, head, rows, after))


def _interval(row: Mapping[str, Any]) -> str:
    if row.get("ci_low") is None:
        return words.NONE
    return f"[{words.signed(row['ci_low'])}, {words.signed(row['ci_high'])}]"


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
