"""No-evidence detection: is there any evidence in the document?"""

from __future__ import annotations

from probative.report import parts, words
from probative.report.folder import RunFolder
from probative.report.plots import curves

ALPHAS = ("0.01", "0.03", "0.05", "0.1")
RATES = ("sensitivity", "specificity", "fpr", "precision", "npv", "f1", "mcc", "balanced_accuracy")
AREAS = ("auroc", "auprc", "auroc_within", "auprc_within", "auroc_raw")


def section(run: RunFolder) -> parts.Part:
    """Whether there is anything to find."""
    title, intro = "No-evidence detection", "Is there any evidence in this document for this criterion at all?"
    if run.value("auroc") is None:
        record = run.record("auroc")
        why = str(record["reason"]) if record else "there is no column prob; give one with --probs."
        return parts.section("detection", title, intro, parts.missing("Detection by probability", why), _confusion(run))
    return parts.section(
        "detection",
        title,
        f"{intro} The column `prior` is a gate that knows only how common each criterion is on TRAIN and never reads "
        "the text: what a gate must beat.",
        _areas(run),
        parts.figures(_roc(run), _precision_recall(run)),
        _budgets(run),
        _confusion(run),
    )


def _shown_stages(run: RunFolder) -> list[str]:
    prior = ["prior"] if run.record("auroc", stage="prior") else []
    return [*[stage for stage in run.stages if run.record("auroc", stage=stage)], *prior]


def _areas(run: RunFolder) -> parts.Part:
    stages = _shown_stages(run)
    rows = [
        [parts.metric(name), *(parts.measured(run.record(name, stage=stage)) for stage in stages)]
        for name in AREAS
        if run.record(name) is not None
    ]
    note = parts.basis(run.record("auroc"))
    return parts.table(
        "detection_stages", "Areas under the curves, with 95 % intervals", ["metric", *stages], rows, note
    )


def _roc(run: RunFolder) -> parts.Part | None:
    found = {stage: rows for stage in _shown_stages(run) if (rows := run.rows("roc", stage=stage))}
    if not found:
        return None
    area = words.number(run.value("auroc"))
    return parts.figure(
        curves.roc(found, run.rows("roc_band")),
        "ROC",
        f"True against false positive rate for {', '.join(found)}; the area under the final curve is {area}.",
        ["stage", "threshold", "fpr", "tpr"],
        [(stage, row["threshold"], row["fpr"], row["tpr"]) for stage, rows in found.items() for row in rows],
        f"Each threshold on the same data. The band resamples documents. {parts.basis(run.record('auroc'))}",
    )


def _precision_recall(run: RunFolder) -> parts.Part | None:
    found = {stage: rows for stage in _shown_stages(run) if (rows := run.rows("pr", stage=stage))}
    if not found:
        return None
    area = words.number(run.value("auprc"))
    return parts.figure(
        curves.precision_recall(found, run.value("positive_rate")),
        "Precision and recall",
        f"Precision against recall for {', '.join(found)}; the average precision of the final gate is {area}.",
        ["stage", "threshold", "recall", "precision"],
        [(stage, row["threshold"], row["recall"], row["precision"]) for stage, rows in found.items() for row in rows],
        f"A gate that knows nothing stays on the prevalence line. {parts.basis(run.record('auprc'))}",
    )


def _budgets(run: RunFolder) -> parts.Part:
    rows = []
    for alpha in ALPHAS:
        names = (f"tpr@fpr={alpha}", f"tpr_transfer@fpr={alpha}", f"fpr_transfer@fpr={alpha}")
        found = [run.record(names[0], stage="prior"), *map(run.record, names)]
        rows.append([f"FPR ≤ {alpha}", *map(parts.measured, found)])
    head = [
        "budget",
        parts.metric("tpr@fpr=0.05", "TPR of prior, same data"),
        parts.metric("tpr@fpr=0.05", "TPR, threshold on the same data"),
        parts.metric("tpr_transfer@fpr=0.05", "TPR, threshold from TUNE"),
        parts.metric("fpr_transfer@fpr=0.05", "FPR reached by it"),
    ]
    after = (
        "With 95 % intervals. Only the threshold from TUNE says what to expect on new documents; its FPR may miss the "
        f"budget. {parts.basis(run.record('tpr@fpr=0.05'))}"
    )
    return parts.table("detection_budgets", "True positive rate at a budget of false alarms", head, rows, after)


def _confusion(run: RunFolder) -> parts.Part | None:
    counts = {name: run.record(name) for name in ("tp", "fn", "fp", "tn")}
    if any(record is None for record in counts.values()):
        return parts.missing("The confusion table", "there is neither prob nor predicted.")
    said = {name: words.count(record["value"]) for name, record in counts.items() if record is not None}
    table = parts.table(
        "confusion",
        "Confusion at the operating threshold (the false alarm budget chosen on TUNE)",
        ["truth", "predicted: evidence", "predicted: none"],
        [["evidence", said["tp"], said["fn"]], ["no evidence", said["fp"], said["tn"]]],
    )
    rows = [
        [parts.metric(name), parts.measured(run.record(name)), parts.measured(run.record(f"{name}@p=0.5"))]
        for name in RATES
        if run.record(name) is not None
    ]
    note = parts.basis(run.record("sensitivity"))
    head = ["metric", "operating threshold", "p ≥ 0.5"]
    rates = parts.table("detection_rates", "Rates of that table, with 95 % intervals", head, rows, note)
    return {"kind": "pair", "parts": [table, rates]}
