"""probative metrics list, probative metrics explain."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The contract: what every number means.")


@app.command("list")
def list_(
    json: Annotated[bool, typer.Option("--json", help="Print the whole registry as JSON.")] = False,
) -> None:
    """Every metric with its population; * marks the reading that headline tables use.

    \b
    Example:
      probative metrics list
    """
    from probative.cli import manners
    from probative.evaluation import contract

    if json:
        manners.print_json(contract.as_json())
        return
    console = manners.out()
    console.print(contract.listing(console.width), end="", soft_wrap=True)


@app.command("explain")
def explain(
    metric: Annotated[str, typer.Argument(help="An id such as map@10, or a pattern such as map@K.", metavar="ID")],
    json: Annotated[bool, typer.Option("--json", help="Print the entry as JSON.")] = False,
) -> None:
    """Formula, population, conventions, sources, interpretation and a worked example of one metric.

    \b
    Example:
      probative metrics explain tpr@fpr=0.05
    """
    from probative.cli import manners
    from probative.evaluation import contract
    from probative.metrics import registry

    entry = registry.lookup(metric)
    if json:
        manners.print_json(contract.to_dict(entry))
        return
    console = manners.out()
    console.print(contract.explanation(entry, console.width), end="", soft_wrap=True)
