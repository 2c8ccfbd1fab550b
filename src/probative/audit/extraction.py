"""Contract §§5 and 6 once more: what was shown, against what is evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from probative.audit.queries import Query

MODES = ("raw", "gate", "triage")


def chosen(query: Query, mode: str) -> list[str] | None:
    """The selection of one mode, None where the table has none."""
    selection: list[str] | None = getattr(query, mode)
    return selection


def hits(query: Query, mode: str) -> int:
    return len(set(query.gold).intersection(chosen(query, mode) or ()))


def size(query: Query, mode: str) -> int:
    return len(chosen(query, mode) or ())


def passed(query: Query, mode: str) -> bool | None:
    """Predicted positive, or not NEG under triage."""
    if mode == "triage":
        return None if query.state is None else query.state != "NEG"
    return query.predicted


def recall(query: Query, mode: str) -> float:
    return hits(query, mode) / len(set(query.gold)) if query.gold else 0.0


def recall_all(query: Query, mode: str) -> float:
    return recall(query, mode) if query.gold else float(size(query, mode) == 0)


def precision(query: Query, mode: str) -> float:
    shown = size(query, mode)
    return hits(query, mode) / shown if shown else 0.0


def precision_all(query: Query, mode: str) -> float:
    return precision(query, mode) if size(query, mode) else float(not query.gold)


def f1(query: Query, mode: str) -> float:
    r, p = recall(query, mode), precision(query, mode)
    return 2 * r * p / (r + p) if r + p else 0.0


PER_QUERY: dict[str, tuple[str, Callable[[Query, str], float]]] = {
    "evidence_recall": ("positives_only", recall),
    "evidence_recall_all": ("all_queries", recall_all),
    "evidence_precision": ("positives_only", precision),
    "evidence_precision_all": ("all_queries", precision_all),
    "evidence_f1": ("positives_only", f1),
}
SIZES = frozenset({"k_mean", "k_median", "k_std", "k_min", "k_max", "k_p25", "k_p75", "k_p90"})


def quantile(values: Sequence[float], q: float) -> float:
    """Linear interpolation between the closest ranks."""
    rising = sorted(values)
    place = q * (len(rising) - 1)
    below = math.floor(place)
    above = min(below + 1, len(rising) - 1)
    return rising[below] + (place - below) * (rising[above] - rising[below])


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def deviation(values: Sequence[float], *, ddof: int = 0) -> float:
    centre = mean(values)
    return math.sqrt(math.fsum((v - centre) ** 2 for v in values) / (len(values) - ddof))


def of_sizes(metric: str, sizes: Sequence[float]) -> float:
    simple: dict[str, Callable[[Sequence[float]], float]] = {
        "k_mean": mean,
        "k_median": lambda v: quantile(v, 0.5),
        "k_std": deviation,
        "k_min": min,
        "k_max": max,
    }
    if metric in simple:
        return simple[metric](sizes)
    return quantile(sizes, int(metric.removeprefix("k_p")) / 100)
