"""Which sums over queries a statistic is made of, so that drawn documents need only be added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from probative.audit import detection, extraction
from probative.audit.frame import Frame
from probative.audit.queries import Query
from probative.audit.recompute import Key, populated

Array = NDArray[np.float64]
Sums = Callable[[str], Array]


def column(frame: Frame, name: str) -> Sequence[float]:
    """The numbers behind a column's name."""
    kind, _, rest = name.partition("|")
    queries = frame.queries
    if kind == "rank":
        found = frame.ranked_values(rest)
        assert found is not None  # noqa: S101 - plan() names known metrics only
        return found
    if kind == "show":
        metric, _, mode = rest.partition("|")
        inside = set(populated(frame, range(len(queries)), extraction.PER_QUERY[metric][0]))
        return [v if i in inside else 0.0 for i, v in enumerate(frame.extracted_values(metric, mode))]
    if kind == "population":
        inside = set(populated(frame, range(len(queries)), rest))
        return [float(i in inside) for i in range(len(queries))]
    if kind in {"size", "square", "exactly"}:
        return _sizes(frame, kind, *rest.split("|"))
    return [float(_simple(kind, rest, q)) for q in queries]


def _sizes(frame: Frame, kind: str, mode: str, population: str, k: str = "") -> list[float]:
    inside = set(populated(frame, range(len(frame.queries)), population))
    sizes = [extraction.size(q, mode) if i in inside else None for i, q in enumerate(frame.queries)]
    if kind == "exactly":
        return [float(size is not None and size == int(k)) for size in sizes]
    return [float(size or 0) ** (2 if kind == "square" else 1) for size in sizes]


def _simple(kind: str, rest: str, q: Query) -> float:
    y, p = q.positive, q.prob or 0.0
    if kind in {"tp", "fp", "tn", "fn"}:
        said = _said(rest, q)
        return float((said if kind[1] == "p" else not said) and (y if kind in {"tp", "fn"} else not y))
    table: dict[str, Callable[[], float]] = {
        "one": lambda: 1.0,
        "positive": lambda: float(y),
        "squared": lambda: (p - y) ** 2,
        "squared_prior": lambda: ((q.prior or 0.0) - y) ** 2,
        "state": lambda: float(q.state == rest),
        "state_positive": lambda: float(q.state == rest and y),
        "hits": lambda: float(extraction.hits(q, rest)),
        "gold": lambda: float(len(set(q.gold))),
        "passed_gold": lambda: float(len(set(q.gold))) if extraction.passed(q, rest) else 0.0,
        "passed_hits": lambda: float(extraction.hits(q, rest)) if extraction.passed(q, rest) else 0.0,
        "passed": lambda: float(bool(extraction.passed(q, rest)) and (q.located or not y)),
        "passed_size": lambda: (
            float(extraction.size(q, rest)) if extraction.passed(q, rest) and (q.located or not y) else 0.0
        ),
        "bin_p": lambda: p if _bin(p) == int(rest) else 0.0,
        "bin_y": lambda: float(y) if _bin(p) == int(rest) else 0.0,
        "bin_n": lambda: float(_bin(p) == int(rest)),
        "drop_p": lambda: p if p < 1.0 and _bin(p) == int(rest) else 0.0,
        "drop_y": lambda: float(y) if p < 1.0 and _bin(p) == int(rest) else 0.0,
    }
    return table[kind]()


_EDGES = detection.edges()


def _bin(p: float) -> int:
    return next((i for i in range(detection.BINS) if _EDGES[i] <= p < _EDGES[i + 1]), detection.BINS - 1)


def _said(rule: str, q: Query) -> bool:
    if rule == "half":
        return (q.prob or 0.0) >= 0.5
    if rule.startswith("budget "):
        return (q.prob or 0.0) >= q.budgets[rule.removeprefix("budget ")]
    if rule.startswith("shown "):
        return extraction.size(q, rule.removeprefix("shown ")) > 0
    return bool(q.predicted)


Plan = tuple[list[str], Callable[[Sums], Array]]


def _ratio(part: str, whole: str, factor: float = 1.0) -> Plan:
    return [part, whole], lambda s: np.where(s(whole) > 0, factor * s(part) / s(whole), np.nan)


def plan(key: Key, frame: Frame) -> Plan | None:
    """Which sums a statistic is made of, and how; None when sums are not enough."""
    for make in (_ranked, _shown, _counted, _triaged, _calibrated):
        found = make(key, frame)
        if found is not None:
            return found
    return None


def _ranked(key: Key, frame: Frame) -> Plan | None:
    if frame.ranked_values(key.metric) is None:
        return None
    return _ratio(f"rank|{key.metric}", f"population|{key.population}")


def _shown(key: Key, frame: Frame) -> Plan | None:
    mode = key.mode or ""
    if key.metric in extraction.PER_QUERY:
        name = f"show|{key.metric}|{mode}"
        if key.population == "positives_only":
            return _ratio(name, "population|positives_only")
        return _ratio(name, "population|all_queries")
    table = {
        "evidence_recall_micro": (f"hits|{mode}", "gold"),
        "evidence_recall_micro_passed": (f"passed_hits|{mode}", f"passed_gold|{mode}"),
        "k_mean_passed": (f"passed_size|{mode}", f"passed|{mode}"),
        "k_mean": (f"size|{mode}|{key.population}", f"population|{key.population}"),
    }
    if key.metric in table:
        return _ratio(*table[key.metric])
    return _spread(key, frame) if key.metric in QUANTILES or key.metric == "k_std" else None


