"""Triage: skip, look with care, alert; the work it leaves and what it promises."""

from __future__ import annotations

from typing import Any

from probative.report import parts, words
from probative.report.folder import RunFolder
from probative.report.plots import bars, curves

STATES = ("NEG", "UNCERTAIN", "POS")
RATES = (
    *("screening_sensitivity", "screening_fn_per_1000", "screening_fn_per_1000_positives", "alert_precision"),
    *("alert_recall", "alerts_per_1000", "neg_rate", "uncertain_rate", "pos_rate", "aurc"),
)


def section(run: RunFolder) -> parts.Part:
    """What people will have to do, and what is lost."""
    title, intro = "Triage", "NEG is set aside, UNCERTAIN is for a person to look at, POS is an alert."
    states = run.rows("state_by_evidence")
    if not states:
        why = "there is no column state, nor tau_neg and tau_pos."
        return parts.section("triage", title, intro, parts.missing("Triage", why))
    return parts.section(
        "triage",
        title,
        intro,
        {"kind": "pair", "parts": [_states(states), _rates(run)]},
        parts.figures(_work(run, states), _risk(run), _grid(run)),
        None if run.ablation else parts.missing("The (τ_neg, τ_pos) grid", run.why_no_ablation),
        _pairs(run),
        parts.heading("What is guaranteed"),
        _guarantee(run),
        _thresholds(run),
    )


def _states(rows: list[dict[str, Any]]) -> parts.Part:
    said = {(row["state"], row["evidence"]): words.count(row["n"]) for row in rows}
    work = {(row["state"], row["evidence"]): words.number(float(row["per_1000"]), 1) for row in rows}
    both = ("evidence", "no_evidence")
    table = [[state, *(f"{said[state, e]} ({work[state, e]})" for e in both)] for state in STATES]
    head = ["state", "evidence (per 1,000)", "no evidence (per 1,000)"]
    return parts.table("states", "State by truth", head, table, "In brackets: of every 1,000 queries.")


def _rates(run: RunFolder) -> parts.Part:
    rows = [[parts.metric(name), parts.measured(run.record(name))] for name in RATES if run.record(name) is not None]
    note = parts.basis(run.record("screening_sensitivity"))
    return parts.table("screening", "Screening and alerts, with 95 % intervals", ["metric", "value"], rows, note)


def _work(run: RunFolder, rows: list[dict[str, Any]]) -> parts.Part:
    said = {(row["state"], row["evidence"]): row["per_1000"] for row in rows}
    data = [(state, said[state, "evidence"], said[state, "no_evidence"]) for state in STATES]
    alt = "; ".join(f"{state} {a + b:.0f}, of them {a:.1f} with evidence" for state, a, b in data)
    return parts.figure(
        bars.work(data), "Work per 1,000 queries", f"Stacked bars per 1,000 queries. {_plain(alt)}",
        ["state", "evidence", "no_evidence"], data,
        f"Beside each bar: how many of its queries have evidence. {parts.basis(run.record('neg_rate'))}",
    )  # fmt: skip


def _plain(alt: str) -> str:
    return f"By state: {alt}."


def _risk(run: RunFolder) -> parts.Part | None:
    rows = run.rows("risk_coverage")
    if not rows:
        return None
    return parts.figure(
        curves.risk_coverage(rows),
        "Risk and coverage",
        f"Share decided wrongly against share decided, most certain first; area {words.number(run.value('aurc'))}.",
        list(rows[0]),
        [tuple(row.values()) for row in rows],
        "The vertical line is where UNCERTAIN begins. `aurc`, the area: "
        f"{words.measured(run.record('aurc'))}. {parts.basis(run.record('aurc'))}",
    )


def _grid(run: RunFolder) -> parts.Part | None:
    rows = _tried(run)
    if not rows:
        return None
    return parts.figure(
        bars.tau_grid(rows),
        "The (τ_neg, τ_pos) grid on TUNE",
        "Sentences shown for every pair of thresholds: rows by τ_neg with the screening sensitivity it gives, columns "
        "by τ_pos with the alert precision it gives. The table below holds every pair.",
        list(rows[0]),
        [tuple(row.values()) for row in rows],
        "Each cell: sentences shown in all (k: thousands), a stronger tint for more. τ_neg alone decides "
        f"`screening_sensitivity`, τ_pos alone `alert_precision`. {_grid_basis(run)}",
    )


def _tried(run: RunFolder) -> list[dict[str, Any]]:
    return list(((run.ablation or {}).get("tau_grid") or {}).get("rows") or ())


def _grid_basis(run: RunFolder) -> str:
    n = ((run.ablation or {}).get("tau_grid") or {}).get("n")
    return f"TUNE of all folds together: n = {words.count(n)} queries." if n else "TUNE of all folds together."


def _pairs(run: RunFolder) -> parts.Part | None:
    rows = [
        [
            *(f"{row[name]}" for name in ("tau_neg", "tau_pos")),
            *(words.number(row[name]) for name in ("screening_sensitivity", "alert_precision")),
            parts.cell(words.count(row["sentences_shown"]), sort=row["sentences_shown"]),
        ]
        for row in _tried(run)
    ]
    if not rows:
        return None
    title = "Every pair of the grid"
    names = (parts.metric("screening_sensitivity"), parts.metric("alert_precision"))
    head = ["τ_neg", "τ_pos", *names, "sentences shown"]
    note = f"{_grid_basis(run)} – no alert at all."
    return parts.folded(title, parts.table("tau_grid", title, head, rows, note))


def _guarantee(run: RunFolder) -> parts.Part:
    folds = run.manifest.get("folds") or []
    if not folds:
        return parts.missing("The guarantee", "thresholds came with the scores; how they were chosen is not known.")
    said = []
    for fold in folds:
        triage = fold.get("triage") or {}
        promise = triage.get("guarantee")
        if promise:
            said.append(f"Fold {fold['fold']}: {promise.get('reason')}")
    if said:
        return parts.items(said)
    return parts.text(
        "Nothing is guaranteed: thresholds were chosen as the best on TUNE (method grid), which promises nothing about "
        "new documents. `--set decide.triage.method=guaranteed` certifies the rate of documents whose evidence is "
        "never skipped, or says how many more TUNE documents that needs."
    )


def _thresholds(run: RunFolder) -> parts.Part | None:
    rows = run.rows("thresholds")
    if not rows:
        return None
    names = [name for name in rows[0] if name != "fold"]
    shown = [
        ["all" if row["fold"] is None else f"fold {row['fold']}", *(words.number(row[name], 4) for name in names)]
        for row in rows[:50]
    ]
    title = "Thresholds in use, by fold"
    cut = " The first 50 rows." if len(rows) > 50 else ""
    after = f"Below tau_neg NEG, from tau_pos on POS. – predicts nothing, or alerts on nothing.{cut}"
    return parts.folded(title, parts.table("thresholds_by_fold", title, ["fold", *names], shown, after))
