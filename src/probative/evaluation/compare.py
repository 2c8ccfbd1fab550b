"""Two or more systems on the same queries: paired intervals, the swap test, Holm, effect size, wins and losses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from probative.errors import ConfigError, DataError
from probative.evaluation import intervals, swap
from probative.evaluation.comparison import Comparison, Row, SystemValue
from probative.evaluation.curve import Part
from probative.evaluation.cut import Prepared
from probative.evaluation.engine import Stage, check_ties
from probative.evaluation.predictions import Predictions
from probative.evaluation.resample import BLOCK, Draw, Units, units
from probative.evaluation.settings import EvaluateSettings
from probative.evaluation.totals import Array, Key, Totals
from probative.metrics import divide, registry
from probative.segments import FloatArray, IntArray

HEADLINE = (
    *("ndcg@10", "recall@10", "mrr", "map@10", "auroc", "auprc", "tpr@fpr=0.05", "brier", "ece"),
    *("evidence_recall", "evidence_precision", "screening_sensitivity", "alert_precision"),
)
FAMILIES = {
    "2": ("ranking",),
    "3": ("counts", "detection"),
    "4": ("calibration",),
    "5": ("extraction",),
    "6": ("extraction",),
    "7": ("triage",),
    "8": ("documents",),
}
"""The engine's families by section of the contract."""
SHOWN = 5
FEW = 20_000
"""With more documents than this, wins and losses are not counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """Predictions under a name."""

    name: str
    predictions: Predictions


def compare(
    systems: Sequence[System], metrics: Sequence[str] = (), settings: EvaluateSettings | None = None
) -> Comparison:
    """Compare every system with the first one on the same resamples.

    A metric is an id, or `id:population` or `id:mode` for another than its default, as in `ndcg@10:all_queries`.
    """
    settings = settings or EvaluateSettings()
    if len(systems) < 2:
        raise ConfigError("compare needs at least two systems: a base and one other.")
    base, *others = systems
    for other in others:
        check_same_queries(base, other)
    for system in systems:
        check_ties(system.predictions, settings)
    unit_table = units(base.predictions, settings.resample)
    draw = Draw(unit_table.stratum, settings.bootstrap, settings.seed) if settings.bootstrap else None
    families = _families(metrics or HEADLINE)
    parts = [_parts(system.predictions, unit_table, families, settings) for system in systems]
    wanted, missing = _choose([part.keys for part in parts], metrics)
    measured = [
        _Measured.of(system, part.only(wanted), wanted, len(unit_table), draw)
        for system, part in zip(systems, parts, strict=True)
    ]
    rows: list[Row] = []
    for against in measured[1:]:
        p = _swap_test(measured[0], against, wanted, unit_table, settings)
        rows += _rows(measured[0], against, wanted, p, settings.level)
    adjusted = swap.holm(np.array([np.nan if row.p is None else row.p for row in rows]))
    return Comparison(
        systems=tuple(system.name for system in systems),
        values=tuple(value for one in measured for value in one.values(settings.level)),
        rows=tuple(row.with_holm(_or_none(p)) for row, p in zip(rows, adjusted, strict=True)),
        not_computed=tuple(missing),
        n_queries=base.predictions.n_queries,
        n_docs=len(base.predictions.doc_ids),
        resamples=settings.bootstrap,
        seed=settings.seed,
        unit=settings.resample,
        level=settings.level,
    )


def check_same_queries(base: System, other: System) -> None:
    """Refuse systems that hold different queries or different gold, and say which."""
    a, b = base.predictions, other.predictions
    if not _same_queries(a, b):
        known, found = (set(_queries(p, np.arange(p.n_queries))) for p in (a, b))
        told = [
            f"{len(only):,} only in {name} ({_some(only)})"
            for name, only in ((base.name, sorted(known - found)), (other.name, sorted(found - known)))
            if only
        ]
        raise DataError(
            f"{base.name} and {other.name} hold different queries: {'; '.join(told)}. "
            "Compare systems on the same queries: give both the same `--pairs`, or leave out the others."
        )
    for system, mine, theirs in ((base, a, b), (other, b, a)):
        bare = np.flatnonzero((mine.n_candidates == 0) & (theirs.n_candidates > 0))
        if len(bare):
            raise DataError(
                f"{base.name} and {other.name} hold different queries: {system.name} has no candidates for "
                f"{len(bare):,} that the other ranks ({_some(_queries(a, bare))}). Add them, or leave them out of both."
            )
    different = (a.positive != b.positive) | (np.diff(a.gold_offsets) != np.diff(b.gold_offsets))
    if a.gold_hash is not None and b.gold_hash is not None:
        different |= a.gold_hash != b.gold_hash
    differ = np.flatnonzero(different)
    if len(differ):
        raise DataError(
            f"{base.name} and {other.name} have different gold for {len(differ):,} queries "
            f"({_some(_queries(a, differ))}). Evaluate both against one gold file."
        )


def _same_queries(a: Predictions, b: Predictions) -> bool:
    names = a.doc_ids == b.doc_ids and a.criterion_ids == b.criterion_ids
    return names and np.array_equal(a.doc, b.doc) and np.array_equal(a.criterion, b.criterion)


def _queries(p: Predictions, at: IntArray) -> list[tuple[str, str]]:
    return [(p.doc_ids[d], p.criterion_ids[c]) for d, c in zip(p.doc[at], p.criterion[at], strict=True)]


def _some(queries: Sequence[tuple[str, str]]) -> str:
    named = ", ".join(f"{doc} / {criterion}" for doc, criterion in queries[:SHOWN])
    return named + (", …" if len(queries) > SHOWN else "")


def _families(metrics: Iterable[str]) -> list[str]:
    """What has to be measured for some ids."""
    sections = (registry.lookup(name.partition(":")[0]).section[0] for name in metrics)
    return list(dict.fromkeys(family for section in sections for family in FAMILIES[section]))


def _parts(system: Predictions, unit_table: Units, families: Iterable[str], settings: EvaluateSettings) -> _Joined:
    """Everything that is measured on all queries of some families."""
    prepared = Prepared(predictions=system, units=unit_table, tie_mode=settings.ties)
    found: list[Part] = []
    for family in families:
        stage = Stage(name="final", prepared=prepared, families=frozenset({family}), draw=None, settings=settings)
        found += stage.parts(np.arange(system.n_queries))[1]
    return _Joined(found)


class _Joined:
    """Some parts as one."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self.keys = [key for part in parts for key in part.keys]
        self.facts = [fact for part in parts for fact in part.facts]

    def only(self, wanted: Sequence[Key]) -> _Joined:
        """Fewer metrics."""
        kept = [part for part in self.parts if set(part.keys) & set(wanted)]
        return _Joined([part.only(wanted) if isinstance(part, Totals) else part for part in kept])

    def point(self) -> FloatArray:
        return np.concatenate([part.point() for part in self.parts])

    def resampled(self, weights: Array) -> Array:
        return np.concatenate([part.resampled(weights) for part in self.parts])


