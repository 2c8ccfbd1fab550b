"""The head: what was run, the headline metrics against their targets, and one sentence in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from probative.metrics import Entry, lookup
from probative.report import parts, words
from probative.report.folder import Record, RunFolder

HEADLINE = (
    *("ndcg@10", "recall@10", "mrr", "auroc", "auprc", "tpr@fpr=0.05", "brier", "ece", "evidence_recall"),
    *("evidence_precision", "screening_sensitivity", "screening_fn_per_1000", "alert_precision"),
)

TARGET = "target or range"


def section(run: RunFolder) -> parts.Part:
    """What a reader needs before anything else."""
    return parts.section(
        "head",
        "At a glance",
        sentence(run),
        *_banners(run),
        _run(run),
        _flags(run),
        _headline(run),
        _trained(run),
        _intervals(run),
        _not_computed(run),
    )


def sentence(run: RunFolder) -> str:
    """The result in plain words."""
    counted = run.meta.get("counts") or {}
    asked = (
        f"{words.count(counted.get('n_queries'))} questions put to {words.count(counted.get('n_documents'))} documents"
    )
    said = [f"Of {asked}, {words.percent(run.value('positive_rate'))} have evidence."]
    first, ten = run.value("hit@1", population="positives_only"), run.value("hit@10", population="positives_only")
    if first is not None and ten is not None:
        said.append(
            f"Where there is evidence, the first sentence of the ranking is evidence in {words.percent(first)} of the "
            f"questions, and one of the first ten is in {words.percent(ten)}."
        )
    skipped, kept = run.value("neg_rate"), run.value("screening_sensitivity")
    if skipped is not None and kept is not None:
        said.append(
            f"The system sets {words.percent(skipped)} of the questions aside as NEG and keeps {words.percent(kept)} "
            "of those that have evidence."
        )
    alerts, right = run.record("pos_rate"), run.value("alert_precision")
    if alerts is not None and alerts["value"] and right is not None:
        said.append(f"It alerts on {words.percent(alerts['value'])}; {words.percent(right)} of the alerts are right.")
    return " ".join(said)


def _banners(run: RunFolder) -> Iterator[parts.Part]:
    if run.corpus.get("synthetic"):
        yield parts.note(
            "Synthetic corpus: a program wrote these documents. The numbers show that the software works, not how good "
            "it is on real text.",
            "warn",
        )
    if not run.manifest:
        yield parts.note(
            "These are scores from another system: there is no run folder, so sections about splits, settings and "
            "single queries say what they lack."
        )
    yield _audit(run)


def _run(run: RunFolder) -> parts.Part | None:
    """What was run on what, in a line."""
    config, corpus = run.manifest.get("config") or {}, run.corpus
    if not config:
        return None
    retrieve, rerank, graph = (config.get(room) or {} for room in ("retrieve", "rerank", "graph"))
    decide = config.get("decide") or {}
    said = {
        "corpus": f"{corpus.get('name')} {corpus.get('version') or ''}".strip(),
        "preset": config.get("preset"),
        "folds": len(run.manifest.get("folds") or ()) or None,
        "roles": (config.get("folds") or {}).get("scheme"),
        "retriever": retrieve.get("method"),
        "reranker": rerank.get("kind"),
        "graph network": "on" if graph.get("on") else "off",
        "triage": (decide.get("triage") or {}).get("method"),
        "seed": run.manifest.get("seed"),
    }
    listed = ", ".join(f"{name} {value}" for name, value in said.items() if value is not None)
    return parts.text(f"What was run: {listed}. Reproduce names every setting.")


def _audit(run: RunFolder) -> parts.Part:
    if run.audit is None:
        return parts.note("Audit: not run on this folder yet. `probative verify RUN` recomputes every number.")
    failed = run.audit.get("failed") or []
    if run.audit.get("status") == "passed":
        return parts.note(f"Audit passed: {run.audit.get('summary', '')}", "good")
    return parts.note(f"Audit failed: {', '.join(map(str, failed))}. {run.audit.get('summary', '')}", "warn")


def _flags(run: RunFolder) -> parts.Part | None:
    said = [f"An invariant does not hold: {broken}" for broken in run.meta.get("invariants") or ()]
    said += run.meta.get("flags") or ()
    rows = [[flag] for flag in said]
    return parts.table("flags", "Look twice", ["what was noticed"], rows, keep=False, sort=False) if rows else None


def headline(run: RunFolder, id: str, criteria: str = "all") -> Record | None:  # noqa: A002
    """The record of a metric that headlines use."""
    entry = lookup(id)
    return run.record(id, population=entry.population, mode=run.mode if entry.by_mode else None, criteria=criteria)


def _headline(run: RunFolder) -> parts.Part:
    rows = []
    for name in HEADLINE:
        record = headline(run, name)
        if record is None or record["value"] is None:
            continue
        folds = run.record(name, "fold_mean", population=record["population"], mode=record.get("mode"))
        spread = None if folds is None else folds.get("std_sample")
        rows.append(
            [
                parts.metric(name),
                parts.cell(words.measured(record), sort=record["value"]),
                _verdict(name, record),
                words.NONE if folds is None or spread is None
                else f"{words.value(folds, folds['value'])} ± {words.value(folds, spread)}",
                parts.cell(f"{words.count(record['n'])} / {words.count(record['n_docs'])}", sort=record["n"]),
                _population(record),
            ]
        )  # fmt: skip
    if not rows:
        return parts.missing("Headline metrics", "metrics_master.json holds none of them.")
    head = ["metric", "value, 95 % interval", TARGET, "mean ± std over folds", "n / documents", "population"]
    return parts.table("headline", "Headline metrics", head, rows)


def _population(record: Record) -> str:
    return f"{record['population']}, {record['mode']}" if record.get("mode") else str(record["population"])


def _verdict(name: str, record: Record) -> Any:
    entry = lookup(name)
    target = entry.target
    if target is None:
        return _ranges(entry, record["value"])
    if record.get("reason"):
        return f"{target}: {record['reason']}"
    met = target.met(record["value"])
    ends = [target.met(record[end]) for end in ("ci_low", "ci_high") if record.get(end) is not None]
    unsure = ", but the interval spans it" if len(set(ends)) == 2 else ""
    return parts.cell(f"{target}: {'✓ met' if met else '✗ not met'}{unsure}", tone="good" if met else "bad")


def _ranges(entry: Entry, value: float) -> str:
    """Where a value lies beside what a baseline and a good system reach."""
    if entry.baseline is None or entry.good is None:
        return words.NONE
    place = "good" if value >= entry.good[0] else "baseline" if value >= entry.baseline[0] else "below baseline"
    both = {"baseline": entry.baseline, "good": entry.good}
    return f"{', '.join(f'{name} {low:.2f} to {high:.2f}' for name, (low, high) in both.items())}: {place}"


def _trained(run: RunFolder) -> parts.Part | None:
    excluded = [row["criterion_id"] for row in run.criteria if row.get("excluded")]
    if not excluded:
        return None
    rows = []
    for name in HEADLINE:
        both = [headline(run, name), headline(run, name, "trained")]
        if all(record is not None and record["value"] is not None for record in both):
            rows.append([parts.metric(name), *(parts.measured(record) for record in both)])
    head = ["metric", "all criteria", "trained criteria"]
    title = f"With and without the criteria excluded from training ({', '.join(excluded)})"
    return parts.folded(title, parts.table("headline_trained", title, head, rows)) if rows else None


def _intervals(run: RunFolder) -> parts.Part | None:
    drawn = run.meta.get("bootstrap")
    if not drawn:
        return parts.text("No intervals were asked for.")
    within = " within folds" if drawn.get("within_folds") else ""
    return parts.text(
        f"Intervals: 95 %, {words.count(drawn['resamples'])} resamples of {drawn['unit']}{within}, seed "
        f"{drawn['seed']}. {drawn.get('note', '')} Intervals of `ece` and `mce` are biased upward. Where an "
        "interval spans a target, other documents could have given the other answer."
    )


def _not_computed(run: RunFolder) -> parts.Part | None:
    found = [f"{', '.join(item['ids'])}: needs {item['missing']}" for item in run.meta.get("not_computed") or ()]
    return parts.folded(f"Not computed, and what is missing ({len(found)})", parts.items(found)) if found else None
