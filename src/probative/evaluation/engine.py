"""Predictions to metrics_master: every id, scope, mode and stage that the inputs allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from probative.errors import DataError
from probative.evaluation import (
    curve,
    invariants,
    inventory,
    of_calibration,
    of_detection,
    of_documents,
    of_extraction,
    of_ranking,
    of_triage,
    series,
)
from probative.evaluation.bootstrap import Estimated, Mean, Measured, estimate, measure
from probative.evaluation.curve import Part
from probative.evaluation.cut import Cut, Prepared
from probative.evaluation.predictions import Predictions
from probative.evaluation.records import MetricsMaster, Record, number
from probative.evaluation.resample import Draw, units
from probative.evaluation.scopes import Scope, criteria_sets, scopes, small_criteria
from probative.evaluation.settings import EvaluateSettings
from probative.metrics import registry

FINAL = frozenset({"counts", "ranking", "detection", "calibration", "extraction", "triage", "documents"})
STAGE = frozenset({"ranking", "detection", "calibration"})
PRIOR = frozenset({"detection", "calibration"})
BIASED = "the interval is biased upward"
Progress = Callable[[float, str], None]


def evaluate(
    predictions: Predictions,
    settings: EvaluateSettings | None = None,
    *,
    stages: Mapping[str, Predictions] | None = None,
    meta: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> MetricsMaster:
    """Measure predictions. `stages` are the same queries as earlier stages ranked and judged them."""
    settings = settings or EvaluateSettings()
    check_ties(predictions, settings)
    unit_table = units(predictions, settings.resample)
    draw = Draw(unit_table.stratum, settings.bootstrap, settings.seed) if settings.bootstrap else None
    records: list[Record] = []
    curves: list[dict[str, Any]] = []
    every = list(_stages(predictions, stages or {}))
    for done, (name, table, families) in enumerate(every):
        if progress:
            progress(done / len(every), f"measuring {name}")
        prepared = Prepared(predictions=table, units=unit_table, tie_mode=settings.ties)
        records += Stage(name=name, prepared=prepared, families=families, draw=draw, settings=settings).records()
        curves += series.of(name, prepared, draw, settings)
    master = MetricsMaster(meta=inventory.meta(predictions, settings, meta or {}), metrics=records, series=curves)
    tables = series.criteria(master) if len(predictions.criterion_ids) <= settings.criteria_limit else []
    return replace(master, meta={**master.meta, **_verdicts(master)}, series=[*curves, *tables])


def check_ties(predictions: Predictions, settings: EvaluateSettings) -> None:
    """Refuse to average over orders of scores that are not there."""
    if settings.ties == "expected" and predictions.row_score is None:
        raise DataError(
            "ties = expected needs the scores of the rankings: give the column ranked_scores, or a score file."
        )


def _verdicts(master: MetricsMaster) -> dict[str, Any]:
    return {"flags": inventory.flags(master), "invariants": invariants.check_invariants(master)}


def _stages(final: Predictions, stages: Mapping[str, Predictions]) -> Iterator[tuple[str, Predictions, frozenset[str]]]:
    yield "final", final, FINAL
    for name, table in stages.items():
        same = (
            table.doc_ids == final.doc_ids
            and table.criterion_ids == final.criterion_ids
            and np.array_equal(table.doc, final.doc)
            and np.array_equal(table.criterion, final.criterion)
        )
        if not same:
            raise DataError(f"stage {name!r} holds other queries than the final predictions; write both from one run.")
        yield name, replace(table, excluded=final.excluded, fold=final.fold), STAGE
    if final.prior is not None:
        prior = replace(
            final,
            prob=final.prior,
            prob_raw=None,
            threshold=None,
            tau_neg=None,
            tau_pos=None,
            predicted=None,
            state=None,
            selections={},
            budget_thresholds={},
            row_offsets=None,
            row_score=None,
            row_gold=None,
        )
        yield "prior", prior, PRIOR


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One table of predictions and what is measured on it."""

    name: str
    prepared: Prepared
    families: frozenset[str]
    draw: Draw | None
    settings: EvaluateSettings

    def parts(self, rows: Any) -> tuple[Cut, list[Part]]:
        """Everything that is measured on some queries."""
        cut = Cut(prepared=self.prepared, rows=rows)
        totals = cut.totals()
        adders = {
            "counts": of_detection.counts,
            "ranking": of_ranking.add,
            "detection": of_detection.decisions,
            "calibration": of_calibration.add,
            "extraction": of_extraction.add,
            "triage": of_triage.add,
            "documents": of_documents.add,
        }
        for family, add in adders.items():
            if family in self.families:
                add(cut, totals)
        parts: list[Part] = [totals]
        if "detection" in self.families:
            parts += curve.detection_parts(cut)
        return cut, parts

    def measure(self, scope: Scope) -> Measured:
        """Values and resamples of one scope."""
        cut, parts = self.parts(scope.rows)
        return measure(parts, cut.units, self.draw)

    def records(self) -> list[Record]:
        """Every scope of every set of criteria, and the means over folds and criteria."""
        predictions = self.prepared.predictions
        few = len(predictions.criterion_ids) <= self.settings.criteria_limit
        small = small_criteria(predictions)
        sets = criteria_sets(predictions)
        macro = {name: Mean() for name in sets}
        written: list[Record] = []
        for criteria, inside in sets.items():
            folds, pooled = Mean(), None
            write = Writer(stage=self.name, criteria=criteria, settings=self.settings, small=small)
            for scope in scopes(predictions, inside, criteria=few and criteria == "all"):
                if not len(scope.rows):
                    continue
                measured = self.measure(scope)
                if scope.kind == "pooled":
                    pooled = measured
                elif scope.kind == "fold":
                    folds.add(measured)
                elif scope.kind == "criterion":
                    for name, mean in macro.items():
                        if name == "all" or scope.name.removeprefix("criterion:") not in predictions.excluded:
                            mean.add(measured)
                written += write(scope.name, estimate(measured, self.settings.level))
            for name, mean in (("fold_mean", folds), ("criterion_macro", macro[criteria])):
                if pooled is not None and mean.values:
                    written += write(name, mean.estimate(pooled.keys, pooled.facts, self.settings.level))
        return written


