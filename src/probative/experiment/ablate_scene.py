"""What an ablation looks at: every variant of the settings on every fold, scored once and kept in the stage cache."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from probative import files
from probative.data import Corpus, folds
from probative.encode import vectors_for
from probative.experiment import fold_tables
from probative.experiment.crew import Event, run_jobs
from probative.experiment.fold_job import FoldJob
from probative.experiment.progress import Show
from probative.experiment.settings import RunSettings
from probative.pipeline.chain import Timing
from probative.pipeline.fold import Scored
from probative.pipeline.learn import learn
from probative.segments import FloatArray
from probative.types import Inputs, Role

WHOLE, NO_EDGES, NO_GRAPH, LINEAR, RESTORED = "whole", "no_edges", "no_graph", "linear", "restored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The settings and the corpus of one way to run all folds."""

    name: str
    settings: RunSettings
    corpus: Corpus


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One fold of one variant: TUNE and EVAL with every score, gold included, since nothing is learned from here on."""

    fold: int
    scored: Scored
    evaluation: Inputs
    prior: FloatArray
    timings: Sequence[Timing]

    @property
    def tune(self) -> Inputs:
        return self.scored.tune


def variants(settings: RunSettings, corpus: Corpus) -> dict[str, Variant]:
    """The run itself, and every change to it that has to learn again."""

    def changed(name: str, **update: object) -> Variant:
        return Variant(name=name, settings=settings.model_copy(update=update), corpus=corpus)

    found = [changed(WHOLE)]
    rerank, graph = settings.rerank, settings.graph
    off = graph.model_copy(update={"on": False})
    if graph.on:
        edges = graph.edges.model_copy(update={"nearest": 0, "adjacent": False})
        found.append(changed(NO_EDGES, graph=graph.model_copy(update={"edges": edges})))
        if rerank.kind != "none":
            found.append(changed(NO_GRAPH, graph=off))
    if rerank.kind in ("cross", "none"):
        found.append(changed(LINEAR, graph=off, rerank=rerank.model_copy(update={"kind": "linear"})))
    if corpus.meta.exclude_from_training:
        back = replace(corpus, meta=replace(corpus.meta, exclude_from_training=()))
        found.append(Variant(name=RESTORED, settings=settings, corpus=back))
    return {variant.name: variant for variant in found}


def score(
    chosen: Mapping[str, Variant], table: pl.DataFrame, *, jobs: int, show: Show, within: Path
) -> dict[str, list[Scene]]:
    """Every variant on the same folds. Learning happens in fold processes, so that it is what a run computes."""
    numbers = sorted(table["fold"].unique())
    whole = chosen[WHOLE]
    show(0.0, "encode")
    vectors_for(whole.corpus.view(whole.corpus.doc_ids, Role.NEW, gold=False), whole.settings.encode)
    with tempfile.TemporaryDirectory(prefix=".ablate-", dir=within) as place:
        paths = [path for variant in chosen.values() for path in _jobs(variant, table, numbers, Path(place))]
        labels = [f"{name}, fold {n + 1}/{len(numbers)}" for name in chosen for n in range(len(numbers))]
        left = [0]

        def listen(event: Event) -> None:
            left[0] += event.kind == "left"
            show(left[0] / len(paths), f"{labels[event.job]} · {event.facts.get('stage', 'done')}")

        run_jobs(paths, at_once=jobs, threads=whole.settings.threads, listen=listen)
    scenes: dict[str, list[Scene]] = {}
    for name, variant in chosen.items():
        show(1.0, f"read {name}")
        scenes[name] = [_scene(variant, table, fold) for fold in numbers]
    return scenes


def _jobs(variant: Variant, table: pl.DataFrame, numbers: Sequence[int], place: Path) -> list[Path]:
    folder = place / variant.name
    snapshot = variant.corpus.write(folder / "corpus")
    table.write_parquet(folder / "folds.parquet")
    return [
        FoldJob(
            fold=fold,
            corpus=str(snapshot),
            folds=str(folder / "folds.parquet"),
            settings=variant.settings.model_dump(mode="json"),
            cache=str(files.cache_root()),
            out=str(folder / f"fold-{fold}"),
        ).write(folder / f"fold-{fold}.json")
        for fold in numbers
    ]


def _scene(variant: Variant, table: pl.DataFrame, fold: int) -> Scene:
    """From the cache that the fold's process has filled."""
    store = files.Store(files.cache_root() / "stages")
    train, scored = learn(variant.corpus, table, fold, variant.settings, store, lambda stage: None)
    if scored.eval is None:
        raise ValueError("a fold of a run has EVAL documents")
    shown = variant.corpus.view(folds.roles(table, fold)[Role.EVAL], Role.EVAL, gold=True)
    evaluation = _light(replace(scored.eval, view=shown))
    rates, overall = fold_tables.rates(train)
    return Scene(
        fold=fold,
        scored=replace(scored, tune=_light(scored.tune), eval=None),
        evaluation=evaluation,
        prior=fold_tables.prior(rates, overall, shown),
        timings=scored.timings,
    )


def _light(inputs: Inputs) -> Inputs:
    """Without the vectors, which nobody needs any more."""
    nothing = np.zeros((0, 0), dtype=np.float32)
    return replace(inputs, sentence_vectors=nothing, criterion_vectors=nothing)
