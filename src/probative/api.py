"""The Python entry points that mirror the commands."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative.errors import ConfigError
from probative.evaluation.api import compare, evaluate

if TYPE_CHECKING:
    from probative.data import Corpus
    from probative.evaluation.records import MetricsMaster
    from probative.experiment.settings import RunSettings
    from probative.experiment.tune_objective import Objective
    from probative.pipeline.screen import Screened
    from probative.settings import Resolved

__all__ = ["Ablation", "Fitted", "Run", "ablate", "compare", "evaluate", "fit", "run", "screen", "settle", "tune"]

Show = Callable[[float, str], None]
HEADLINE = (
    ("ndcg@10", None), ("recall@10", None), ("mrr", None), ("auroc", None), ("auprc", None), ("brier", None),
    ("ece", None), ("evidence_recall", "triage"), ("screening_sensitivity", None), ("alert_precision", None),
)  # fmt: skip
"""(id, mode) of what a finished run says in the terminal."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A finished run: its folder, and its numbers."""

    folder: Path

    @cached_property
    def metrics(self) -> MetricsMaster:
        """Every metric of the run."""
        from probative.evaluation.records import MetricsMaster

        return MetricsMaster.read(self.folder / "metrics_master.json")

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The headline few."""
        return dict(json.loads((self.folder / "summary.json").read_text(encoding="utf-8")))

    def value(self, id: str, scope: str = "pooled", **where: Any) -> float | None:  # noqa: A002 - the contract's word
        """One value, such as run.value("ndcg@10")."""
        return self.metrics.value(id, scope, **where)

    def lines(self) -> list[str]:
        """The headline metrics and where the results are, for a terminal."""
        said = []
        for name, mode in HEADLINE:
            record = self.metrics.get(name, mode=mode)
            if record is None or record["value"] is None:
                continue
            low, high = record["ci_low"], record["ci_high"]
            interval = "" if low is None else f"  95 % interval {low:.3f} to {high:.3f}"
            label = f"{name} ({mode})" if mode else name
            said.append(f"{label:<26} {record['value']:.3f}{interval}  {record['n']:,.0f} {record['population']}")
        manifest = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        if manifest["corpus"]["synthetic"]:
            said.append("The corpus is synthetic: these numbers show that the software works, not how good it is.")
        said.append(f"Everything is in {self.folder}; every number is in {self.folder / 'metrics_master.json'}.")
        return said


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


@dataclass(frozen=True, kw_only=True)
class Ablation:
    """A finished ablation: the run that it belongs to, and its numbers."""

    folder: Path
    document: Mapping[str, Any]

    def text(self, width: int = 100) -> str:
        """The table, and in words what each stage adds."""
        from probative.experiment.ablate_table import terminal

        return terminal(self.document, width)


def ablate(
    config: str | Path | None = None,
    *,
    corpus: Corpus | str | Path | None = None,
    out: str | Path | None = None,
    quick: bool = False,
    assignments: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    resume: bool = False,
    show: Show = lambda done, label: None,
) -> Ablation:
    """Measure what each stage adds to the run in `out`, which is made first where it is not there."""
    from probative.data import Corpus
    from probative.experiment.ablate import ablate as measure
    from probative.experiment.ablate import settings_of
    from probative.experiment.run import load_corpus

    flags = {**(settings or {}), **({"corpus": str(corpus)} if isinstance(corpus, str | Path) else {})}
    given = bool(config or quick or assignments or flags)
    chosen = settle(config, quick=quick, assignments=assignments, flags=flags).settings
    folder = Path(out) if out else None
    if folder is not None and (folder / "manifest.json").exists():
        chosen = settings_of(folder, chosen if given else None)
    loaded = corpus if isinstance(corpus, Corpus) else load_corpus(chosen.corpus)
    if folder is None or not (folder / "manifest.json").exists():
        folder = run(chosen, corpus=loaded, out=folder, jobs=jobs, resume=resume, show=show).folder
    return Ablation(
        folder=folder, document=measure(folder, loaded, chosen, jobs=jobs or os.cpu_count() or 1, show=show)
    )


def tune(
    config: RunSettings | str | Path,
    *,
    trials: int,
    corpus: Corpus | str | Path | None = None,
    out: str | Path = "tuned",
    storage: str | None = None,
    objective: Objective = "both",
    fold: int = 0,
    jobs: int = 1,
    resume: bool = False,
    assignments: Sequence[str] = (),
    show: Show = lambda done, label: None,
) -> dict[str, Any]:
    """Search for better settings inside TRAIN of one outer fold; writes best.yaml and tune.json to `out`."""
    from probative.data import Corpus
    from probative.experiment.run import load_corpus, reduced
    from probative.experiment.settings import RunSettings
    from probative.experiment.tune import tune as search

    flags = {"corpus": str(corpus)} if isinstance(corpus, str | Path) else {}
    if not isinstance(config, RunSettings):
        config = settle(config, assignments=assignments, flags=flags).settings
    loaded = corpus if isinstance(corpus, Corpus) else load_corpus(config.corpus)
    return search(
        reduced(loaded, config),
        config,
        Path(out),
        trials=trials,
        storage=storage,
        objective=objective,
        fold=fold,
        jobs=jobs,
        resume=resume,
        say=show,
    )


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A model folder, and whether its card carries figures."""

    folder: Path
    evaluated: str


