"""Dynamic K: how many sentences are shown, and what they hold."""

from __future__ import annotations

from typing import Any

from probative.report import parts, words
from probative.report.folder import MODES, RunFolder
from probative.report.plots import bars, curves

METRICS = (
    *("evidence_recall", "evidence_precision", "evidence_f1", "evidence_recall_micro", "evidence_recall_micro_passed"),
    *("evidence_recall_all", "evidence_precision_all", "k_mean", "k_median", "k_p90", "k_mean_passed"),
)
DEPLOY = ("deploy_precision", "deploy_recall", "deploy_f1", "deploy_fpr", "deploy_fnr")
GROUPS = {"state:NEG": "NEG", "state:UNCERTAIN": "UNCERTAIN", "state:POS": "POS"}
TRUTH = {"evidence": "evidence", "no_evidence": "no evidence"}


def section(run: RunFolder) -> parts.Part:
    """How much is shown, and whether it is enough."""
    title = "Dynamic K"
    intro = (
        "Each query shows as many sentences as it needs: few where one sentence stands out, more where it is unclear."
    )
    if run.mode is None:
        why = "there are no selections (columns selected_raw, selected_gate, selected_triage)."
        return parts.section("dynamic_k", title, intro, parts.missing("Selections", why))
    return parts.section(
        "dynamic_k",
        title,
        intro,
        _table(run),
        parts.figures(_sizes(run, "by state", GROUPS), _sizes(run, "by evidence", TRUTH), *_sweeps(run)),
        None if run.ablation else parts.missing("Policies and the γ sweep", "`probative ablate` has not been run."),
        _policies(run),
    )


def _modes(run: RunFolder) -> list[str]:
    return [mode for mode in MODES if run.record("k_mean", mode=mode)]


def _table(run: RunFolder) -> parts.Part:
    modes = _modes(run)
    rows = []
    for name in (*METRICS, *DEPLOY):
        found = [run.record(name, mode=mode) for mode in modes]
        if any(record is not None for record in found):
            population = next(record["population"] for record in found if record is not None)
            rows.append([parts.metric(name), *map(parts.measured, found), population])
    note = (
        "raw: what the policy picks; gate: empty where the gate predicts none; triage: by state, empty for NEG (the "
        "headline)."
    )
    return parts.table("extraction", "What is selected", ["metric", *modes, "population"], rows, note)


def _sizes(run: RunFolder, by: str, groups: dict[str, str]) -> parts.Part | None:
    mode = run.mode or "triage"
    rows = run.rows("k_histogram")
    found = {
        label: [row for row in rows if row["mode"] == mode and row["group"] == group] for group, label in groups.items()
    }
    found = {label: kept for label, kept in found.items() if kept}
    if not found:
        return None
    name = f"k_{by.replace(' ', '_')}"
    return parts.figure(
        bars.sizes(name, found),
        f"How many sentences are shown, {by}",
        f"Histograms of the number of sentences shown for {', '.join(found)}, selection {mode}.",
        ["group", "k", "n"],
        [(label, row["k"], row["n"]) for label, kept in found.items() for row in kept],
    )


def _sweeps(run: RunFolder) -> list[parts.Part | None]:
    ablation = run.ablation or {}
    found: list[parts.Part | None] = []
    named, fixed = policies(ablation.get("policies") or ())
    if named:
        columns = ("policy", "k_mean", "evidence_recall", "fixed_recall")
        data = [
            (r["policy"], r["k_mean"], r["evidence_recall"], r["fixed_recall"]) for rows in named.values() for r in rows
        ]
        found.append(
            parts.figure(
                curves.policies(named, fixed),
                "Recall against mean K",
                f"Evidence recall against mean K for {', '.join(named)}, beside fixed K at the same mean.",
                columns,
                data,
                "A policy is worth something only above the line of fixed K.",
            )
        )
    sweep = [row for row in map(_flat, ablation.get("gamma_sweep") or ()) if row.get("gamma") is not None]
    if sweep and all("evidence_recall" in row and "k_mean" in row for row in sweep):
        found.append(
            parts.figure(
                curves.gamma(sweep),
                "The γ sweep",
                f"Evidence recall and mean K for γ in {', '.join(str(row['gamma']) for row in sweep)}.",
                list(sweep[0]),
                [tuple(row.values()) for row in sweep],
            )
        )
    return found


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose records are replaced by their values."""
    return {key: value.get("value") if isinstance(value, dict) else value for key, value in row.items()}


def policies(rows: Any) -> tuple[dict[str, list[dict[str, Any]]], list[dict[str, Any]]]:
    """Policies by kind, and fixed K at the mean of each."""
    named: dict[str, list[dict[str, Any]]] = {}
    fixed = []
    for given in rows:
        row = _flat(given)
        if row.get("k_mean") is None or row.get("evidence_recall") is None:
            continue
        label = str(row.get("policy") or row.get("name") or row.get("kind"))
        flat = {**row, "policy": label, "fixed_recall": row.get("fixed_recall")}
        named.setdefault(label.split()[0].split("(")[0], []).append(flat)
        if flat["fixed_recall"] is not None:
            fixed.append({"k_mean": row.get("fixed_k_mean", row["k_mean"]), "evidence_recall": flat["fixed_recall"]})
    return named, fixed


def _policies(run: RunFolder) -> parts.Part | None:
    named, _ = policies((run.ablation or {}).get("policies") or ())
    rows = [
        [row["policy"], *(words.number(row[key]) for key in ("k_mean", "evidence_recall", "fixed_recall"))]
        for kept in named.values()
        for row in kept
    ]
    if not rows:
        return None
    head = ["policy", "mean K", "recall", "recall of fixed K at that mean"]
    return parts.table("policies_at_equal_k", "Policies at equal mean K", head, rows)
