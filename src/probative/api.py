"""The Python entry points that mirror the commands."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative.errors import ConfigError
from probative.evaluate.api import compare, evaluate

if TYPE_CHECKING:
    from probative.data import Corpus
    from probative.evaluate.records import MetricsMaster
    from probative.experiment.settings import RunSettings
    from probative.settings import Resolved

__all__ = ["Run", "compare", "evaluate", "run", "settle"]

Show = Callable[[float, str], None]
HEADLINE = ("ndcg@10", "recall@10", "mrr", "auroc", "auprc", "brier", "ece", "evidence_recall", "screening_sensitivity")


@dataclass(frozen=True, kw_only=True)
class Run:
    """A finished run: its folder, and its numbers."""

    folder: Path

    @cached_property
    def metrics(self) -> MetricsMaster:
        """Every metric of the run."""
        from probative.evaluate.records import MetricsMaster

        return MetricsMaster.read(self.folder / "metrics_master.json")

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The headline few."""
        return dict(json.loads((self.folder / "summary.json").read_text(encoding="utf-8")))

    def value(self, id: str, scope: str = "pooled", **where: Any) -> float | None:  # noqa: A002 - the contract's word
        """One value, such as run.value("ndcg@10")."""
        return self.metrics.value(id, scope, **where)


def settle(
    config: str | Path | None = None,
    *,
    quick: bool = False,
    assignments: Sequence[str] = (),
    flags: Mapping[str, Any] | None = None,
) -> Resolved[RunSettings]:
    """The settings of a run after preset, file, --quick, --set and flags."""
    from probative.experiment.settings import settle as settle_layers

    return settle_layers(Path(config) if config else None, quick=quick, assignments=assignments, flags=flags)


def run(
    config: RunSettings | str | Path | None = None,
    *,
    corpus: Corpus | str | Path | None = None,
    out: str | Path | None = None,
    quick: bool = False,
    settings: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    resume: bool = False,
    show: Show = lambda done, label: None,
) -> Run:
    """Nested cross-validation of the whole pipeline, evaluated, with tables, plots, audit and report.

    `settings` holds dotted names, such as {"graph.epochs": 5}. Without a corpus, the demo corpus (synthetic) is used.

    >>> import probative                                                       # doctest: +SKIP
    >>> probative.run(corpus="my_corpus", out="runs/first").value("ndcg@10")   # doctest: +SKIP
    """
    from probative.data import Corpus
    from probative.experiment.run import load_corpus, run_folds
    from probative.experiment.settings import RunSettings

    if not isinstance(config, RunSettings):
        config = settle(config, quick=quick, flags=settings).settings
    if isinstance(corpus, str | Path):
        config = config.model_copy(update={"corpus": str(corpus)})
    loaded = corpus if isinstance(corpus, Corpus) else load_corpus(config.corpus)
    folder = Path(out) if out else new_folder(loaded.meta.name)
    jobs = jobs or os.cpu_count() or 1

    def finish(result: Path) -> None:
        complete(result, config, show)

    run_folds(loaded, config, folder, jobs=jobs, resume=resume, show=show, finish=finish)
    return Run(folder=folder)


def new_folder(name: str) -> Path:
    """runs/NAME, or the first runs/NAME-2, -3, … that is not there."""
    base = Path("runs")
    for number in range(1, 10_000):
        folder = base / (name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            return folder
    raise ConfigError(f"{base}: holds ten thousand runs of {name}. Name the next one with --out.")


def complete(result: Path, config: RunSettings, show: Show) -> None:
    """Evaluate a run's tables, then audit and report them, then seal the folder."""
    from probative.evaluate.api import evaluate_source
    from probative.evaluate.readers import read_path
    from probative.experiment.run_tables import seal

    show(1.0, "evaluate")
    evaluation = evaluate_source(read_path(result), config.evaluate)
    evaluation.write(result)
    seal(result)
