"""`probative doctor`: what is installed, what loads, what is missing and how to get it."""

from __future__ import annotations

import typer

from probative.cli import manners

EPILOG = "Example: probative doctor --json"


def doctor(
    clear_cache: bool = typer.Option(False, "--clear-cache", help="Delete all cached vectors and stage results."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON alone."),
) -> None:
    """Say what is installed, whether the embedded model loads, and where caches lie."""
    from probative import health
    from probative.errors import CheckFailed

    if clear_cache:
        manners.say(health.clear_cache())
    found = health.examine()
    if as_json:
        manners.print_json(found.to_dict())
    else:
        for line in found.lines():
            typer.echo(line)
    if not found.works:
        raise CheckFailed("A part that everything needs is missing; see above.")