@dataclass(frozen=True, kw_only=True)
class Writer:
    """Estimates as records."""

    stage: str
    criteria: str
    settings: EvaluateSettings
    small: frozenset[str]

    def __call__(self, scope: str, estimated: Estimated) -> list[Record]:
        return [self._record(scope, estimated, place) for place in range(len(estimated.keys))]

    def _record(self, scope: str, e: Estimated, place: int) -> Record:
        key, fact = e.keys[place], e.facts[place]
        entry = registry.lookup(key.id)
        defined = bool(np.isfinite(e.values[place]))
        record: Record = {"id": key.id, "scope": scope, "population": key.population}
        if key.mode:
            record["mode"] = key.mode
        record |= {
            "criteria": self.criteria,
            "stage": self.stage,
            "value": number(e.values[place]) if defined else fact.fallback,
            "reason": None if defined else fact.empty,
            "n": fact.n,
            "n_docs": fact.n_docs,
        }
        if fact.spread and defined:
            record |= {name: getattr(fact.spread, name) for name in ("std", "median", "p25", "p75")}
        if e.std_sample is not None and e.std_pop is not None and e.averaged is not None:
            record |= {
                "std_sample": number(e.std_sample[place]),
                "std_pop": number(e.std_pop[place]),
                "averaged": int(e.averaged[place]),
                "left_out": e.members - int(e.averaged[place]),
            }
        record |= self._interval(e, place, defined)
        record |= {"source": list(entry.sources), "default": entry.is_default(key.population, key.mode)}
        notes = [fact.note, BIASED if fact.biased and record["ci_low"] is not None else ""]
        if any(notes):
            record["note"] = "; ".join(note for note in notes if note)
        if scope.partition(":")[2] in self.small and scope.startswith("criterion:"):
            record["small"] = True
        return record

    def _interval(self, e: Estimated, place: int, defined: bool) -> Record:
        found = e.intervals
        if found is None or not defined or not np.isfinite(found.low[place]):
            return {"ci_low": None, "ci_high": None, "ci_method": None}
        units = "docs" if self.settings.resample == "documents" else "queries"
        method = f"clopper_pearson_{units}" if e.exact[place] else "percentile"
        interval: Record = {
            "ci_low": float(found.low[place]),
            "ci_high": float(found.high[place]),
            "ci_method": method if units == "docs" or e.exact[place] else "percentile_queries",
        }
        if found.dropped[place]:
            interval["dropped"] = int(found.dropped[place])
        return interval
