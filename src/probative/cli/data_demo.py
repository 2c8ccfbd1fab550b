"""`probative data demo`: writes the generated corpus."""

from __future__ import annotations

from pathlib import Path

import typer

from probative.cli import manners


def demo(
    out: Path = typer.Option(..., "--out", "-o", help="The folder to write."),
    documents: int = typer.Option(1477, "--documents", help="How many documents; proportions are kept."),
    seed: int = typer.Option(42, "--seed", help="The same seed gives the same bytes."),
) -> None:
    """Write the demo corpus: generated posts about ten criteria, with evidence and lookalikes marked.

    Example: probative data demo -o demo && probative data describe demo
    """
    from probative.data.demo import write_demo

    with manners.progress("writing", total=documents) as update:
        folder = write_demo(out, documents=documents, seed=seed, progress=lambda done: update(done, "writing"))
    manners.say(f"{documents:,} generated documents are in {folder}. Next: probative data describe {folder}")
