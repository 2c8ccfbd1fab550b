"""The data: from documents to queries, criteria, lengths and splits."""

from __future__ import annotations

from probative.report import parts, words
from probative.report.folder import RunFolder
from probative.report.plots import bars

MOST = 60
ROLES = ("train", "stop", "tune", "eval")


def section(run: RunFolder) -> parts.Part:
    """What the numbers stand on."""
    return parts.section(
        "data",
        "Data",
        "What was asked of what, how often there is evidence, and which documents did which job.",
        _flow(run),
        parts.figures(_prevalence(run), _lengths(run), _splits(run)),
        None if run.folds is not None else parts.missing("Splits", "there is no folds.parquet in this folder."),
        _criteria(run),
    )


def _flow(run: RunFolder) -> parts.Part:
    counts, corpus = run.meta.get("counts") or {}, run.corpus
    excluded = corpus.get("exclude_from_training") or [r["criterion_id"] for r in run.criteria if r.get("excluded")]
    trained = run.value("n_queries", criteria="trained")
    steps = [
        ("documents", counts.get("n_documents"), "each on one side of every split"),
        ("sentences", corpus.get("n_sentences"), "the candidates of their own document"),
        ("criteria", counts.get("n_criteria"), f"excluded from training: {', '.join(excluded) or 'none'}"),
        ("queries", counts.get("n_queries"), "one document, one criterion"),
        ("… of criteria trained on", trained if excluded else None, "the others are predicted and reported as well"),
        ("unlabelled", corpus.get("n_unlabelled", run.meta.get("n_unlabelled")), "nobody has judged them: not scored"),
        ("with evidence", counts.get("n_positive"), "positives in detection, calibration and triage"),
        ("unlocated", counts.get("n_unlocated"), "evidence without a marked sentence: in detection, not in ranking"),
        ("located", counts.get("n_located"), "the positives_only population of ranking and extraction"),
        ("gold sentences", counts.get("n_gold"), "marked as evidence"),
        ("gold not ranked", counts.get("n_gold_unranked"), "in no ranking, and still in every denominator"),
    ]
    rows = [[name, words.count(value), why] for name, value, why in steps if value is not None]
    return parts.table("flow", "From documents to queries", ["what", "how many", "meaning"], rows, sort=False)


def _prevalence(run: RunFolder) -> parts.Part | None:
    if not run.criteria or not any(scope.startswith("criterion:") for scope in run.scopes):
        return None
    chosen = sorted(run.criteria, key=lambda row: -row["n_positive"])[:MOST]
    rates = [run.value("positive_rate", f"criterion:{row['criterion_id']}") for row in chosen]
    cut = f" The {MOST} criteria with the most are drawn; the table has all." if len(run.criteria) > MOST else ""
    rows = [(r["criterion_id"], r["n_queries"], r["n_positive"], rate) for r, rate in zip(chosen, rates, strict=True)]
    return parts.figure(
        bars.prevalence(chosen, rates),
        "How often each criterion has evidence",
        f"Bars by criterion, most frequent first: {chosen[0]['criterion_id']} has the most.",
        ["criterion_id", "n_queries", "n_positive", "positive_rate"],
        rows,
        f"all_queries. Beside each bar the number of positives; hatched: fewer than 20.{cut}",
    )


def _lengths(run: RunFolder) -> parts.Part | None:
    rows = run.rows("document_length")
    if not rows:
        return None
    most = max(row["n_sentences"] for row in rows)
    return parts.figure(
        bars.lengths(rows),
        "How long documents are",
        f"Histogram of sentences in a document, from {min(r['n_sentences'] for r in rows)} to {words.count(most)}.",
        ["n_sentences", "n_documents"],
        [(row["n_sentences"], row["n_documents"]) for row in rows],
        f"n = {words.count((run.meta.get('counts') or {}).get('n_documents'))} documents.",
    )


def _splits(run: RunFolder) -> parts.Part | None:
    if run.folds is None:
        return None
    counted = {(fold, role): n for fold, role, n in run.folds.group_by("fold", "role").len().rows()}
    folds = sorted({fold for fold, _ in counted})
    roles = {role: [counted.get((f, role), 0) for f in folds] for role in ROLES if any(r == role for _, r in counted)}
    rows = [(fold, *(counts[place] for counts in roles.values())) for place, fold in enumerate(folds)]
    return parts.figure(
        bars.splits(folds, roles),
        "Which documents do which job",
        f"Stacked bars for {len(folds)} folds: documents in {', '.join(role.upper() for role in roles)}.",
        ["fold", *roles],
        rows,
        "TRAIN fits, STOP picks epochs, TUNE chooses thresholds, EVAL is only predicted. No document has two roles in "
        "one fold.",
    )


def _criteria(run: RunFolder) -> parts.Part | None:
    if not run.criteria:
        return None
    rows = []
    for row in run.criteria:
        rate = run.value("positive_rate", f"criterion:{row['criterion_id']}")
        marks = ["fewer than 20 positives"] * bool(row["small"]) + ["not trained on"] * bool(row.get("excluded"))
        rows.append(
            [
                row["criterion_id"],
                parts.cell(words.count(row["n_queries"]), sort=row["n_queries"]),
                parts.cell(words.count(row["n_positive"]), sort=row["n_positive"]),
                parts.cell(words.number(rate), sort=rate),
                ", ".join(marks) or words.NONE,
            ]
        )
    head = ["criterion", parts.metric("n_queries"), parts.metric("n_positive"), parts.metric("positive_rate"), "remark"]
    title = "Queries and positives by criterion"
    return parts.folded(title, parts.table("prevalence", title, head, rows))