def fit(
    corpus: Corpus | str | Path,
    config: RunSettings | str | Path | None = None,
    out: str | Path = "model",
    *,
    evidence: str | Path | None = None,
    report: Callable[[str], None] = lambda stage: None,
) -> Fitted:
    """Fit a model to use and write its folder, with a card that carries the figures of a run where settings agree."""
    from probative.experiment.run import load_corpus, reduced
    from probative.experiment.settings import RunSettings
    from probative.pipeline import Pipeline, PipelineSettings, card, model_folder

    folder = Path(out)
    model_folder.free(folder)
    chosen = config if isinstance(config, RunSettings) else settle(config).settings
    kept = chosen.model_dump(mode="json", include=set(PipelineSettings.model_fields))
    settings = PipelineSettings.model_validate(kept)
    loaded = load_corpus(str(corpus)) if isinstance(corpus, str | Path) else corpus
    loaded = reduced(loaded, chosen)
    found = card.evidence_of(Path(evidence) if evidence else None, settings, loaded.fingerprint)
    Pipeline.fit(loaded, settings, report=report).save(folder, evidence=found)
    return Fitted(folder=folder, evaluated=found.sentence)


def screen(
    model: str | Path,
    source: str | Path,
    out: str | Path,
    *,
    resume: bool = False,
    show_text: bool = False,
    parquet: bool = False,
    review: bool = True,
    prevalence: float | None = None,
    trust: bool = False,
    show: Callable[[int, str], None] = lambda done, label: None,
) -> Screened:
    """Decide about the documents of `source` with a model folder, and write the decisions to `out`."""
    from probative.pipeline import NewDocument, Pipeline, screen
    from probative.pipeline.reading import read, unique

    pipeline = Pipeline.load(model, trust=trust)
    asked = tuple(pipeline.criteria)

    def finish(folder: Path) -> None:
        if parquet:
            screen.write_parquet(folder, show_text=show_text)
        if review:
            from probative.report.review import write_review

            found = (row for row in unique(read(Path(source))) if isinstance(row, NewDocument))
            write_review(folder, documents=(replace(row, criteria=row.criteria or asked) for row in found))

    return screen.screen(
        pipeline,
        Path(source),
        Path(out),
        resume=resume,
        show_text=show_text,
        prevalence=prevalence,
        show=show,
        finish=finish,
    )


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
    from probative import files
    from probative.audit import data_statement
    from probative.evaluation.api import evaluate_source
    from probative.evaluation.readers import read_path
    from probative.experiment.run_tables import seal

    show(1.0, "evaluate")
    source = replace(read_path(result), origin="per_query.csv")
    evaluation = evaluate_source(source, config.evaluate)
    evaluation.write(result)
    facts = json.loads((result / "manifest.json").read_text(encoding="utf-8"))
    files.write_text(result / "data_statement.md", data_statement(facts))
    seal(result)
    judge(result, config, show)


def judge(result: Path, config: RunSettings, show: Show) -> None:
    """Audit and report what lies in a run folder, then seal it."""
    from probative import files
    from probative.audit import audit
    from probative.experiment.run_tables import contents, seal
    from probative.report import write_report

    facts = json.loads((result / "manifest.json").read_text(encoding="utf-8"))
    show(1.0, "audit")
    files.write_json(result / "audit.json", audit(result, config.corpus))
    show(1.0, "report")
    write_report(result)
    files.write_text(result / "MANIFEST.md", contents(facts))
    seal(result)
