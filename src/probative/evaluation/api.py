"""`probative.evaluate` and `probative.compare`: from files or Python objects to numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from probative.errors import ConfigError
from probative.evaluation import compare as comparing
from probative.evaluation import engine
from probative.evaluation.comparison import Comparison
from probative.evaluation.output import write_tables
from probative.evaluation.readers import Source, read_any
from probative.evaluation.records import MetricsMaster, Record
from probative.evaluation.settings import EvaluateSettings
from probative.evaluation.table import View, headline_mode, render
from probative.metrics import registry

Resample = Literal["documents", "queries"]
Ties = Literal["listed", "expected", "trec"]
META = ("config_hash", "seed", "corpus", "probative")


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Every metric of one set of predictions; prints as the table that the command shows."""

    master: MetricsMaster
    notes: tuple[str, ...] = ()

    def value(self, id: str, scope: str = "pooled", **where: Any) -> float | None:  # noqa: A002 - the contract's word
        """One value; None when it could not be computed. `where`: population, mode, criteria, stage."""
        record = self.record(id, scope, **where)
        return None if record is None else record["value"]

    def record(self, id: str, scope: str = "pooled", **where: Any) -> Record | None:  # noqa: A002 - as above
        """One record with its interval, n and population; the headline population and mode where none is named."""
        if registry.lookup(id).by_mode:
            where.setdefault("mode", headline_mode(self.master))
        return self.master.get(id, scope, **where)

    def write(self, folder: str | Path) -> None:
        """metrics_master.json, summary.json and tables/, whole or not at all."""
        write_tables(self.master, Path(folder))

    def __str__(self) -> str:
        return render(self.master, View(), width=100).plain


def evaluate(
    source: Any,
    *,
    gold: Any = None,
    probs: Any = None,
    pairs: Any = None,
    bootstrap: int = 10_000,
    seed: int = 0,
    resample: Resample = "documents",
    ties: Ties = "listed",
) -> Evaluation:
    """Measure predictions: a run folder, a per_query file or frame; or, with `gold`, scores in any common shape.

    >>> scores = {"letter_1::refund": {"s1": 0.2, "s2": 0.9}, "letter_2::refund": {"s1": 0.4, "s2": 0.3}}
    >>> evaluate(scores, gold={"letter_1::refund": ["s2"], "letter_2::refund": []}, bootstrap=0).value("recall@1")
    1.0
    """
    settings = EvaluateSettings(bootstrap=bootstrap, seed=seed, resample=resample, ties=ties)
    return evaluate_source(read_any(source, gold=gold, probs=probs, pairs=pairs, ties=ties), settings)


def evaluate_source(source: Source, settings: EvaluateSettings, progress: engine.Progress | None = None) -> Evaluation:
    """Measure what a reader read."""
    master = engine.evaluate(
        source.predictions, settings, stages=source.stages, meta=meta_of(source), progress=progress
    )
    return Evaluation(master=master, notes=source.notes)


def meta_of(source: Source) -> dict[str, Any]:
    """What the metrics document says about where its predictions come from; no path, so that it is reproducible."""
    run: Mapping[str, Any] = {name: source.manifest[name] for name in META if name in source.manifest}
    return {"source": Path(source.origin).name, "n_unlabelled": source.n_unlabelled, **({"run": run} if run else {})}


def compare(
    base: Any,
    *others: Any,
    gold: Any = None,
    probs: Sequence[Any] = (),
    pairs: Any = None,
    metrics: Sequence[str] = (),
    names: Sequence[str] = (),
    bootstrap: int = 10_000,
    seed: int = 0,
    resample: Resample = "documents",
    ties: Ties = "listed",
) -> Comparison:
    """Compare systems with the first one on the same queries and resamples; `probs` holds one table a system."""
    settings = EvaluateSettings(bootstrap=bootstrap, seed=seed, resample=resample, ties=ties)
    given = (base, *others)
    tables = list(probs) or [None] * len(given)
    if len(tables) != len(given):
        raise ConfigError(
            f"{len(given)} systems need {len(given)} tables of probabilities (--probs), not {len(tables)}."
        )
    sources = [
        read_any(one, gold=gold, probs=table, pairs=pairs, ties=ties) for one, table in zip(given, tables, strict=True)
    ]
    labels = list(names) or comparing.names([source.origin for source in sources])
    systems = [
        comparing.System(name=name, predictions=source.predictions)
        for name, source in zip(labels, sources, strict=True)
    ]
    return comparing.compare(systems, metrics, settings)
