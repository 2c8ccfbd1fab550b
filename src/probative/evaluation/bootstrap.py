"""Values and intervals of a scope, and their means over folds and criteria."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from probative.evaluation import intervals
from probative.evaluation.curve import Part
from probative.evaluation.intervals import Intervals
from probative.evaluation.resample import Draw
from probative.evaluation.totals import Array, Events, Fact, Key
from probative.segments import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Everything about the m metrics of one scope."""

    keys: list[Key]
    facts: list[Fact]
    values: FloatArray
    """(m,) NaN where undefined."""
    resamples: Array | None
    """(m, B), NaN where undefined; sorted once the intervals are there."""


@dataclass(frozen=True, kw_only=True)
class Estimated:
    """A scope's values with their intervals."""

    keys: list[Key]
    facts: list[Fact]
    values: FloatArray
    intervals: Intervals | None
    exact: FloatArray
    """(m,) true where the interval is Clopper–Pearson."""
    std_sample: FloatArray | None = None
    std_pop: FloatArray | None = None
    averaged: IntArray | None = None
    """(m,) how many folds or criteria a mean runs over."""
    members: int = 0


def measure(parts: list[Part], units: IntArray, draw: Draw | None) -> Measured:
    """Values of all parts of a scope, and every resample of them from the shared draw."""
    keys = [key for part in parts for key in part.keys]
    facts = [fact for part in parts for fact in part.facts]
    values = np.concatenate([part.point() for part in parts])
    if draw is None:
        return Measured(keys=keys, facts=facts, values=values, resamples=None)
    resamples = np.empty((len(keys), draw.resamples), dtype=np.float32)
    whole = len(units) == len(draw.stratum)
    for place, weights in draw.blocks():
        mine = weights if whole else weights[units]
        start = 0
        for part in parts:
            stop = start + len(part.keys)
            resamples[start:stop, place] = part.resampled(mine)
            start = stop
    resamples[np.isnan(values)] = np.nan
    resamples[[not fact.interval for fact in facts]] = np.nan
    return Measured(keys=keys, facts=facts, values=values, resamples=resamples)


def estimate(measured: Measured, level: float) -> Estimated:
    """Intervals by percentile, and by Clopper–Pearson at the boundary. Sorts the resamples in place."""
    events = [fact.events if fact.interval else None for fact in measured.facts]
    found, exact = _intervals(measured.values, measured.resamples, events, level)
    return Estimated(keys=measured.keys, facts=measured.facts, values=measured.values, intervals=found, exact=exact)


def _intervals(
    values: FloatArray, resamples: Array | None, events: list[Events | None], level: float
) -> tuple[Intervals | None, FloatArray]:
    exact = np.zeros(len(values), dtype=bool)
    if resamples is None:
        return None, exact
    found = intervals.percentile(resamples, level)
    for place, event in enumerate(events):
        exact[place] = event is not None and np.isfinite(values[place]) and intervals.at_boundary(event)
    if exact.any():
        scale = np.array([event.scale for event, near in zip(events, exact, strict=True) if near and event])
        n = np.array([event.effective for event, near in zip(events, exact, strict=True) if near and event])
        low, high = intervals.clopper_pearson(values[exact] / scale, n, level)
        found.low[exact], found.high[exact] = low * scale, high * scale
        found.dropped[exact] = 0
    return found, exact


@dataclass(kw_only=True)
class Mean:
    """The mean over folds or over criteria; members without a defined value are left out, in resamples too."""

    values: list[FloatArray] = field(default_factory=list)
    facts: list[list[Fact]] = field(default_factory=list)
    _sum: Array | None = None
    _missing: NDArray[np.int16] | None = None

    def add(self, measured: Measured) -> None:
        self.values.append(measured.values)
        self.facts.append(measured.facts)
        if measured.resamples is None:
            return
        if self._sum is None:
            self._sum = np.zeros_like(measured.resamples)
            self._missing = np.zeros(measured.resamples.shape, dtype=np.int16)
        undefined = np.isnan(measured.resamples)
        if undefined.any():
            self._missing += undefined
            self._sum += np.where(undefined, np.float32(0), measured.resamples)
        else:
            self._sum += measured.resamples

    def estimate(self, keys: list[Key], whole: list[Fact], level: float) -> Estimated:
        """The mean with its spread; `whole` are the facts of the pooled scope."""
        table = np.stack(self.values)
        defined = ~np.isnan(table)
        count = defined.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.where(defined, table, 0.0).sum(axis=0) / count
            square = (np.where(defined, table - values, 0.0) ** 2).sum(axis=0)
            std_pop, std_sample = np.sqrt(square / count), np.sqrt(square / (count - 1))
        std_sample[count < 2] = np.nan
        resamples = None
        if self._sum is not None and self._missing is not None:
            count_of = (len(self.values) - self._missing).astype(np.float32)
            with np.errstate(divide="ignore", invalid="ignore"):
                resamples = self._sum / count_of  # 0 / 0 is NaN: undefined in every member
        facts = [_about_mean(fact) for fact in whole]
        events = [
            _joined([facts[place] for facts, ok in zip(self.facts, defined[:, place], strict=True) if ok])
            for place in range(len(keys))
        ]
        found, exact = _intervals(values, resamples, events, level)
        return Estimated(
            keys=keys,
            facts=facts,
            values=values,
            intervals=found,
            exact=exact,
            std_sample=std_sample,
            std_pop=std_pop,
            averaged=count,
            members=len(self.values),
        )


def _about_mean(fact: Fact) -> Fact:
    empty = "no member has a defined value"
    return Fact(n=fact.n, n_docs=fact.n_docs, empty=empty, interval=fact.interval, biased=fact.biased)


def _joined(facts: list[Fact]) -> Events | None:
    """A mean of proportions as one: every member weighs the same, so small members cost effective trials."""
    events = [fact.events for fact in facts if fact.events is not None and fact.interval]
    if not events or len(events) < len(facts):
        return None
    sizes = np.array([max(event.effective, 1.0) for event in events])
    return Events(
        events=sum(event.events for event in events),
        trials=sum(event.trials for event in events),
        units=int(len(sizes) ** 2 / (1 / sizes).sum()),
        scale=events[0].scale,
    )
