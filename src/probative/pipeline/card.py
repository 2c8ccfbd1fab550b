"""The model card: what a model was made from, what it is for, and what is known of its quality."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probative import files
from probative.errors import DataError
from probative.pipeline.settings import PipelineSettings

MASTER = "metrics_master.json"
SHOWN = (
    ("ndcg@10", None), ("recall@10", None), ("auroc", None), ("auprc", None), ("brier", None), ("ece", None),
    ("sensitivity", None), ("specificity", None), ("screening_sensitivity", None), ("alert_precision", None),
    ("evidence_recall", "triage"), ("evidence_precision", "triage"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Figures of a run with these very settings, or the reason why there are none."""

    rows: tuple[str, ...]
    sentence: str


def settings_hash(config: Mapping[str, Any]) -> str:
    """The hash of the part of a run's configuration that decides the model."""
    kept = {name: value for name, value in config.items() if name in PipelineSettings.model_fields}
    return files.sha256_json(PipelineSettings.model_validate(kept).model_dump(mode="json"))


NOT_EVALUATED = Evidence(rows=(), sentence="Not evaluated: no run was named with --evidence.")


def evidence_of(run: Path | None, settings: PipelineSettings, fingerprint: str) -> Evidence:
    """The figures of a run, where its settings are those of a model of this corpus."""
    if run is None:
        return NOT_EVALUATED
    try:
        manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
        text = (run / MASTER).read_bytes()
        theirs, corpus, sealed = settings_hash(manifest["config"]), manifest["corpus"], manifest["files"][MASTER]
        records = json.loads(text)["metrics"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{run}: is not a finished run ({error}). Name the folder that `probative run` made."
        ) from error
    if sealed != files.sha256_bytes(text):
        raise DataError(f"{run / MASTER}: has changed since the run. `probative verify {run}` says what else has.")
    if theirs != settings_hash(settings.model_dump(mode="json")):
        return Evidence(rows=(), sentence=f"Not evaluated: {run.name} was made with other settings than this model.")
    same = corpus["fingerprint"] == fingerprint
    whose = "the same corpus" if same else f"another corpus ({corpus['name']}, {corpus['n_documents']} documents)"
    rows = tuple(row for name, mode in SHOWN if (row := _row(records, name, mode)))
    return Evidence(rows=rows, sentence=f"Evaluated on {whose}, by {_way(manifest)}, with these settings.")


def _way(manifest: Mapping[str, Any]) -> str:
    n_folds = len(manifest["folds"])
    return f"cross-validation over {n_folds} folds" if n_folds > 1 else "one split"


def _row(records: Sequence[Mapping[str, Any]], name: str, mode: str | None) -> str:
    """The pooled record of a metric, over its default population where there are several."""
    wanted = (name, "pooled", mode, "all", "final")
    found = [r for r in records if _head(r) == wanted and r["value"] is not None]
    if not found:
        return ""
    r = max(found, key=lambda record: bool(record.get("default")))
    low, high = r.get("ci_low"), r.get("ci_high")
    interval = f"{low:.3f} to {high:.3f}" if low is not None and high is not None else "–"
    label = f"{name} ({mode})" if mode else name
    return f"| {label} | {r['value']:.3f} | {interval} | {r['n']} | {r['population']} |"


def _head(record: Mapping[str, Any]) -> tuple[Any, ...]:
    plain = {"mode": None, "criteria": "all", "stage": "final"}
    return record["id"], record["scope"], *(record.get(name, value) for name, value in plain.items())


def write(facts: Mapping[str, Any], triage_words: Sequence[str], evidence: Evidence) -> str:
    """The card as Markdown; `triage_words` say what the two thresholds reached on TUNE."""
    corpus, tune, decider = facts["corpus"], facts["tune"], facts["decider"]
    triage, operating = decider["triage"], decider["operating"]
    guarantee = triage.get("guarantee")
    lines = [
        "# Model card",
        "",
        *(["> **Synthetic.** This model was fitted on generated text. It shows how the software works; it knows "
           "nothing about real documents.", ""] if corpus["synthetic"] else []),
        "## What it does",
        "",
        "For every document and criterion it gives a probability that the document holds evidence, a state (NEG: skip, "
        "UNCERTAIN: look with care, POS: alert) and the sentences to read first.",
        "",
        "## Made from",
        "",
        f"Corpus {corpus['name']} {corpus['version']} (licence: {corpus['licence'] or 'not stated'}; source: "
        f"{corpus['source'] or 'not stated'}): {corpus['n_documents']} documents, {corpus['n_queries']} queries, "
        f"{corpus['n_positive']} with evidence. Fingerprint `{corpus['fingerprint']}`.",
        *([f"Criteria left out of training: {', '.join(corpus['exclude_from_training'])}."]
          if corpus["exclude_from_training"] else []),
        "",
        "## Thresholds",
        "",
        f"Chosen on {tune['n_queries']} queries of {tune['n_documents']} documents that did not train the models that "
        "scored them. "
        f"Operating threshold {_number(operating['value'])} (false-positive budget {operating['fpr_budget']:g}); "
        f"NEG below {_number(triage['tau_neg'])}, POS from {_number(triage['tau_pos'])}, by {triage['method']}.",
        "",
        *(f"- {sentence}" for sentence in triage_words if not guarantee or sentence != guarantee["reason"]),
        "",
        f"**Guarantee:** {guarantee['reason'] if guarantee else 'none was asked for; the thresholds are estimates.'}",
        "",
        "## How good it is",
        "",
        evidence.sentence,
        "",
    ]  # fmt: skip
    if evidence.rows:
        lines += ["| metric | value | 95 % interval | n | population |", "|---|---|---|---|---|", *evidence.rows, ""]
    lines += [
        "## Intended use and limits",
        "",
        "A help for people who read: it orders and marks, a person decides. NEG queries can hold evidence. "
        "Figures and guarantees hold for documents like those above; `probative screen` warns when new ones differ. "
        "It is no medical device and gives no legal advice.",
        "",
        f"Settings hash `{facts['settings_hash']}`. Nothing in this folder is executed or unpickled when it is loaded.",
        "",
    ]
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"
