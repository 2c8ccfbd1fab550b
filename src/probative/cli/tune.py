"""`probative tune`: search for better settings."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer

from probative.cli import manners

EPILOG = "Example: probative tune config.yaml --trials 50 --out tuned; then: probative run tuned/best.yaml"


def tune(
    config: Path = typer.Argument(help="The configuration to start from; its own values are the first trial."),
    trials: int = typer.Option(..., "--trials", min=1, help="Trials in all, over all processes and resumptions."),
    corpus: str | None = typer.Option(None, "--corpus", help="A corpus folder, if CONFIG names none."),
    out: Path = typer.Option(Path("tuned"), "--out", "-o", help="Where best.yaml and tune.json go."),
    storage: str | None = typer.Option(
        None, "--storage", metavar="PATH|URL", help="A journal file or database URL that several processes share."
    ),
    objective: Literal["both", "ndcg@10", "auroc"] = typer.Option("both", "--objective", help="What is made higher."),
    fold: int = typer.Option(0, "--fold", min=0, help="The outer fold whose TRAIN is searched in."),
    jobs: int = typer.Option(1, "--jobs", min=1, help="Trials at the same time."),
    resume: bool = typer.Option(False, "--resume", help="Continue or join a search that has begun."),
    assignments: list[str] = typer.Option([], "--set", help="One setting, such as graph.pool=48; repeatable."),
    as_json: bool = typer.Option(False, "--json", help="Print tune.json alone."),
) -> None:
    """Search inside TRAIN of one outer fold; its TUNE and EVAL documents are never read.

    Writes best.yaml, which `probative run` takes, and says how sure the best is.
    """
    from probative import api
    from probative.experiment.tune import lines

    with manners.progress("starting", total=float(trials)) as show:
        found = api.tune(
            config,
            corpus=corpus,
            out=out,
            trials=trials,
            storage=storage,
            objective=objective,
            fold=fold,
            jobs=jobs,
            resume=resume,
            assignments=assignments,
            show=show,
        )
    if as_json:
        manners.print_json(found)
        return
    for line in lines(found, out):
        typer.echo(line)
