"""probative report."""

from __future__ import annotations

from pathlib import Path

import typer

EPILOG = "Example: probative report runs/first --methods"


def report(
    run: Path = typer.Argument(..., help="A run folder, or what `probative evaluate --out` wrote."),
    out: Path | None = typer.Option(None, "-o", "--out", help="Write the page alone to this file."),
    show_text: bool = typer.Option(
        False, "--show-text", help="Show document text in the errors; it stays out otherwise."
    ),
    corpus: Path | None = typer.Option(None, "--corpus", help="The corpus folder of the run, for --show-text."),
    methods: bool = typer.Option(False, "--methods", help="Also write methods.md and methods.tex."),
) -> None:
    """Rebuild report.html, plots/ and tables/ from the files of a run folder; no network is needed to read them."""
    from probative.report import write_methods, write_report

    page = write_report(run, out=out, show_text=show_text, corpus=corpus)
    typer.echo(f"report: {page}")
    if methods:
        for path in write_methods(run, out=None if out is None else out.parent):
            typer.echo(f"methods: {path}")
