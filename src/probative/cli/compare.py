"""probative compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from probative.cli import manners
from probative.cli.choices import Resample, Ties


def compare(
    base: Annotated[Path, typer.Argument(help="The system to compare with: run folder, per_query or score file.")],
    others: Annotated[list[Path], typer.Argument(help="Other systems on the same queries.", metavar="OTHER…")],
    gold: Annotated[Path | None, typer.Option(help="The gold of score files, one for all.")] = None,
    probs: Annotated[list[Path] | None, typer.Option(help="Probabilities: one file a system, in order.")] = None,
    pairs: Annotated[Path | None, typer.Option(help="The labelled queries of score files.")] = None,
    qrels: Annotated[Path | None, typer.Option(help="The qrels of TREC runs.")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="An id, id:population or id:mode; may be repeated.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON alone.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print a LaTeX table (booktabs) alone.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table alone.")] = False,
    bootstrap: Annotated[int, typer.Option(min=0, help="Resamples and swaps; 0 computes neither.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of both.")] = 0,
    resample: Annotated[Resample, typer.Option(help="What is drawn again.")] = Resample.documents,
    ties: Annotated[Ties, typer.Option(help="How equal scores rank.")] = Ties.listed,
) -> None:
    """Paired comparison on the same queries and resamples: intervals, swap test, Holm, effect size, wins and losses.

    \b
    Examples:
      probative compare runs/base runs/graph runs/both
      probative compare bm25.csv mine.csv --gold gold.csv --metric ndcg@10 --metric recall@10:all_queries
      probative compare base.trec mine.trec --qrels qrels.trec --latex
    """
    from probative.evaluation import api, comparison_table

    found = api.compare(
        base,
        *others,
        gold=gold or qrels,
        probs=probs or (),
        pairs=pairs,
        metrics=metric or (),
        bootstrap=bootstrap,
        seed=seed,
        resample=resample.value,
        ties=ties.value,
    )
    if json:
        manners.print_json(found.to_dict())
    elif latex:
        print(comparison_table.grid(found).latex(), end="")
    elif markdown:
        print(comparison_table.grid(found).markdown(), end="")
    else:
        console = manners.out()
        console.print(comparison_table.render(found, console.width if console.is_terminal else 120), end="")
