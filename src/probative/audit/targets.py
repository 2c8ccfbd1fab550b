"""PV070: targets and reference ranges, shown as met or not met, never asserted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from probative.audit.check import Check, absent

AT_LEAST = {
    "auroc": 0.85,
    "auprc": 0.55,
    "evidence_recall": 0.70,
    "screening_sensitivity": 0.995,
    "alert_precision": 0.90,
}
AT_MOST = {"ece": 0.05, "brier": 0.10, "screening_fn_per_1000": 5.0}
STRICT = frozenset({"ece", "brier"})
RANGES = {
    "ndcg@10": ("positives_only", (0.70, 0.80), (0.85, 0.90)),
    "recall@10": ("positives_only", (0.75, 0.85), (0.90, 0.95)),
    "mrr@10": ("positives_only", (0.65, 0.75), (0.80, 0.90)),
    "auroc": ("all_queries", (0.55, 0.65), (0.70, 0.80)),
    "tpr@fpr=0.05": ("all_queries", (0.08, 0.15), (0.20, 0.35)),
}


def _headline(records: Sequence[Mapping[str, Any]], metric: str, population: str | None = None) -> float | None:
    for r in records:
        plain = (
            (r.get("criteria") or "all") == "all"
            and (r.get("stage") or "final") == "final"
            and r.get("mode") in (None, "triage")
        )
        if r.get("id") == metric and r.get("scope") == "pooled" and plain and population in (None, r.get("population")):
            return r.get("value")
    return None


def _targets(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for metric, target in AT_LEAST.items():
        value = _headline(records, metric)
        if value is not None:
            yield f"{metric} {value:.4g}, target ≥ {target:g}: {'met' if value >= target else 'not met'}"
    for metric, target in AT_MOST.items():
        value = _headline(records, metric)
        if value is not None:
            sign, met = ("<", value < target) if metric in STRICT else ("≤", value <= target)
            yield f"{metric} {value:.4g}, target {sign} {target:g}: {'met' if met else 'not met'}"
    for metric, (population, baseline, good) in RANGES.items():
        value = _headline(records, metric, population)
        if value is not None:
            word = "in or above the good range" if value >= good[0] else "below the good range"
            word = "below the baseline range" if value < baseline[0] else word
            known = f"baseline {baseline[0]:g} to {baseline[1]:g}, good {good[0]:g} to {good[1]:g}"
            yield f"{metric} {value:.4g}, {known}: {word}"


def targets(records: Sequence[Mapping[str, Any]]) -> Check:
    """PV070."""
    title = "Targets and reference ranges"
    lines = tuple(_targets(records))
    if not lines:
        return absent("PV070", title, "none of the metrics with a target was computed")
    met = sum(line.endswith(": met") for line in lines)
    why = f"{met} of {sum('target' in line for line in lines)} targets met; shown, not required"
    return Check(code="PV070", title=title, status="passed", why=why, findings=lines)
