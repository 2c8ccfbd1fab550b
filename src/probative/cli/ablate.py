"""`probative ablate`: what each part of the system adds."""

from __future__ import annotations

from pathlib import Path

import typer

from probative.cli import manners

EPILOG = "Example: probative ablate --corpus my_corpus --out runs/first"


def ablate(
    config: Path | None = typer.Argument(None, help="A YAML file with settings; a finished run keeps its own."),
    corpus: str | None = typer.Option(None, "--corpus", help="A corpus folder; without it, the demo corpus."),
    out: Path | None = typer.Option(None, "--out", "-o", help="The run to ablate; it is made where it is not there."),
    quick: bool = typer.Option(False, "--quick", help="A first look in a few minutes; not for numbers to report."),
    jobs: int | None = typer.Option(None, "--jobs", min=1, help="Folds at the same time; without it, one a core."),
    resume: bool = typer.Option(False, "--resume", help="Go on with the interrupted run in --out."),
    assignments: list[str] = typer.Option([], "--set", help="One setting, such as graph.pool=48; repeatable."),
    as_json: bool = typer.Option(False, "--json", help="Print ablation.json alone."),
) -> None:
    """Measure what each stage adds, on the folds and candidates of one run, with paired intervals.

    Writes ablation.json and tables/ablation.* into the run folder. Stages that the run has computed are reused.
    """
    from probative import api

    with manners.progress("starting", total=1.0) as show:
        found = api.ablate(
            config,
            corpus=corpus,
            out=out,
            quick=quick,
            assignments=assignments,
            jobs=jobs,
            resume=resume,
            show=show,
        )
    if as_json:
        manners.print_json(found.document)
        return
    typer.echo(found.text(manners.out().width), nl=False)
