"""`probative screen`: decisions about new documents."""

from __future__ import annotations

from pathlib import Path

import typer

from probative.cli import manners

EPILOG = "Example: probative screen model letters/ -o findings"


def screen(
    model: Path = typer.Argument(..., help="A model folder made by `probative fit`."),
    source: Path = typer.Argument(..., help="A folder of .txt files, a corpus folder, or .txt .jsonl .csv .parquet."),
    out: Path = typer.Option(..., "--out", "-o", help="Where decisions, rejects, summary and review page go."),
    resume: bool = typer.Option(False, "--resume", help="Go on with the interrupted screening in --out."),
    show_text: bool = typer.Option(False, "--show-text", help="Write the words of evidence sentences too."),
    parquet: bool = typer.Option(False, "--parquet", help="Write decisions.parquet too."),
    review: bool = typer.Option(True, "--review/--no-review", help="Make review.html, which contains document text."),
    prevalence: float | None = typer.Option(None, "--prevalence", help="Also decide as if this share had evidence."),
    trust_model: bool = typer.Option(
        False, "--trust-model", help="Allow a model that asks a server or runs code of its own."
    ),
    allow_rejects: bool = typer.Option(False, "--allow-rejects", help="Exit 0 even when rows could not be read."),
    as_json: bool = typer.Option(False, "--json", help="Print the summary as JSON alone."),
) -> None:
    """Decide about new documents: a probability, a state and the sentences to read, for every question."""
    from probative import api
    from probative.errors import DataError
    from probative.pipeline.journal import PROGRESS

    try:
        with manners.progress("screening") as show:
            done = api.screen(
                model, source, out, resume=resume, show_text=show_text, parquet=parquet, review=review,
                prevalence=prevalence, trust=trust_model, show=lambda n, label: show(0.0, label),
            )  # fmt: skip
    except KeyboardInterrupt:
        if (out / PROGRESS).exists():
            manners.say(f"{out}: holds every whole batch so far; --resume goes on from there.")
        raise
    if as_json:
        manners.print_json(done.summary())
    else:
        typer.echo(done.sentence())
    if done.warning:
        manners.say(f"warning: {done.warning}")
    if done.rejected and not allow_rejects:
        raise DataError(
            f"{done.rejected} rows could not be read; {done.out / 'rejects.jsonl'} says which and why. Everything else "
            "was decided. Mend those rows and screen them again, or accept this with --allow-rejects."
        )
