"""PV057 and PV058: decisions made as configured, and what they reached on TUNE counted again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from probative.audit.check import Check, absent, judged
from probative.audit.roles import Tuned
from probative.audit.states import upper_bound
from probative.audit.thresholds import FIX, NONE, Fold, chosen

ASKED = "Every fold decides as the configuration says"
REACHED = "What the choices reached on TUNE is counted again"
DELTA = 1e-4
"""No calibrator may hold more of the raw probability than serves to part equal values."""
TARGETS = ("screening_sensitivity", "alert_precision", "alert_recall", "alert_fpr")
CLOSE = 1e-9


def asked(folds: Sequence[Fold], config: Mapping[str, Any]) -> Check:
    """PV057."""
    decide = config.get("decide")
    if not folds or not decide:
        return absent("PV057", ASKED, "there is no configuration that says how to decide")
    scheme = None if (config.get("folds") or {}).get("split") else (config.get("folds") or {}).get("scheme")
    findings = [line for fold in folds for line in _asked(fold, decide, scheme)]
    good = "budgets, calibrators, targets, guarantee and policy of every fold are those of the configuration"
    return judged("PV057", ASKED, findings, good=good, fix=FIX)


def _asked(fold: Fold, decide: Mapping[str, Any], scheme: str | None) -> Iterator[str]:
    where = f"manifest.json, fold {fold['fold']}"
    triage, wanted = fold.get("triage") or {}, decide.get("triage") or {}
    promise = triage.get("guarantee") or {}
    pairs = [
        ("scheme", fold.get("scheme"), scheme or fold.get("scheme")),
        ("the operating budget", fold["operating"]["fpr_budget"], decide.get("fpr_budget")),
        ("the budgets", sorted(map(float, fold["thresholds"])), sorted(map(float, decide.get("budgets") or ()))),
        ("the calibrators tried", sorted(fold["calibrator"]["cv_log_loss"]), sorted(decide.get("calibration") or ())),
        ("the method of triage", triage.get("method"), wanted.get("method")),
        *((f"the target {name}", (triage.get("targets") or {}).get(name), wanted.get(name)) for name in TARGETS),
        ("the policy", fold.get("policy"), decide.get("policy")),
    ]
    if promise:
        pairs.append(("the guaranteed share", promise.get("target"), wanted.get("screening_sensitivity")))
        pairs.append(("the confidence", promise.get("confidence"), wanted.get("confidence")))
    for name, stated, value in pairs:
        if stated != value:
            yield f"{where}: {name} is {stated}, the configuration says {value}"
    if triage.get("method") == "guaranteed" and not promise:
        yield f"{where}: triage is guaranteed, but no guarantee is stated"
    if not 0 <= float(fold["calibrator"]["delta"]) <= DELTA:
        yield f"{where}: the calibrator holds {fold['calibrator']['delta']} of the raw probability"


def reached(folds: Sequence[Fold], rows: list[Tuned] | None) -> Check:
    """PV058."""
    if rows is None or not folds:
        return absent("PV058", REACHED, NONE)
    findings = [line for fold in folds for line in _reached(fold, chosen(rows, str(fold["fold"])))]
    good = "rates on TUNE, targets met and the figures of the guarantee agree"
    return judged("PV058", REACHED, findings, good=good, fix=FIX)


def _reached(fold: Fold, rows: Sequence[Tuned]) -> Iterator[str]:
    where = f"manifest.json, fold {fold['fold']}"
    for budget, entry in [*fold["thresholds"].items(), ("operating", fold["operating"])]:
        if entry is None or entry.get("value") is None:
            continue
        alarms = [row.positive for row in rows if row.prob >= entry["value"] - 1e-12]
        positives = sum(row.positive for row in rows)
        again = {"tpr": _share(sum(alarms), positives), "fpr": _share(len(alarms) - sum(alarms), len(rows) - positives)}
        for name, value in again.items():
            if name in entry and not _close(entry[name], value or 0.0):
                yield f"{where}: {name} of the threshold {budget} is {entry[name]}, TUNE gives {value}"
    triage = fold.get("triage") or {}
    if "reached" in triage:
        yield from _rates(where, triage, rows)
    if triage.get("guarantee"):
        yield from _promise(where, triage, rows)


def _rates(where: str, triage: Mapping[str, Any], rows: Sequence[Tuned]) -> Iterator[str]:
    skipped = [row.prob < triage["tau_neg"] - 1e-12 and triage["raw_tau_neg"] is not None for row in rows]
    alerted = [row.prob >= triage["tau_pos"] - 1e-12 and triage["raw_tau_pos"] is not None for row in rows]
    truth = [row.positive for row in rows]
    positives = sum(truth)
    hits = sum(a and y for a, y in zip(alerted, truth, strict=True))
    kept = sum(y and not s for s, y in zip(skipped, truth, strict=True))
    again = {
        "screening_sensitivity": _share(kept, positives),
        "alert_precision": _share(hits, sum(alerted)),
        "alert_recall": _share(hits, positives),
        "alert_fpr": _share(sum(alerted) - hits, len(rows) - positives),
        "neg_rate": _share(sum(skipped), len(rows)),
        "pos_rate": _share(sum(alerted), len(rows)),
    }
    for name, value in again.items():
        if name in triage["reached"] and not _close(triage["reached"][name], value):
            yield f"{where}: {name} reached on TUNE is {triage['reached'][name]}, counted again {value}"
    for name, target in triage["targets"].items():
        value = again.get(name)
        if target is not None and name in triage.get("met", {}):
            met = value is not None and (value <= target if name == "alert_fpr" else value >= target)
            if triage["met"][name] != met:
                yield f"{where}: {name} is called {'met' if triage['met'][name] else 'not met'}, TUNE gives {value}"


def _promise(where: str, triage: Mapping[str, Any], rows: Sequence[Tuned]) -> Iterator[str]:
    stated = triage["guarantee"]
    target, confidence = stated["target"], stated["confidence"]
    lowest: dict[str, float] = {}
    for row in rows:
        if row.positive:
            lowest[row.doc_id] = min(row.prob_raw, lowest.get(row.doc_id, math.inf))
    n = len(lowest)
    needed = _needed(target, confidence)
    found = triage["raw_tau_neg"] is not None
    cut = None if not found else 1.0 / (1.0 + math.exp(-stated["raw"]))
    missed = sum(p < cut for p in lowest.values()) if cut is not None else 0
    bound = upper_bound(missed, n, confidence) if n else 1.0
    largest = target if n >= needed else 1.0 - (upper_bound(0, n, confidence) if n else 1.0)
    again = {
        "n_documents": n,
        "n_missed": missed,
        "upper_bound": bound,
        "documents_needed": needed,
        "documents_missing": max(0, needed - n),
        "certified": found and n >= needed,
        "certified_target": largest if found else None,
    }
    for name, value in again.items():
        if name in stated and not _close(stated[name], value, 1e-6):
            yield f"{where}: {name} of the guarantee is {stated[name]}, TUNE gives {value}"


def _needed(target: float, confidence: float) -> int:
    """The fewest documents without a miss whose bound reaches the target: 1 − (1 − confidence)^(1/n) ≤ 1 − target."""
    n = max(1, math.floor(math.log(1 - confidence) / math.log(target)))
    while upper_bound(0, n, confidence) > 1 - target:
        n += 1
    while n > 1 and upper_bound(0, n - 1, confidence) <= 1 - target:
        n -= 1
    return n


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _close(stated: Any, value: float | bool | None, tolerance: float = CLOSE) -> bool:
    if stated is None or value is None or isinstance(value, bool):
        return bool(stated == value)
    return abs(float(stated) - value) <= tolerance