def _choose(offered: Sequence[Sequence[Key]], metrics: Sequence[str]) -> tuple[list[Key], list[str]]:
    """The keys to compare, and the asked ids that some system lacks the columns for."""
    wanted: list[Key] = []
    missing: list[str] = []
    for text in metrics or HEADLINE:
        name, _, variant = text.partition(":")
        registry.lookup(name)
        shared = [key for key in offered[0] if key.id == name and all(key in keys for keys in offered[1:])]
        fitting = [key for key in shared if variant in (key.population, key.mode)] if variant else shared
        best = [key for key in fitting if registry.lookup(name).is_default(key.population, key.mode)] or fitting
        if best:
            wanted.append(best[0])
        elif shared:
            known = sorted({part for key in shared for part in (key.population, key.mode) if part})
            raise ConfigError(f"--metric {text}: {name} is there for {', '.join(known)}, not {variant!r}.")
        else:
            missing.append(text)
    if not wanted:
        raise ConfigError(f"none of {', '.join(missing)} can be computed for all systems: columns are missing.")
    return list(dict.fromkeys(wanted)), missing if metrics else []


@dataclass(frozen=True, kw_only=True)
class _Measured:
    """The wanted metrics of one system: values, resamples and values of every single document."""

    system: System
    keys: list[Key]
    n_units: int
    n: list[int]
    point: FloatArray
    resamples: Array | None
    single: Array | None

    @classmethod
    def of(cls, system: System, part: _Joined, wanted: list[Key], n_units: int, draw: Draw | None) -> _Measured:
        at = np.array([part.keys.index(key) for key in wanted])
        resamples = None
        if draw is not None:
            resamples = np.empty((len(wanted), draw.resamples), dtype=np.float32)
            for place, weights in draw.blocks():
                resamples[:, place] = part.resampled(weights)[at]
        single = _one_by_one(part, at, n_units) if n_units <= FEW else None
        n = [part.facts[i].n for i in at]
        return cls(
            system=system, keys=wanted, n_units=n_units, n=n, point=part.point()[at], resamples=resamples, single=single
        )

    def values(self, level: float) -> list[SystemValue]:
        low = high = np.full(len(self.keys), np.nan)
        if self.resamples is not None:
            bounds = intervals.percentile(self.resamples.copy(), level)
            low, high = bounds.low, bounds.high
        return [
            SystemValue(
                system=self.system.name,
                key=key,
                value=_or_none(self.point[i]),
                ci_low=_or_none(low[i]),
                ci_high=_or_none(high[i]),
            )
            for i, key in enumerate(self.keys)
        ]


