"""Stages: what each adds, and where gold is lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from probative.report import parts, words
from probative.report.folder import RunFolder
from probative.report.plots import bars

STEPS = {
    "annotated": "annotated",
    "ranked": "retrieved: ranked",
    "in_pool": "retrieved: in the pool",
    "top_20": "reranked: first 20",
    "top_10": "reranked: first 10",
    "top_5": "reranked: first 5",
    "top_1": "reranked: first",
    "selected_raw": "selected: K policy",
    "selected_gate": "shown: gate",
    "selected_triage": "shown: triage",
}
METRICS = ("ndcg@10", "recall@10", "auroc", "evidence_recall", "k_mean", "alert_precision")


def section(run: RunFolder) -> parts.Part:
    """What each part of the pipeline is worth."""
    return parts.section(
        "stages",
        "Stages",
        "What each stage adds, and where gold sentences are lost on the way to the reader.",
        parts.figures(_flow(run), _drawn(run), _gains(run)),
        _ablation(run),
        _comparisons(run),
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
        "Gold sentences of all queries with evidence, on their way to the reader. Gate and triage are two ways to "
        "decide what is shown; an UNCERTAIN query shows more than the K policy alone would.",
    )


def _rows(run: RunFolder) -> list[Mapping[str, Any]]:
    return list((run.ablation or {}).get("rows") or ())


def _record(row: Mapping[str, Any], name: str, scope: str = "pooled") -> Mapping[str, Any] | None:
    return next((record for record in row["metrics"] if record["id"] == name and record["scope"] == scope), None)


def _ablation(run: RunFolder) -> parts.Part:
    found = _rows(run)
    if not found:
        return parts.missing("The ablation", run.why_no_ablation)
    rows = []
    for row in found:
        seconds = row.get("seconds")
        cost = parts.cell(words.NONE if seconds is None else f"{seconds:.1f}", sort=seconds)
        rows.append([str(row["label"]), *(parts.measured(_record(row, name)) for name in METRICS), cost])
    table = parts.table(
        "ablation_stages",
        "Ablation on the same folds and candidates, with 95 % intervals",
        ["configuration", *map(parts.metric, METRICS), "seconds"],
        rows,
        f"{_populations(found)} Before the gate exists, the probability is the best candidate's score calibrated on "
        "TUNE.",
    )
    said = (run.ablation or {}).get("words") or ()
    words_of_it = parts.folded("In words", _in_words(said)) if said else None
    return {"kind": "group", "parts": [part for part in (table, _spread(found), words_of_it) if part is not None]}


def _populations(rows: list[Mapping[str, Any]]) -> str:
    """Every population of the table, with the metrics that are about it."""
    named: dict[str, list[str]] = {}
    for name in METRICS:
        record = next((r for row in rows if (r := _record(row, name)) and not r.get("reason")), None)
        if record is not None:
            named.setdefault(parts.basis({**record, "mode": None}), []).append(f"`{name}`")
    return " ".join(f"{', '.join(names)}: {about}" for about, names in named.items())


def _spread(found: list[Mapping[str, Any]]) -> parts.Part | None:
    rows = [[str(row["label"]), *(_over_folds(_record(row, name, "fold_mean")) for name in METRICS)] for row in found]
    if all(cell == words.NONE for row in rows for cell in row[1:]):
        return None
    title = "Mean and standard deviation over folds"
    head = ["configuration", *map(parts.metric, METRICS)]
    return parts.folded(title, parts.table("ablation_folds", title, head, rows))


def _over_folds(record: Mapping[str, Any] | None) -> parts.Cell:
    if record is None or record.get("std_sample") is None:
        return words.NONE
    said = f"{words.value(record, record['value'])} ± {words.value(record, record['std_sample'])}"
    return parts.cell(said, sort=record["value"])


def _in_words(said: Any) -> parts.Part:
    """Each sentence as a row, beside the metric that it is about."""
    rows = [[str(line)] for line in said]
    return parts.table("ablation_words", "What each row adds", ["finding"], rows, keep=False, sort=False)


def _drawn(run: RunFolder) -> parts.Part | None:
    rows = []
    for row in _rows(run):
        record = _record(row, "ndcg@10")
        if record is not None and record["value"] is not None:
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
        "`ndcg@10` with 95 % intervals. They overlap even where the paired difference is clear. "
        + parts.basis(_record(_rows(run)[0], "ndcg@10")),
    )


def _compared(run: RunFolder) -> list[Mapping[str, Any]]:
    found = (run.ablation or {}).get("comparisons") or ()
    labels = {str(row.get("name")): str(row["label"]) for row in _rows(run)}
    return [
        {**row, **{side: labels.get(str(row[side]), str(row[side])) for side in ("base", "other")}}
        for row in found
        if row.get("difference") is not None
    ]


def _gains(run: RunFolder) -> parts.Part | None:
    keys = ("other", "base", "difference", "ci_low", "ci_high", "p_holm")
    rows = [{key: row.get(key) for key in keys} for row in _compared(run) if row["id"] == "ndcg@10"]
    if not rows:
        return None
    return parts.figure(
        bars.gains(rows, "difference in ndcg@10"),
        "What each row adds to ndcg@10",
        "Paired differences with 95 % intervals: "
        + "; ".join(f"{row['other']} against {row['base']} {words.signed(row['difference'], 3)}" for row in rows)
        + ".",
        keys,
        [tuple(row.values()) for row in rows],
        "`ndcg@10` of each row less that of the row it builds on, on the same resamples of documents; the table of "
        "paired comparisons names both. An interval across the line may be chance.",
    )


def _comparisons(run: RunFolder) -> parts.Part | None:
    rows = [
        [
            f"{row['other']} against {row['base']}",
            parts.metric(str(row["id"])),
            *parts.difference(row),
            parts.cell(words.p_value(row.get("p")), sort=row.get("p")),
            parts.cell(words.p_value(row.get("p_holm")), sort=row.get("p_holm")),
        ]
        for row in _compared(run)
    ]
    if not rows:
        return None
    title = "Paired comparisons of the rows"
    head = ["rows", "metric", "difference", "95 % interval", "p", "p after Holm"]
    after = "Both rows on the same resamples of documents; p by swapping documents between them."
    return parts.folded(title, parts.table("ablation_comparisons", title, head, rows, after))
