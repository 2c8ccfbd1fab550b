"""Clopper–Pearson bounds once more: for a proportion with at most five events or misses, on the number of documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from probative.audit import extraction, labels
from probative.audit.recompute import Answer, Key, Recomputation
from probative.audit.resampling import Resampled
from probative.audit.sums import Array

NEAR = 5
TINY = 1e-300
MEANS = ("fold_mean", "criterion_macro")


@dataclass(frozen=True, slots=True)
class Events:
    """A proportion's events and trials; `units` are the documents behind the trials."""

    events: float
    trials: float
    units: int

    @property
    def effective(self) -> float:
        return float(min(self.trials, self.units))

    @property
    def at_boundary(self) -> bool:
        return min(self.events, self.trials - self.events) <= NEAR


def scale(metric: str) -> float:
    return 1000.0 if "1000" in metric else 1.0


def events(key: Key, resampled: Resampled, answers: Recomputation) -> Events | None:
    """What an exact interval of this record rests on; None when the metric is no proportion."""
    if key.scope not in MEANS:
        return _plain(key, resampled, answers.answer(key))
    frame = resampled.frame
    members_of = frame.folds if key.scope == "fold_mean" else frame.criteria(key.criteria)
    kind = "fold" if key.scope == "fold_mean" else "criterion"
    members = []
    for label in members_of:
        moved = Key(
            metric=key.metric,
            scope=f"{kind}:{label}",
            population=key.population,
            mode=key.mode,
            criteria=key.criteria,
            stage=key.stage,
        )
        answer = answers.answer(moved)
        if answer is None or not answer.defined:
            continue
        found = _plain(moved, resampled, answer)
        if found is None:
            return None
        members.append(found)
    if not members:
        return None
    sizes = [max(m.effective, 1.0) for m in members]
    units = int(len(sizes) ** 2 / math.fsum(1 / size for size in sizes))
    return Events(math.fsum(m.events for m in members), math.fsum(m.trials for m in members), units)


def _plain(key: Key, resampled: Resampled, answer: Answer | None) -> Events | None:
    rows = resampled.frame.rows(key.scope, key.criteria) or []
    if answer is None or not rows:
        return None
    if key.metric == "exact_match":
        return Events((answer.value or 0.0) * answer.n, answer.n, answer.n_docs)
    found = columns(key, resampled, answer)
    if found is None:
        return None
    top, bottom = (part[rows] for part in found)
    units = len(set(resampled.document[rows][bottom != 0].tolist()))
    trials = float(bottom.sum())
    if key.metric.startswith("tpr@fpr="):
        return Events(round((answer.value or 0.0) * trials), trials, units)
    return Events(float(top.sum()), trials, units)


def columns(key: Key, resampled: Resampled, answer: Answer) -> tuple[Array, Array] | None:
    """Events and trials of every query."""
    column: Callable[[str], Array] = resampled.column
    name = key.metric
    if answer.values is not None:
        if name in labels.METRICS or name.startswith("k_mean") or any(v not in (0.0, 1.0) for v in answer.values):
            return None
        of_ranking = name not in extraction.PER_QUERY
        top = column(f"rank|{name}") if of_ranking else column(f"show|{name}|{key.mode}")
        return top * column(f"population|{key.population}"), column(f"population|{key.population}")
    if name.startswith("tpr@fpr="):
        return column("positive"), column("positive")
    simple = {
        "positive_rate": ("positive", "one"),
        "neg_rate": ("state|NEG", "one"),
        "uncertain_rate": ("state|UNCERTAIN", "one"),
        "pos_rate": ("state|POS", "one"),
        "alerts_per_1000": ("state|POS", "one"),
        "screening_fn_per_1000": ("state_positive|NEG", "one"),
        "screening_fn_per_1000_positives": ("state_positive|NEG", "positive"),
        "alert_precision": ("state_positive|POS", "state|POS"),
        "alert_recall": ("state_positive|POS", "positive"),
        "evidence_recall_micro": (f"hits|{key.mode}", "gold"),
        "evidence_recall_micro_passed": (f"passed_hits|{key.mode}", f"passed_gold|{key.mode}"),
    }
    if name in simple:
        of, over = simple[name]
        return column(of), column(over)
    if name == "screening_sensitivity":
        return column("positive") - column("state_positive|NEG"), column("positive")
    return _rates(key, column)


def _rates(key: Key, column: Callable[[str], Array]) -> tuple[Array, Array] | None:
    name, rule = key.metric, "predicted"
    if name.endswith("@p=0.5"):
        name, rule = name.removesuffix("@p=0.5"), "half"
    elif name.startswith("deploy_"):
        name, rule = name.removeprefix("deploy_"), f"shown {key.mode}"
    elif "_transfer@fpr=" in name:
        name, _, budget = name.partition("_transfer@fpr=")
        rule = f"budget {budget}"
    pairs = {
        "sensitivity": ("tp", "fn"),
        "tpr": ("tp", "fn"),
        "recall": ("tp", "fn"),
        "specificity": ("tn", "fp"),
        "fpr": ("fp", "tn"),
        "fnr": ("fn", "tp"),
        "precision": ("tp", "fp"),
        "npv": ("tn", "fn"),
    }
    if name not in pairs:
        return None
    top, rest = (column(f"{part}|{rule}") for part in pairs[name])
    return top, top + rest


def bounds(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """The exact binomial interval; n may be an effective number."""
    hits, tail = share * n, (1 - level) / 2
    misses = n - hits
    low = _inverse(hits, misses + 1, tail) if hits > 0 else 0.0
    high = _inverse(hits + 1, misses, 1 - tail) if misses > 0 else 1.0
    return min(low, share), max(high, share)


@cache
def _inverse(a: float, b: float, q: float) -> float:
    """Where the beta distribution reaches probability q, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _beta(a, b, middle) < q else (low, middle)
    return (low + high) / 2


def _beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Lentz's method."""
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    total = d
    for m in range(1, 400):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away(1 + term * d)
            c = _away(1 + term / c)
            total *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return total


def _away(value: float) -> float:
    return value if abs(value) > TINY else TINY


def overlap(first: Sequence[float], second: Sequence[float]) -> bool:
    """Whether two bounds agree to what inversion leaves open."""
    return all(abs(a - b) <= 1e-6 * max(1.0, abs(b)) for a, b in zip(first, second, strict=True))