def _one_by_one(part: _Joined, at: IntArray, n_units: int) -> Array:
    """(m, U) the metrics of every unit on its own, NaN where it has none."""
    out = np.empty((len(at), n_units), dtype=np.float32)
    for start in range(0, n_units, BLOCK):
        stop = min(start + BLOCK, n_units)
        weights = np.zeros((n_units, stop - start), dtype=np.float32)
        weights[np.arange(start, stop), np.arange(stop - start)] = 1.0
        out[:, start:stop] = part.resampled(weights)[at]
    return out


def _swap_test(
    base: _Measured, other: _Measured, wanted: list[Key], unit_table: Units, settings: EvaluateSettings
) -> FloatArray:
    if not settings.bootstrap:
        return np.full(len(wanted), np.nan)
    n = len(unit_table)
    both = Units(
        unit=np.concatenate([unit_table.unit, unit_table.unit + n]),
        stratum=np.tile(unit_table.stratum, 2),
        kind=unit_table.kind,
    )
    together = swap.stacked(base.system.predictions, other.system.predictions)
    part = _parts(together, both, _families([key.id for key in wanted]), settings).only(wanted)
    at = np.array([part.keys.index(key) for key in wanted])
    return swap.p_values(part, at, other.point - base.point, n, settings.bootstrap, settings.seed)


def _rows(base: _Measured, other: _Measured, wanted: list[Key], p: FloatArray, level: float) -> list[Row]:
    difference = other.point - base.point
    low = high = effect = np.full(len(wanted), np.nan)
    dropped = np.zeros(len(wanted), dtype=np.int64)
    if base.resamples is not None and other.resamples is not None:
        paired = other.resamples.astype(np.float64) - base.resamples
        error = _std(paired)
        bounds = intervals.percentile(paired, level)
        low, high, dropped = bounds.low, bounds.high, bounds.dropped
        scale = error * np.sqrt(base.n_units)
        effect = np.divide(difference, scale, out=np.full(len(wanted), np.nan), where=scale > swap.ROUNDING)
    return [
        Row(
            base=base.system.name,
            other=other.system.name,
            key=key,
            base_value=_or_none(base.point[i]),
            other_value=_or_none(other.point[i]),
            difference=_or_none(difference[i]),
            ci_low=_or_none(low[i]),
            ci_high=_or_none(high[i]),
            p=_or_none(p[i]),
            effect=_or_none(effect[i]),
            record=_record(base, other, i, registry.lookup(key.id).better),
            n=base.n[i],
            dropped=int(dropped[i]),
        )
        for i, key in enumerate(wanted)
    ]


def _std(resamples: FloatArray) -> FloatArray:
    """(m,) of the defined resamples; NaN where there is none."""
    known = np.isfinite(resamples)
    count = known.sum(axis=1)
    mean = divide(np.where(known, resamples, 0.0).sum(axis=1), count)
    square = np.where(known, resamples - mean[:, None], 0.0) ** 2
    return np.where(count > 0, np.sqrt(divide(square.sum(axis=1), count)), np.nan)


def _record(base: _Measured, other: _Measured, i: int, better: str) -> tuple[int, int, int] | None:
    """Documents on which the other system is better, equal, worse."""
    if base.single is None or other.single is None or better not in ("higher", "lower"):
        return None
    gap = other.single[i].astype(np.float64) - base.single[i]
    gap = gap if better == "higher" else -gap
    known = np.isfinite(gap)
    if not known.any():
        return None
    wins, losses = int((gap > swap.ROUNDING).sum()), int((gap < -swap.ROUNDING).sum())
    return wins, int(known.sum()) - wins - losses, losses


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def names(origins: Sequence[str]) -> list[str]:
    """Short names of systems: file or folder names where they differ, else whole paths, else numbers."""
    short = [Path(origin).stem if Path(origin).suffix else Path(origin).name for origin in origins]
    for choice in (short, list(origins)):
        if len(set(choice)) == len(choice):
            return choice
    return [f"{name} ({number})" for number, name in enumerate(short, start=1)]
