"""PV054 and PV055: the two thresholds of triage and the number of sentences shown, worked out again."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from probative.audit import detection
from probative.audit.calibrators import sigmoid, written
from probative.audit.candidates import Candidates
from probative.audit.check import Check, absent, judged
from probative.audit.queries import Query, Table
from probative.audit.roles import Tuned
from probative.audit.thresholds import FIX, NONE, Fold, alike, chosen, same_raw

GRID = tuple(round(-40.0 + i / 100, 2) for i in range(8001))
"""The candidate thresholds of the guarantee, in log-odds, fixed before any data."""
SLACK = 1e-9


def triage(folds: Sequence[Fold], rows: list[Tuned] | None) -> Check:
    """PV054."""
    title = "The thresholds of triage are those that TUNE gives"
    found = [fold for fold in folds if fold.get("triage")]
    if rows is None or not found:
        return absent("PV054", title, NONE)
    findings = [line for fold in found for line in _triage(fold, chosen(rows, str(fold["fold"])))]
    good = "τ_neg and τ_pos found again under the same targets, in every fold"
    return judged("PV054", title, findings, good=good, fix=FIX)


def _triage(fold: Fold, rows: Sequence[Tuned]) -> Iterator[str]:
    entry = fold["triage"]
    where = f"manifest.json, fold {fold['fold']}"
    guaranteed = entry["method"] == "guaranteed"
    neg = _certified(fold, entry, rows) if guaranteed else _screening(entry, rows)
    pos = _alert(entry, rows, neg)
    tau_neg = 0.0 if neg is None else neg[1]
    tau_pos = max(tau_neg, 1.0 if pos is None else pos[1])
    for name, value in (("tau_neg", tau_neg), ("tau_pos", tau_pos)):
        if not alike(entry[name], value):
            yield f"{where}: {name} is {entry[name]!r}, TUNE gives {value!r} under the same targets"
    for name, cut in (("raw_tau_neg", neg), ("raw_tau_pos", pos)):
        if (cut is None) != (entry[name] is None) or (cut is not None and not same_raw(entry[name], cut[0])):
            yield f"{where}: {name} is {entry[name]!r}, TUNE gives {None if cut is None else cut[0]!r}"


Cut = tuple[float, float]
"""A threshold on the raw and on the calibrated scale."""


def _steps(rows: Sequence[Tuned]) -> list[tuple[Cut, int, int]]:
    """(threshold, true alarms, false alarms) of every possible threshold, from the highest."""
    raw: dict[float, float] = {}
    for row in rows:
        raw[row.prob] = min(row.prob_raw, raw.get(row.prob, 1.0))
    out = []
    tp = fp = 0
    for value, hits, misses in detection.steps([row.prob for row in rows], [row.positive for row in rows]):
        tp += hits
        fp += misses
        out.append(((raw[value], value), tp, fp))
    return out


def _screening(entry: Mapping[str, Any], rows: Sequence[Tuned]) -> Cut | None:
    positives = sum(row.positive for row in rows)
    for cut, tp, _ in _steps(rows) if positives else ():
        if tp / positives >= entry["targets"]["screening_sensitivity"]:
            return cut
    return None


def _alert(entry: Mapping[str, Any], rows: Sequence[Tuned], neg: Cut | None) -> Cut | None:
    """Most evidence under the targets; the optional ones give way first, then the highest precision counts."""
    positives = sum(row.positive for row in rows)
    negatives = len(rows) - positives
    steps = [s for s in _steps(rows) if neg is None or s[0][1] >= neg[1]]
    if not positives or not steps:
        return None
    targets = entry["targets"]
    tests: dict[str, Callable[[int, int], bool]] = {
        "alert_precision": lambda tp, fp: tp / (tp + fp) >= targets["alert_precision"]
    }
    if targets.get("alert_fpr") is not None:
        tests["alert_fpr"] = lambda tp, fp: fp / max(negatives, 1) <= targets["alert_fpr"]
    if targets.get("alert_recall") is not None:
        tests["alert_recall"] = lambda tp, fp: tp / positives >= targets["alert_recall"]
    while tests:
        allowed = [(tp, cut) for cut, tp, fp in steps if all(test(tp, fp) for test in tests.values())]
        if allowed:
            return _first_best(allowed)
        tests.popitem()
    top = max(tp / (tp + fp) for _, tp, fp in steps)
    return _first_best([(tp, cut) for cut, tp, fp in steps if tp / (tp + fp) == top])


def _first_best(found: Sequence[tuple[int, Cut]]) -> Cut:
    best = max(tp for tp, _ in found)
    return next(cut for tp, cut in found if tp == best)


def _certified(fold: Fold, entry: Mapping[str, Any], rows: Sequence[Tuned]) -> Cut | None:
    """Fixed-sequence testing over documents: tried from the least to the most NEG, stopped at the first failure."""
    promise = entry["guarantee"]
    lowest: dict[str, float] = defaultdict(lambda: math.inf)
    for row in rows:
        if row.positive:
            lowest[row.doc_id] = min(lowest[row.doc_id], row.prob_raw)
    n = len(lowest)
    allowed = 1.0 - promise["target"]
    enough = n > 0 and upper_bound(0, n, promise["confidence"]) <= allowed
    ordered = sorted(lowest.values())
    best: float | None = None
    place = 0
    for logit in GRID if n else ():
        while place < n and ordered[place] < sigmoid(logit):
            place += 1
        if place and not (enough and upper_bound(place, n, promise["confidence"]) <= allowed):
            break
        best = logit
    if best is None:
        return None
    same = [logit for logit in GRID if sigmoid(logit) == sigmoid(best)]
    stated = written(fold["calibrator"])
    return sigmoid(best), min(stated(logit) for logit in same)


@cache
def upper_bound(missed: int, n: int, confidence: float) -> float:
    """The one-sided Clopper–Pearson bound: the rate at which so few misses have probability 1 − confidence."""
    if missed >= n:
        return 1.0
    low, high = missed / n, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(missed, n, middle) > 1 - confidence else (low, middle)
    return high


def _at_most(missed: int, n: int, rate: float) -> float:
    return math.fsum(
        math.exp(
            math.lgamma(n + 1)
            - math.lgamma(k + 1)
            - math.lgamma(n - k + 1)
            + k * math.log(rate)
            + (n - k) * math.log1p(-rate)
        )
        if 0 < rate < 1
        else float(rate == 0)
        for k in range(missed + 1)
    )


def policies(folds: Sequence[Fold], table: Table, pools: Mapping[tuple[str, str, str], Candidates] | None) -> Check:
    """PV055."""
    title = "As many sentences are shown as the policy says"
    rules = {str(fold["fold"]): fold["policy"] for fold in folds if fold.get("policy")}
    if not rules or pools is None or not any(q.raw is not None for q in table.queries):
        return absent("PV055", title, "no policy, candidates or selections were recorded")
    if all(p is None for its in pools.values() for p in its.node):
        return absent("PV055", title, "candidates.parquet has no node probabilities")
    findings = [line for q in table.queries if q.fold in rules for line in _policy(q, rules[q.fold], pools, table)]
    return judged("PV055", title, findings, good="every selection has the size its policy and limits give", fix=FIX)


def _policy(
    q: Query, rule: Mapping[str, Any], pools: Mapping[tuple[str, str, str], Candidates], table: Table
) -> Iterator[str]:
    its = pools.get((q.fold or "", q.doc_id, q.criterion_id))
    if its is None or any(p is None for p in its.node):
        return
    node = [p or 0.0 for p in its.node]
    for mode, preset in (("raw", rule), ("triage", rule["states"].get((q.state or "").lower()))):
        stated = getattr(q, mode)
        if stated is None or preset is None:
            continue
        fewest, most = bounds(node, its.in_pool, {**rule, **preset}, q.n)
        if not fewest <= len(stated) <= most:
            yield f"{table.path.name}, {q.where}: selected_{mode} has {len(stated)}, the policy gives {fewest}"


def bounds(node: Sequence[float], in_pool: Sequence[bool], rule: Mapping[str, Any], n: int) -> tuple[int, int]:
    """The fewest and most sentences, as far as node probabilities of single precision decide between them."""
    part = n * rule["k_max_ratio"]
    k_max = math.floor(part + SLACK) if rule.get("rounding", "floor") == "floor" else math.ceil(part - SLACK)
    low = min(rule["k_min"], n)
    high = min(max(min(k_max, rule["hard_cap"]), rule["k_min"]), n)
    kept = [p if inside else 0.0 for p, inside in zip(node, in_pool, strict=True)]
    sizes = [min(max(size, low), high) for size in _sizes(kept, in_pool, rule, low, high)]
    return min(sizes), max(sizes)


def _sizes(kept: Sequence[float], in_pool: Sequence[bool], rule: Mapping[str, Any], low: int, high: int) -> list[int]:
    kind = rule["kind"]
    if kind == "fixed":
        return [rule["k"]]
    if kind == "threshold":
        pairs = list(zip(kept, in_pool, strict=True))
        return [sum(inside and p >= rule["tau"] + shift for p, inside in pairs) for shift in (-1e-6, 1e-6)]
    if kind == "mass":
        return [_mass(kept, rule["gamma"] + shift) for shift in (-1e-6, 1e-6)]
    ahead = [*kept, 0.0]
    drops = {k: ahead[k - 1] - ahead[k] for k in range(max(low, 1), high + 1)}
    best = max(drops.values(), default=0.0)
    return [k for k, drop in drops.items() if drop >= best - 1e-6] or [low]


def _mass(kept: Sequence[float], gamma: float) -> int:
    total = math.fsum(kept)
    if total <= 0:
        return 0
    reached = 0.0
    for size, p in enumerate(kept, start=1):
        reached += p
        if reached >= gamma * total:
            return size
    return len(kept)
