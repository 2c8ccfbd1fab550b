"""Contract §7 once more: what is skipped, looked at with care, and raised."""

from __future__ import annotations

from collections.abc import Sequence

from probative.audit.queries import Query

METRICS = frozenset(
    {
        "neg_rate",
        "uncertain_rate",
        "pos_rate",
        "alerts_per_1000",
        "screening_sensitivity",
        "screening_fn_per_1000",
        "screening_fn_per_1000_positives",
        "alert_precision",
        "alert_recall",
    }
)


def parts(metric: str, queries: Sequence[Query]) -> tuple[float, int, int]:
    """(factor, numerator, denominator) of a triage figure."""
    total = len(queries)
    positives = sum(q.positive for q in queries)
    count = {s: sum(q.state == s for q in queries) for s in ("NEG", "UNCERTAIN", "POS")}
    missed = sum(q.positive and q.state == "NEG" for q in queries)
    raised = sum(q.positive and q.state == "POS" for q in queries)
    table: dict[str, tuple[float, int, int]] = {
        "neg_rate": (1, count["NEG"], total),
        "uncertain_rate": (1, count["UNCERTAIN"], total),
        "pos_rate": (1, count["POS"], total),
        "alerts_per_1000": (1000, count["POS"], total),
        "screening_sensitivity": (1, positives - missed, positives),
        "screening_fn_per_1000": (1000, missed, total),
        "screening_fn_per_1000_positives": (1000, missed, positives),
        "alert_precision": (1, raised, count["POS"]),
        "alert_recall": (1, raised, positives),
    }
    return table[metric]
