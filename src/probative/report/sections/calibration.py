"""Calibration: does a probability mean what it says?"""

from __future__ import annotations

from probative.report import parts, words
from probative.report.folder import RunFolder
from probative.report.plots import bars

PANELS = 12
METRICS = (
    *("brier", "brier_skill", "ece", "ece_equalmass", "ece_dropone", "mce", "calibration_slope"),
    "calibration_intercept",
)


def section(run: RunFolder) -> parts.Part:
    """Whether one can rely on the numbers beside the answers."""
    title, intro = "Calibration", "Of the queries given a probability of 30 %, do 30 % have evidence?"
    if run.record("brier") is None:
        why = "there is no column prob; give one with --probs."
        return parts.section("calibration", title, intro, parts.missing("Calibration", why))
    return parts.section(
        "calibration",
        title,
        intro,
        parts.figures(_overall(run), _by_criterion(run)),
        _table(run),
        _chosen(run),
    )


def _overall(run: RunFolder) -> parts.Part | None:
    rows = run.rows("reliability")
    if not rows:
        return None
    return parts.figure(
        bars.reliability(rows),
        "Reliability",
        f"Frequency of evidence against probability in ten bins; ECE {words.number(run.value('ece'))}. Below it the "
        "number of queries in each bin, on a logarithmic scale.",
        list(rows[0]),
        [tuple(row.values()) for row in rows],
        f"On the diagonal a probability means what it says; bars are 95 % intervals. {parts.basis(run.record('ece'))}",
    )


def _by_criterion(run: RunFolder) -> parts.Part | None:
    ordered = sorted(run.criteria, key=lambda row: -row["n_positive"])
    series = {row["criterion_id"]: run.rows("reliability", f"criterion:{row['criterion_id']}") for row in ordered}
    series = {name: rows for name, rows in series.items() if rows}
    if len(series) < 2:
        return None
    drawn = dict(list(series.items())[:PANELS])
    cut = (
        f" The {PANELS} criteria with the most positives are drawn; the data hold all." if len(series) > PANELS else ""
    )
    first = next(iter(series.values()))[0]
    return parts.figure(
        bars.reliabilities(drawn, {row["criterion_id"]: row["n_positive"] for row in ordered}),
        "Reliability by criterion",
        f"Small panels, one a criterion: {', '.join(drawn)}.",
        ["criterion_id", *first],
        [(name, *row.values()) for name, rows in series.items() for row in rows],
        f"In brackets the number of positives; few make wide bars.{cut}",
    )


def _table(run: RunFolder) -> parts.Part:
    stages = [s for s in [*run.stages, "prior"] if run.record("brier", stage=s)]
    rows = [
        [parts.metric(name), *(parts.measured(run.record(name, stage=stage)) for stage in stages)]
        for name in METRICS
        if run.record(name) is not None
    ]
    note = (
        f"{parts.basis(run.record('brier'))} Intervals of ECE and MCE are biased upward: resampling adds noise to "
        "every bin."
    )
    return parts.table("calibration_stages", "Calibration, with 95 % intervals", ["metric", *stages], rows, note)


def _chosen(run: RunFolder) -> parts.Part | None:
    folds = [fold for fold in run.manifest.get("folds") or () if fold.get("calibrator")]
    if not folds:
        return None
    kinds = list(dict.fromkeys(kind for fold in folds for kind in fold["calibrator"].get("cv_log_loss") or {}))
    rows = [
        [f"fold {fold['fold']}", fold["calibrator"]["kind"], fold["calibrator"].get("reason") or words.NONE]
        for fold in folds
    ]
    title = "Which calibrator each fold chose on TUNE"
    said = f"Offered: {', '.join(kinds)}; the lowest log loss over document-grouped parts of TUNE wins."
    return parts.folded(title, parts.table("calibrators", title, ["fold", "calibrator", "remark"], rows, said))
