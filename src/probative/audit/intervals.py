"""PV022: intervals against an independent and smaller resampling of documents.

A stated bound must lie between two order statistics of these resamples. Which two follows from the exact chance, where
both sets of resamples come from one distribution, that a percentile of the one lies outside them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probative.audit import bands, exact
from probative.audit.check import MEASURE, Check, absent, judged
from probative.audit.frame import Frame
from probative.audit.recompute import Recomputation
from probative.audit.records import Comparison
from probative.audit.resampling import RESAMPLES, Draws, Resampled
from probative.audit.sums import Array

TITLE = "Intervals agree with an independent resampling"
ENOUGH = 100
CHANCE = 1e-9
"""That a sound bound is called wrong; a run has some fifty thousand bounds."""
DOUBT = 1e-4
"""A bound less likely than this is looked at again in more resamples, where few were drawn."""
ROOM = {"aurc": 0.02}
"""The evaluation resamples risk areas by a continuous approximation of the harmonic numbers."""
EXEMPT = ("k_min", "k_max", "curve_threshold")


def intervals(
    found: Sequence[Comparison],
    frames: Mapping[str, Frame],
    answers: Recomputation,
    master: Mapping[str, Any],
) -> Check:
    """PV022."""
    stated = [c for c in found if c.record.get("ci_low") is not None and c.answer is not None]
    drawn = (master.get("meta") or {}).get("bootstrap") or {}
    if not stated:
        return absent("PV022", TITLE, "no interval was computed")
    if drawn.get("unit") == "queries":
        return absent("PV022", TITLE, "the intervals resample queries; only those over documents are checked")
    resamples = int(drawn.get("resamples") or 10_000)
    covered = 0
    findings = list(_missing(found))
    for stage, frame in frames.items():
        resampled = Resampled(frame, Draws.of(frame.queries))
        items = [c for c in stated if c.key.stage == stage]
        resampled.prepare([c.key for c in items])
        verdicts = [_verdict(item, resampled, answers, resamples) for item in items]
        covered += sum(v is not None for v in verdicts)
        findings += [v for v in verdicts if v]
        findings += _of_series(master, stage, resampled, resamples)
    good = f"{covered:,} of {len(stated):,} intervals worked out by another method; bounds agree within sampling error"
    return judged("PV022", TITLE, findings, good=good, fix=MEASURE)


def _of_series(master: Mapping[str, Any], stage: str, resampled: Resampled, resamples: int) -> Iterator[str]:
    def judge(low: float, high: float, values: Array) -> str:
        return _outside(low, high, values, resamples) or ""

    def judge_exact(low: float, high: float, value: float, events: exact.Events) -> str:
        return _inexact(low, high, value, events, 1.0)

    for one in master.get("series", ()):
        if (one.get("stage") or "final") == stage and resampled.frame.rows(str(one["scope"]), "all") is not None:
            yield from bands.bands(one, resampled, judge, judge_exact)


def _verdict(item: Comparison, resampled: Resampled, answers: Recomputation, resamples: int) -> str | None:
    """A finding, "" when the bounds agree, None when the second method has no answer."""
    record = item.record
    low, high = float(record["ci_low"]), float(record["ci_high"])
    found = exact.events(item.key, resampled, answers)
    stated_exact = str(record.get("ci_method", "")).startswith("clopper_pearson")
    if stated_exact != (found is not None and found.at_boundary):
        rule = "at most five events or misses" if found is not None and found.at_boundary else "more than five of both"
        return f"{item.key}: ci_method is {record.get('ci_method')}, though there are {rule}"
    if found is not None and stated_exact:
        problem: str | None = _inexact(low, high, float(record["value"]), found, exact.scale(item.key.metric))
    else:
        values = resampled.values(item.key)
        room = ROOM.get(item.key.metric, 0.0)
        if values is not None and len(values) < RESAMPLES and _outside(low, high, values, resamples, DOUBT, room):
            values = resampled.more(item.key)
        problem = None if values is None else _outside(low, high, values, resamples, room=room)
    return f"{item.key}: {problem}" if problem else problem


def _inexact(low: float, high: float, value: float, found: exact.Events, factor: float) -> str:
    again = [factor * bound for bound in exact.bounds(value / factor, found.effective)]
    if exact.overlap((low, high), again):
        return ""
    return f"the exact interval is [{low:.6g}, {high:.6g}], worked out again [{again[0]:.6g}, {again[1]:.6g}]"


def _outside(
    low: float, high: float, values: Array, stated: int, chance: float = CHANCE, room: float = 0.0
) -> str | None:
    known = np.sort(values[np.isfinite(values)])
    if len(known) < ENOUGH:
        return None
    for name, bound, share in (("lower", low, 0.025), ("upper", high, 0.975)):
        least, most = band(known, share, stated, chance)
        slack = room * abs(bound)
        if not least - slack <= bound <= most + slack:
            return f"the {name} bound is {bound:.6g}, an independent resampling: {least:.6g} to {most:.6g}"
    return ""


@cache
def rank(n: int, stated: int, below: int, chance: float) -> int | None:
    """The least j for which fewer than `below` + 1 of the `stated` draws lie at or under our j-th of n so seldom.

    The first `below` + j of both sets in one order then hold at least j of ours: a hypergeometric tail.
    """

    def tail(j: int) -> float:
        first = below + j
        return math.fsum(math.exp(_ways(n, i) + _ways(stated, first - i) - _ways(n + stated, first)) for i in _up(j))

    def _up(j: int) -> range:
        return range(j, min(n, below + j) + 1)

    low, high = 1, n
    if tail(n) >= chance:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if tail(middle) < chance else (middle + 1, high)
    return low


def _ways(n: int, k: int) -> float:
    """The logarithm of the number of choices of k out of n."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) if 0 <= k <= n else -math.inf


def _missing(found: Sequence[Comparison]) -> Iterator[str]:
    for item in found:
        record, answer = item.record, item.answer
        bare = record.get("ci_low") is None and not record.get("reason")
        if bare and answer is not None and answer.defined and not item.key.metric.startswith(EXEMPT):
            yield f"{item.key}: has no interval, and no reason why"


def band(known: NDArray[np.float64], share: float, stated: int, chance: float = CHANCE) -> tuple[float, float]:
    """Where the percentile of `stated` other resamples of the same documents must lie; `known` is sorted."""
    n = len(known)
    # A percentile lies between two draws: the upper one has `place` + 1 draws below it, the lower one as many above.
    place = math.floor(share * (stated - 1))
    top = rank(n, stated, min(place + 1, stated - 1), chance)
    bottom = rank(n, stated, min(stated - 1 - place, stated - 1), chance)
    room = float(known.std())
    high = float(known[top - 1]) if top is not None else float(known[-1]) + room
    low = float(known[n - bottom]) if bottom is not None else float(known[0]) - room
    # The stated bounds come from sums in single precision.
    small = 2e-6 * max(1.0, abs(low), abs(high))
    return low - small, high + small
