"""What a worker does: one outer fold, from vectors to the tables of its EVAL documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from probative import files
from probative.data import Corpus
from probative.decide import sigmoid
from probative.experiment import fold_tables
from probative.experiment.settings import RunSettings
from probative.pipeline.fold import Scored, blind
from probative.pipeline.learn import learn
from probative.pipeline.pipeline import fit_decider
from probative.pipeline.ranking import rankings
from probative.segments import BoolArray
from probative.types import View


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldJob:
    """Where a fold's inputs lie and where its tables go."""

    fold: int
    corpus: str
    folds: str
    settings: dict[str, Any]
    cache: str
    out: str

    @classmethod
    def read(cls, path: Path) -> FoldJob:
        return cls(**json.loads(path.read_text()))

    def write(self, path: Path) -> Path:
        files.write_json(path, asdict(self))
        return path


def compute(job: FoldJob, report: Callable[[str], None]) -> None:
    """Score the fold, decide, and write its tables whole or not at all."""
    out = Path(job.out)
    if out.exists():
        return
    settings = RunSettings.model_validate(job.settings)
    corpus = Corpus.read(job.corpus)
    store = files.Store(Path(job.cache) / "stages")
    train, scored = learn(corpus, pl.read_parquet(job.folds), job.fold, settings, store, report)
    report("decide")
    with files.writing_folder(out) as folder:
        facts = _write(folder, job.fold, settings, train, scored)
        timings = [asdict(t) for t in scored.timings]
        files.write_json(folder / "fold.json", {"fold": job.fold, **facts, "timings": timings})


def _write(folder: Path, fold: int, settings: RunSettings, train: View, scored: Scored) -> dict[str, Any]:
    if scored.eval is None:
        raise ValueError("a fold of a run has EVAL documents")
    tune, evaluation = scored.tune, scored.eval
    labels = _labels(tune.view)
    decider = fit_decider(scored, settings)
    ranking = rankings(evaluation)["final"]
    decided = decider.decide(
        evaluation.gates["final"],
        ranking.order,
        sigmoid(evaluation.scores["final_node"]),
        evaluation.pool,
        evaluation.view.offsets,
    )
    rates, overall = fold_tables.rates(train)
    prior = fold_tables.prior(rates, overall, evaluation.view)
    fold_tables.queries(evaluation, ranking, decided, prior, fold).write_parquet(folder / "per_query.parquet")
    fold_tables.candidates(evaluation, ranking, fold).write_parquet(folder / "candidates.parquet")
    fold_tables.tune_queries(tune, decider, labels, fold).write_parquet(folder / "tune_queries.parquet")
    for stage, table in fold_tables.stages(blind(tune), evaluation, labels, fold).items():
        table.write_parquet(folder / f"stage-{stage}.parquet")
    return {"scheme": settings.folds.scheme, **decider.to_dict()}


def _labels(view: View) -> BoolArray:
    if view.has_evidence is None:
        raise ValueError("TUNE must hold its gold")
    return view.has_evidence
