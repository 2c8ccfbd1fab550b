"""PV020 to PV025: metrics_master.json against the second implementation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from probative.audit import extraction
from probative.audit.check import MEASURE, Check, absent, judged
from probative.audit.recompute import Answer, Key, Recomputation

TOLERANCE = 1e-9
FIX = f"{MEASURE} If the per_query table was edited, restore it."
FITTED, FITTED_TOLERANCE = ("calibration_slope", "calibration_intercept"), 1e-6
"""Found by iteration, so two fits agree to less than two sums do."""
REQUIRED = ("id", "scope", "population", "value", "n", "n_docs")


def agree(stated: Any, worked_out: float | None, tolerance: float = TOLERANCE) -> bool:
    """Equal to 1e-9, relative above 1; null only equals null."""
    if stated is None or worked_out is None:
        return stated is None and worked_out is None
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        return False
    return abs(stated - worked_out) <= tolerance * max(1.0, abs(worked_out))


def shown(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, int | float) else str(value)


@dataclass(frozen=True)
class Comparison:
    """A record, its key, and the second opinion on it."""

    record: Mapping[str, Any]
    key: Key
    answer: Answer | None


def compare(records: Sequence[Mapping[str, Any]], recomputation: Recomputation) -> list[Comparison]:
    """The second opinion on every record."""
    out = []
    for record in records:
        key = Key.of(record)
        out.append(Comparison(record, key, recomputation.answer(key)))
    return out


def values(found: Sequence[Comparison]) -> Check:
    """PV020."""
    return judged(
        "PV020",
        "Every record is recomputed",
        _wrong_values(found),
        good=f"{len(found):,} records recomputed from the per_query tables; every value agrees to 1e-9",
        fix=FIX,
    )


def _wrong_values(found: Sequence[Comparison]) -> Iterator[str]:
    for item in found:
        missing = [name for name in REQUIRED if name not in item.record]
        if missing:
            yield f"{item.key}: the record lacks {', '.join(missing)}"
        elif item.answer is None:
            yield f"{item.key}: the second implementation does not know this record, or the table lacks what it needs"
        elif not agree(item.record["value"], item.answer.value, tolerance(item.key.metric)):
            yield f"{item.key}: the file says {shown(item.record['value'])}, recomputed {shown(item.answer.value)}"
        elif not item.answer.defined and not item.record.get("reason"):
            yield f"{item.key}: {shown(item.record['value'])} is a convention, and the record gives no reason"


def tolerance(metric: str) -> float:
    return FITTED_TOLERANCE if metric in FITTED else TOLERANCE


def counts(found: Sequence[Comparison]) -> Check:
    """PV021."""
    return judged(
        "PV021",
        "n, n_docs and spreads are recomputed",
        (line for item in found if item.answer for line in _wrong_counts(item, item.answer)),
        good=f"n, number of documents, std, median and quartiles of {len(found):,} records agree",
        fix=FIX,
    )


def _wrong_counts(item: Comparison, answer: Answer) -> Iterator[str]:
    for name, worked_out in (("n", answer.n), ("n_docs", answer.n_docs), *_spread(item.record, answer)):
        if not agree(item.record.get(name), worked_out, tolerance(item.key.metric)):
            yield f"{item.key}: {name} is {shown(item.record.get(name))}, recomputed {shown(worked_out)}"


def _spread(record: Mapping[str, Any], answer: Answer) -> Iterator[tuple[str, float | None]]:
    if answer.values:
        yield "std", extraction.deviation(answer.values)
        yield "median", extraction.quantile(answer.values, 0.5)
        yield "p25", extraction.quantile(answer.values, 0.25)
        yield "p75", extraction.quantile(answer.values, 0.75)
    elif any(record.get(name) is not None for name in ("std", "median", "p25", "p75")):
        yield "std", None
    if answer.parts is not None:
        parts = answer.parts
        yield "std_pop", extraction.deviation(parts) if parts else None
        yield "std_sample", extraction.deviation(parts, ddof=1) if len(parts) > 1 else None
        if "averaged" in record:
            yield "averaged", len(parts)


def unique(records: Sequence[Mapping[str, Any]]) -> Check:
    """PV024: a metric that stands in two places has one value."""
    seen: dict[Key, Any] = {}
    twice = []
    for record in records:
        key = Key.of(record)
        if key in seen:
            twice.append(f"{key}: stands twice, as {shown(seen[key])} and {shown(record.get('value'))}")
        seen[key] = record.get("value")
    return judged(
        "PV024",
        "No record stands twice",
        twice,
        good="every record has its own id, scope, population, mode, set and stage",
        fix=FIX,
    )


def finite(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Numbers that JSON cannot honestly hold."""
    for record in records:
        for name, value in record.items():
            if isinstance(value, float) and not math.isfinite(value):
                yield f"{Key.of(record)}: {name} is {value}"


def nothing(code: str, title: str) -> Check:
    return absent(code, title, "there is no metrics_master.json beside the table")
