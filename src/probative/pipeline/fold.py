"""One outer fold: what TUNE and EVAL were scored with, by either scheme of the contract (§1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from probative import files, segments
from probative.pipeline.chain import Passed, Report, Timing, pass_through
from probative.pipeline.stage import Stage
from probative.segments import IntArray
from probative.types import Inputs, Role

MakeStages = Callable[[Mapping[str, int] | None], Sequence[Stage]]
"""Epochs by stage, or None where STOP picks them → the stages of one chain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """TUNE and EVAL with the scores of every stage, and the models behind EVAL's."""

    tune: Inputs
    eval: Inputs | None
    """None where there is no EVAL: a model that is to be used."""
    timings: Sequence[Timing]
    models: Mapping[str, Path]


def holdout(
    make: MakeStages,
    train: Inputs,
    stop: Inputs,
    tune: Inputs,
    evaluation: Inputs | None,
    store: files.Store,
    *,
    context: Any,
    report: Report,
) -> Scored:
    """STOP, TUNE and EVAL are scored by one chain fitted on TRAIN."""
    inputs = {"train": train, "stop": stop, "tune": blind(tune), **_eval(evaluation)}
    passed = pass_through(make(None), inputs, store, context=context, report=report)
    scored = replace(passed.inputs["tune"], view=tune.view)
    return Scored(tune=scored, eval=passed.inputs.get("eval"), timings=passed.timings, models=passed.models)


def crossfit(
    make: MakeStages,
    known: Inputs,
    part: IntArray,
    stop_share: Callable[[Inputs], IntArray],
    evaluation: Inputs | None,
    store: files.Store,
    *,
    context: Any,
    report: Report,
) -> Scored:
    """Every part of the non-EVAL documents is scored by a chain fitted on the others; EVAL by one fitted on all.

    `part` has a number for every document of `known`; `stop_share` picks the documents of an inner TRAIN that become
    its STOP.
    """
    inner: list[Passed] = []
    held: list[IntArray] = []
    for number in np.unique(part):
        here = np.flatnonzero(part == number)
        rest = known.take(np.flatnonzero(part != number), Role.TRAIN)
        chosen = stop_share(rest)
        learning = np.setdiff1d(np.arange(rest.view.n_documents), chosen)
        inputs = {
            "train": rest.take(learning),
            "stop": rest.take(chosen, Role.STOP),
            "tune": blind(known.take(here, Role.TUNE)),
        }
        label = f"part {number + 1}: "
        inner.append(pass_through(make(None), inputs, store, context=context, report=lambda s, p=label: report(p + s)))  # type: ignore[misc]
        held.append(here)
    epochs = mean_epochs([passed.epochs for passed in inner])
    final = pass_through(make(epochs), {"train": known, **_eval(evaluation)}, store, context=context, report=report)
    tune = _together(known, [passed.inputs["tune"] for passed in inner], held)
    timings = [t for passed in inner for t in passed.timings] + list(final.timings)
    return Scored(tune=tune, eval=final.inputs.get("eval"), timings=timings, models=final.models)


def mean_epochs(chosen: Sequence[Mapping[str, float]]) -> dict[str, int]:
    """The rounded mean of what the inner fits chose, at least one."""
    stages = {stage for each in chosen for stage in each}
    return {s: max(1, round(float(np.mean([each[s] for each in chosen if s in each])))) for s in sorted(stages)}


def _eval(evaluation: Inputs | None) -> dict[str, Inputs]:
    return {} if evaluation is None else {"eval": evaluation}


def blind(inputs: Inputs) -> Inputs:
    """The inputs without any gold."""
    return replace(inputs, view=inputs.view.blind())


def _together(known: Inputs, parts: Sequence[Inputs], documents: Sequence[IntArray]) -> Inputs:
    """The parts' scores laid back over all documents they were cut from."""
    view = known.view.take(np.arange(known.view.n_documents), Role.TUNE)
    scores = {name: np.zeros(view.n_rows, dtype=values.dtype) for name, values in parts[0].scores.items()}
    gates = {name: np.zeros(view.n_queries) for name in parts[0].gates}
    pool = None if parts[0].pool is None else np.zeros(view.n_rows, dtype=bool)
    for inputs, here in zip(parts, documents, strict=True):
        queries = np.flatnonzero(np.isin(view.query_doc, here))
        rows = segments.rows(view.offsets, queries)
        for name, values in inputs.scores.items():
            scores[name][rows] = values
        for name, values in inputs.gates.items():
            gates[name][queries] = values
        if pool is not None and inputs.pool is not None:
            pool[rows] = inputs.pool
    return replace(known, view=view, scores=scores, gates=gates, pool=pool)
