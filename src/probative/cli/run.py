"""`probative run`: the main job."""

from __future__ import annotations

from pathlib import Path

import typer

from probative.cli import manners

EPILOG = "Example: probative run --corpus my_corpus --out runs/first --set decide.fpr_budget=0.03"


def run(
    config: Path | None = typer.Argument(None, help="A YAML file with settings; `--explain` shows what it becomes."),
    corpus: str | None = typer.Option(None, "--corpus", help="A corpus folder; without it, the demo corpus."),
    out: Path | None = typer.Option(None, "--out", "-o", help="The run folder; without it, a new one under runs/."),
    quick: bool = typer.Option(False, "--quick", help="A first look in about a minute; not for numbers to report."),
    seed: int | None = typer.Option(None, "--seed", help="Decides every random choice."),
    jobs: int | None = typer.Option(None, "--jobs", min=1, help="Folds at the same time; without it, one a core."),
    resume: bool = typer.Option(False, "--resume", help="Go on with the interrupted run in --out."),
    split: str | None = typer.Option(None, "--split", help="One split instead of folds, such as 80/10/10."),
    assignments: list[str] = typer.Option([], "--set", help="One setting, such as graph.pool=48; repeatable."),
    explain: bool = typer.Option(False, "--explain", help="Print every setting and where it comes from; run nothing."),
    as_json: bool = typer.Option(False, "--json", help="Print the run's summary as JSON alone."),
) -> None:
    """Run the whole pipeline by nested cross-validation, evaluate it, and write tables, plots and a report.

    Without arguments it uses the embedded demo corpus (synthetic) and the embedded models.
    """
    from probative import api

    flags = {"corpus": corpus, "seed": seed, "folds.split": split}
    flags = {name: value for name, value in flags.items() if value is not None}
    resolved = api.settle(config, quick=quick, assignments=assignments, flags=flags)
    if explain:
        for name, value, origin in resolved.lines():
            typer.echo(f"{f'{name} =':<40} {value!r:<24} # {origin}")
        return
    with manners.progress("starting", total=1.0) as show:
        done = api.run(resolved.settings, out=out, jobs=jobs, resume=resume, show=show)
    if as_json:
        manners.print_json(done.summary)
        return
    for line in done.lines():
        typer.echo(line)
