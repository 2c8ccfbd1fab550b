"""`probative fit`: a model folder."""

from __future__ import annotations

from pathlib import Path

import typer

from probative.cli import manners

EPILOG = "Example: probative fit --corpus my_corpus -o model --evidence runs/first"


def fit(
    config: Path | None = typer.Argument(None, help="A YAML file with settings, the one that was evaluated."),
    corpus: str = typer.Option(..., "--corpus", help="The labelled corpus folder, or `demo`."),
    out: Path = typer.Option(..., "--out", "-o", help="The model folder; must not exist."),
    evidence: Path | None = typer.Option(
        None, "--evidence", metavar="RUN", help="A run whose figures go into the model card, if its settings agree."
    ),
    seed: int | None = typer.Option(None, "--seed", help="Decides every random choice."),
    assignments: list[str] = typer.Option([], "--set", help="One setting, such as decide.fpr_budget=0.03; repeatable."),
) -> None:
    """Fit a model to use: exactly the procedure that `run` evaluates, with no document held out for evaluation."""
    from probative import api

    flags = {} if seed is None else {"seed": seed}
    resolved = api.settle(config, assignments=assignments, flags=flags)
    with manners.progress("fitting") as show:
        made = api.fit(corpus, resolved.settings, out, evidence=evidence, report=lambda stage: show(0.0, stage))
    typer.echo(f"The model is in {made.folder}. Its card: {made.folder / 'README.md'}")
    typer.echo(made.evaluated)
