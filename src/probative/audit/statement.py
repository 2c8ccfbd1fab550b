"""Papers that go with a publication, pre-filled from the run: a checklist after TRIPOD+AI, and a data statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from probative.audit.check import Check

ASK = "**to be written by the authors**"


def _fold_words(manifest: Mapping[str, Any]) -> str:
    folds = manifest.get("folds") or []
    schemes = sorted({str(fold.get("scheme")) for fold in folds})
    return f"{len(folds)} document-disjoint folds, scheme {', '.join(schemes) or 'unknown'}"


def _headline(master: Mapping[str, Any]) -> str:
    wanted = {"ndcg@10": "positives_only", "recall@10": "positives_only", "auroc": "all_queries", "ece": "all_queries"}
    parts = []
    for record in master.get("metrics", []):
        plain = record.get("scope") == "pooled" and (record.get("criteria") or "all") == "all"
        if plain and (record.get("stage") or "final") == "final" and wanted.get(record["id"]) == record["population"]:
            value = f"{record['id']} {record['value']:.3f}"
            if record.get("ci_low") is not None:
                value += f" (95 % interval {record['ci_low']:.3f} to {record['ci_high']:.3f})"
            parts.append(f"{value}, n = {record['n']:,} queries of {record['n_docs']:,} documents")
    return "; ".join(parts) or ASK


def _items(manifest: Mapping[str, Any], master: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(section, what readers need to know, what the run knows)."""
    corpus = manifest.get("corpus") or {}
    environment = manifest.get("environment") or {}
    config = manifest.get("config") or {}
    evaluate = config.get("evaluate") or {}
    kept_out = ", ".join(corpus.get("exclude_from_training") or ()) or "none"
    counts = (
        f"{corpus.get('n_documents', 0):,} documents, {corpus.get('n_queries', 0):,} queries, "
        f"{corpus.get('n_positive', 0):,} with evidence, {corpus.get('n_unlocated', 0):,} unlocated, "
        f"{corpus.get('n_unlabelled', 0):,} unlabelled"
    )
    return [
        ("Title", "That a prediction model is developed or evaluated, the population and the outcome", ASK),
        ("Abstract", "A structured summary", ASK),
        ("Background", "Context, rationale, intended use and users, known inequalities between groups", ASK),
        ("Objectives", "Development, evaluation or both", "development and internal evaluation by nested splits"),
        (
            "Data",
            "Source, dates, licence",
            f"{corpus.get('name')}, {corpus.get('source')}, licence {corpus.get('licence')}",
        ),
        ("Participants", "Setting, eligibility, treatments", ASK),
        (
            "Data preparation",
            "Cleaning and checks, the same for all groups",
            "corpus checked by `probative data validate`",
        ),
        ("Outcome", "What counts as evidence, who assessed it, blinded to what", ASK),
        ("Predictors", "What the model sees", "the sentences of the document and the text of the criterion"),
        ("Sample size", "How it was arrived at", counts),
        (
            "Missing data",
            "How it was handled",
            "unlabelled pairs are not scored; unlocated ones count in detection alone",
        ),
        ("Analysis: splits", "How data were divided", _fold_words(manifest)),
        (
            "Analysis: model",
            "Type, building steps, tuning",
            f"configuration {str(manifest.get('config_hash'))[:12]}, in config.yaml",
        ),
        ("Analysis: exclusions", "What training left out", f"criteria kept out of training: {kept_out}"),
        ("Analysis: thresholds", "How they were chosen", "on TUNE alone, worked out again by `probative verify`"),
        (
            "Analysis: performance",
            "Measures with their definitions",
            "metrics_master.json; `probative metrics explain ID`",
        ),
        (
            "Analysis: uncertainty",
            "Intervals",
            f"documents resampled within folds, {evaluate.get('bootstrap', 10_000):,} times",
        ),
        ("Class imbalance", "Methods used and recalibration", "calibrated on TUNE; prevalence in the data table"),
        ("Fairness", "Approaches and results", ASK),
        ("Output", "What the model gives", "a probability, one of three states, and evidence sentences"),
        ("Ethics", "Approval and consent", ASK),
        ("Open science: funding, conflicts, protocol, registration", "Where they can be read", ASK),
        ("Open science: data", "Where the data are", ASK),
        (
            "Open science: code",
            "Where the code is",
            f"probative {manifest.get('probative')}, seed {manifest.get('seed')}",
        ),
        ("Environment", "What it ran on", f"Python {environment.get('python')}, {environment.get('platform')}"),
        ("Patient and public involvement", "Or that there was none", ASK),
        ("Results: participants", "Flow and characteristics", counts),
        ("Results: performance", "With intervals, and by group", _headline(master)),
        ("Results: updating", "If the model was updated", "not applicable" if manifest.get("kind") == "run" else ASK),
        ("Discussion", "Interpretation, limitations, use in practice, next steps", ASK),
    ]