QUANTILES = {"k_median": 0.5, "k_p25": 0.25, "k_p75": 0.75, "k_p90": 0.9}


def _spread(key: Key, frame: Frame) -> Plan:
    """How the sizes of selections spread: from their squares, or from how often each size was drawn."""
    label = f"{key.mode}|{key.population}"
    n, total, square = f"population|{key.population}", f"size|{label}", f"square|{label}"
    if key.metric == "k_std":
        return [n, total, square], lambda s: np.sqrt(np.maximum(s(square) / s(n) - (s(total) / s(n)) ** 2, 0.0))
    sizes = frame.sizes(key.mode or "")
    bars = [f"exactly|{label}|{size}" for size in sizes]
    return bars, lambda s: quantiles(np.array([s(bar) for bar in bars]), np.array(sizes, float), QUANTILES[key.metric])


def quantiles(counts: Array, values: Array, q: float) -> Array:
    """(b,) interpolated quantiles of rising values that were drawn so many times: counts are (values, b)."""
    reached = np.cumsum(counts, axis=0)
    total = reached[-1]
    place = q * np.maximum(total - 1, 0)
    low = np.floor(place + 1e-9)
    below, above = (
        values[(reached <= at).sum(axis=0).clip(max=len(values) - 1)] for at in (low, np.minimum(low + 1, total - 1))
    )
    return np.asarray(np.where(total > 0, below + (place - low) * (above - below), np.nan))


def _counted(key: Key, frame: Frame) -> Plan | None:
    rule, name = "predicted", key.metric
    if name.endswith("@p=0.5"):
        rule, name = "half", name.removesuffix("@p=0.5")
    elif name.startswith("deploy_"):
        rule, name = (
            f"shown {key.mode}",
            {"recall": "sensitivity"}.get(name.removeprefix("deploy_"), name.removeprefix("deploy_")),
        )
    elif name.startswith(("tpr_transfer@fpr=", "fpr_transfer@fpr=")):
        name, _, budget = name.partition("_transfer@fpr=")
        rule, name = f"budget {budget}", {"tpr": "sensitivity"}.get(name, name)
    elif name in {"n_queries", "n_positive", "positive_rate"}:
        part = "one" if name == "n_queries" else "positive"
        return _ratio("positive", "one") if name == "positive_rate" else ([part], lambda s: s(part))
    if name not in detection.RATIOS | detection.COUNTS | {"fnr"}:
        return None
    names = [f"{part}|{rule}" for part in ("tp", "fp", "tn", "fn")]
    return names, lambda s: _confusion(name, *(s(column) for column in names))


def _confusion(name: str, tp: Array, fp: Array, tn: Array, fn: Array) -> Array:
    table = {
        "tp": tp,
        "fp": fp,
        "tn": tn,
        "fn": fn,
        "sensitivity": tp / (tp + fn),
        "specificity": tn / (tn + fp),
        "fpr": fp / (tn + fp),
        "fnr": fn / (tp + fn),
        "precision": tp / (tp + fp),
        "npv": tn / (tn + fn),
        "f1": 2 * tp / (2 * tp + fp + fn),
        "mcc": (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
        "balanced_accuracy": (tp / (tp + fn) + tn / (tn + fp)) / 2,
    }
    return np.asarray(table[name])


def _triaged(key: Key, frame: Frame) -> Plan | None:
    missed, raised = "state_positive|NEG", "state_positive|POS"
    table = {
        "neg_rate": _ratio("state|NEG", "one"),
        "uncertain_rate": _ratio("state|UNCERTAIN", "one"),
        "pos_rate": _ratio("state|POS", "one"),
        "alerts_per_1000": _ratio("state|POS", "one", 1000),
        "screening_fn_per_1000": _ratio(missed, "one", 1000),
        "screening_fn_per_1000_positives": _ratio(missed, "positive", 1000),
        "alert_precision": _ratio(raised, "state|POS"),
        "alert_recall": _ratio(raised, "positive"),
        "screening_sensitivity": (
            [missed, "positive"],
            lambda s: np.where(s("positive") > 0, 1 - s(missed) / s("positive"), np.nan),
        ),
    }
    return table.get(key.metric)


def _calibrated(key: Key, frame: Frame) -> Plan | None:
    if key.metric == "brier":
        return _ratio("squared", "one")
    if key.metric == "brier_skill":
        return ["squared", "squared_prior"], lambda s: 1 - s("squared") / s("squared_prior")
    if key.metric not in {"ece", "ece_dropone", "mce"}:
        return None
    kind = "drop" if key.metric == "ece_dropone" else "bin"
    p, y, n = (
        [f"{k}_{part}|{i}" for i in range(detection.BINS)] for k, part in ((kind, "p"), (kind, "y"), ("bin", "n"))
    )

    def combine(s: Sums) -> Array:
        gaps = np.abs(np.array([s(a) - s(b) for a, b in zip(p, y, strict=True)]))
        sizes = np.array([s(name) for name in n])
        if key.metric == "mce":
            return np.asarray(np.where(sizes > 0, gaps / sizes, 0.0).max(axis=0))
        return np.asarray(gaps.sum(axis=0) / sizes.sum(axis=0))

    return [*p, *y, *n], combine
