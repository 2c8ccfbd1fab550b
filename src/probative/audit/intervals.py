"""PV022: intervals against an independent and smaller resampling of documents.

A stated bound must lie between two order statistics of these resamples; the true percentile lies outside them about
once in ten million.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probative.audit import exact
from probative.audit.check import Check, absent, judged
from probative.audit.frame import Frame
from probative.audit.recompute import Recomputation
from probative.audit.records import Comparison
from probative.audit.resampling import Draws, Resampled

TITLE = "Intervals agree with an independent resampling"
FIX = "Make the intervals again: probative evaluate RUN."
ENOUGH = 100
DEVIATIONS = 5.5
EXEMPT = ("k_min", "k_max", "curve_threshold")


def intervals(
    found: Sequence[Comparison], frames: Mapping[str, Frame], answers: Recomputation, meta: Mapping[str, Any]
) -> Check:
    """PV022."""
    stated = [c for c in found if c.record.get("ci_low") is not None and c.answer is not None]
    if not stated:
        return absent("PV022", TITLE, "no interval was computed")
    drawn = meta.get("bootstrap") or {}
    if drawn.get("unit") == "queries":
        return absent("PV022", TITLE, "the intervals resample queries; only those over documents are checked")
    by_stage: dict[str, list[Comparison]] = defaultdict(list)
    for item in stated:
        by_stage[item.key.stage].append(item)
    verdicts: list[str | None] = []
    for stage, items in by_stage.items():
        resampled = Resampled(frames[stage], Draws.of(frames[stage].queries))
        resampled.prepare([c.key for c in items])
        verdicts += [_verdict(item, resampled, answers, int(drawn.get("resamples") or 10_000)) for item in items]
    covered = sum(v is not None for v in verdicts)
    findings = [v for v in verdicts if v] + list(_missing(found))
    good = (
        f"{covered:,} of {len(stated):,} intervals worked out by another method; the bounds agree within sampling error"
    )
    return judged("PV022", TITLE, findings, good=good, fix=FIX)


def _verdict(item: Comparison, resampled: Resampled, answers: Recomputation, resamples: int) -> str | None:
    """A finding, "" when the bounds agree, None when the second method has no answer."""
    record = item.record
    found = exact.events(item.key, resampled, answers)
    stated_exact = str(record.get("ci_method", "")).startswith("clopper_pearson")
    if stated_exact != (found is not None and found.at_boundary):
        rule = "at most five events or misses" if found is not None and found.at_boundary else "more than five of both"
        return f"{item.key}: ci_method is {record.get('ci_method')}, though there are {rule}"
    if found is not None and stated_exact:
        return _exact(item, found)
    values = resampled.values(item.key)
    if values is None:
        return None
    known = np.sort(values[np.isfinite(values)])
    return _bounds(item, known, resamples) if len(known) >= ENOUGH else None


def _exact(item: Comparison, found: exact.Events) -> str:
    factor = exact.scale(item.key.metric)
    low, high = exact.bounds(float(item.record["value"]) / factor, found.effective)
    if exact.overlap((item.record["ci_low"], item.record["ci_high"]), (low * factor, high * factor)):
        return ""
    stated = f"[{item.record['ci_low']:.6g}, {item.record['ci_high']:.6g}]"
    return f"{item.key}: the exact interval is {stated}, worked out again [{low * factor:.6g}, {high * factor:.6g}]"


def _bounds(item: Comparison, known: NDArray[np.float64], stated: int) -> str:
    for name, share in (("ci_low", 0.025), ("ci_high", 0.975)):
        low, high = band(known, share, stated)
        bound = float(item.record[name])
        if not low <= bound <= high:
            return f"{item.key}: {name} is {bound:.6g}, an independent resampling: {low:.6g} to {high:.6g}"
    return ""


def band(known: NDArray[np.float64], share: float, stated: int) -> tuple[float, float]:
    """Where the percentile of `stated` other resamples of the same documents must lie; `known` is sorted."""
    n = len(known)
    deviation = math.sqrt(share * (1 - share) * (n + n * n / stated))
    below = math.floor(share * n - DEVIATIONS * deviation) - 1
    above = math.ceil(share * n + DEVIATIONS * deviation)
    room = float(known.std()) / 2
    low = known[below] if below >= 0 else known[0] - room
    high = known[above] if above < n else known[-1] + room
    # The stated bounds come from sums in single precision.
    small = 2e-6 * max(1.0, abs(float(low)), abs(float(high)))
    return float(low) - small, float(high) + small


def _missing(found: Sequence[Comparison]) -> Iterator[str]:
    for item in found:
        record, answer = item.record, item.answer
        bare = record.get("ci_low") is None and not record.get("reason")
        if bare and answer is not None and answer.defined and not item.key.metric.startswith(EXEMPT):
            yield f"{item.key}: has no interval, and no reason why"