def checklist(manifest: Mapping[str, Any], master: Mapping[str, Any], gate: Sequence[Check] = ()) -> str:
    """A reporting checklist in Markdown, filled in as far as the run knows the answers."""
    lines = ["# Reporting checklist", ""]
    lines += ["After the items of TRIPOD+AI, in short; the statement itself has the full wording.", ""]
    if (manifest.get("corpus") or {}).get("synthetic"):
        lines += ["> **The corpus is synthetic.** Nothing here says how the system does on real documents.", ""]
    lines += ["| section | to be reported | from this run |", "|---|---|---|"]
    lines += [f"| {a} | {b} | {_cell(c)} |" for a, b, c in _items(manifest, master)]
    if gate:
        lines += ["", "## The publication gate", "", "| check | result | |", "|---|---|---|"]
        lines += [f"| {c.code} {c.title} | {c.status} | {_cell(c.why)} |" for c in gate]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def facts(corpus: Mapping[str, Any]) -> list[str]:
    """What the run knows of its corpus, as rows of a Markdown table."""
    total = corpus.get("n_queries") or 0
    share = f" ({100 * corpus.get('n_positive', 0) / total:.1f} %)" if total else ""
    known = [
        ("name and version", f"{corpus.get('name')} {corpus.get('version') or ''}".strip()),
        ("source", corpus.get("source") or ASK),
        ("licence", corpus.get("licence") or ASK),
        ("language", corpus.get("language") or ASK),
        ("synthetic", "yes: generated text, no real person or document" if corpus.get("synthetic") else "no"),
        ("documents", f"{corpus.get('n_documents', 0):,}"),
        ("sentences", f"{corpus.get('n_sentences', 0):,}"),
        ("queries", f"{total:,}"),
        ("with evidence", f"{corpus.get('n_positive', 0):,}{share}"),
        ("evidence without a named sentence", f"{corpus.get('n_unlocated', 0):,}"),
        ("pairs without a label", f"{corpus.get('n_unlabelled', 0):,}"),
        ("criteria kept out of training", ", ".join(corpus.get("exclude_from_training") or ()) or "none"),
        ("fingerprint", str(corpus.get("fingerprint"))),
    ]
    return [f"| {name} | {_cell(str(value))} |" for name, value in known]


def data_statement(manifest: Mapping[str, Any]) -> str:
    """What a reader should know of the data, in Markdown; what only people know is left to them, marked."""
    lines = ["# Data statement", "", "| | |", "|---|---|", *facts(manifest.get("corpus") or {})]
    lines += ["", "## To be written by the people who know the data", ""]
    lines += [f"- {question}" for question in QUESTIONS]
    return "\n".join(lines) + "\n"


QUESTIONS = (
    "Why were these documents collected, by whom, and under which consent or legal basis?",
    "Who wrote the documents: which people, places and times do they stand for, and which do they not?",
    "Who annotated them, with which training and guideline, and how well did annotators agree?",
    "What was left out before annotation, and could that change a result?",
    "What harm could come to the people in the documents, and what was done against it?",
)
