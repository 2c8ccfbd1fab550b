"""Dynamic K: how many sentences are shown, and what they hold."""

from __future__ import annotations

from typing import Any

from probative.report import parts, words
from probative.report.folder import MODES, Record, RunFolder
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
        None if run.ablation else parts.missing("Policies and the γ sweep", run.why_no_ablation),
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
            rows.append([parts.metric(name), *map(parts.measured, found), population, _n(found[0])])
    note = (
        "raw: what the policy picks; gate: empty where the gate predicts none; triage: by state, empty for NEG (the "
        "headline)."
    )
    head = ["metric", *modes, "population", f"n / documents ({modes[0]})"]
    return parts.table("extraction", "What is selected, with 95 % intervals", head, rows, note)


def _n(record: Record | None) -> str:
    return words.NONE if record is None else f"{words.count(record['n'])} / {words.count(record['n_docs'])}"


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
        parts.basis(run.record("k_mean", mode=mode)),
    )


def _sweeps(run: RunFolder) -> list[parts.Part | None]:
    pairs = policies(run)
    sweep = (run.ablation or {}).get("gamma_sweep") or []
    about = _about(run)
    return [_recall_by_k(pairs, about) if pairs else None, _gamma(sweep, about) if sweep else None]


def _about(run: RunFolder) -> str:
    """Whom the policies' recall is about; mean K counts all queries."""
    first = next(iter((run.ablation or {}).get("policies") or ()), {"metrics": ()})
    found = next((r for r in first["metrics"] if r["id"] == "evidence_recall" and r["scope"] == "pooled"), None)
    return f"Before the gate. `evidence_recall`: {parts.basis(found)} Mean K: all_queries." if found else ""


def policies(run: RunFolder) -> list[dict[str, Any]]:
    """Every policy beside fixed K at its own mean."""
    rows = (run.ablation or {}).get("policies") or ()
    paired = (run.ablation or {}).get("policy_comparisons") or ()
    tests = {row["other"]: row for row in paired if row["id"] == "evidence_recall"}
    found = {row["name"]: {r["id"]: r["value"] for r in row["metrics"] if r["scope"] == "pooled"} for row in rows}
    pairs = []
    for name, values in found.items():
        rival = found.get(f"fixed at the mean K of {name}")
        if rival is not None:
            kept = {key: values[key] for key in ("k_mean", "evidence_recall")}
            fixed = {"fixed_k_mean": rival["k_mean"], "fixed_recall": rival["evidence_recall"]}
            test = {key: tests.get(name, {}).get(key) for key in ("difference", "ci_low", "ci_high", "p_holm")}
            pairs.append({"policy": name, **kept, **fixed, **test})
    return pairs


def _recall_by_k(pairs: list[dict[str, Any]], about: str) -> parts.Part:
    named: dict[str, list[dict[str, Any]]] = {}
    for row in pairs:
        named.setdefault(row["policy"].split()[0], []).append(row)
    fixed = [{"k_mean": row["fixed_k_mean"], "evidence_recall": row["fixed_recall"]} for row in pairs]
    return parts.figure(
        curves.policies(named, fixed),
        "Recall against mean K",
        f"Evidence recall against mean K for {', '.join(named)}, beside fixed K at the same mean.",
        list(pairs[0]),
        [tuple(row.values()) for row in pairs],
        f"A policy is worth something only above the line of fixed K. {about}",
    )


def _gamma(sweep: list[dict[str, Any]], about: str) -> parts.Part:
    return parts.figure(
        curves.gamma(sweep),
        "The γ sweep",
        f"Evidence recall and mean K of the mass policy for γ in {', '.join(str(row['gamma']) for row in sweep)}.",
        list(sweep[0]),
        [tuple(row.values()) for row in sweep],
        f"Policy mass. {about}",
    )


def _policies(run: RunFolder) -> parts.Part | None:
    digits = {"k_mean": 2, "evidence_recall": 3, "fixed_k_mean": 2, "fixed_recall": 3}
    rows = [
        [
            row["policy"],
            *(parts.cell(words.number(row[key], places), sort=row[key]) for key, places in digits.items()),
            *parts.difference(row),
            parts.cell(words.p_value(row["p_holm"]), sort=row["p_holm"]),
        ]
        for row in policies(run)
    ]
    if not rows:
        return None
    fixed = ("mean K of fixed", "recall of fixed")
    head = ["policy", "mean K", "recall", *fixed, "difference in recall", "95 % interval", "p after Holm"]
    title = "Every policy beside fixed K at its own mean"
    return parts.table("policies_at_equal_k", title, head, rows, f"Paired intervals. {_about(run)}")
