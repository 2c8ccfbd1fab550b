"""probative evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from probative.cli import manners
from probative.cli.choices import Criteria, Resample, Ties
from probative.errors import ConfigError


def evaluate(
    path: Annotated[Path | None, typer.Argument(help="A run folder or a per_query file.")] = None,
    scores: Annotated[
        Path | None, typer.Option(help="A candidate a row: doc_id, criterion_id, sent_uid, score.")
    ] = None,
    gold: Annotated[Path | None, typer.Option(help="A gold sentence a row: doc_id, criterion_id, sent_uid.")] = None,
    probs: Annotated[Path | None, typer.Option(help="A query a row: doc_id, criterion_id, prob, [tau_neg …].")] = None,
    pairs: Annotated[Path | None, typer.Option(help="Labelled queries: doc_id, criterion_id, [has_evidence].")] = None,
    run: Annotated[Path | None, typer.Option(help="A TREC run; query ids look like document::criterion.")] = None,
    qrels: Annotated[Path | None, typer.Option(help="The qrels of the TREC run.")] = None,
    example: Annotated[bool, typer.Option("--example", help="Measure the bundled twenty-line score file.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write metrics_master.json, summary.json and tables/ here.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the metrics_master document alone.")] = False,
    bootstrap: Annotated[int, typer.Option(min=0, help="Resamples behind every interval; 0 computes none.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resamples.")] = 0,
    resample: Annotated[Resample, typer.Option(help="What is drawn again.")] = Resample.documents,
    ties: Annotated[Ties, typer.Option(help="How equal scores rank.")] = Ties.listed,
    criteria: Annotated[Criteria, typer.Option(help="All criteria, or those that were trained on.")] = Criteria.all,
    scope: Annotated[list[str] | None, typer.Option(help="Scopes to show, such as 'criterion:*' or fold_mean.")] = None,
    all_rows: Annotated[bool, typer.Option("--all", help="Show every metric, not only the headline ones.")] = False,
    brief: Annotated[bool, typer.Option("--brief", help="Show the headline few only.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say under every row how to read it.")] = False,
) -> None:
    """Measure predictions: a run folder, a per_query file, score files, or a TREC run.

    \b
    Examples:
      probative evaluate runs/mine
      probative evaluate per_query.parquet --out results
      probative evaluate --scores scores.csv --gold gold.csv --probs probs.csv
      probative evaluate --run run.trec --qrels qrels.trec --json
      probative evaluate --example
    """
    from probative.evaluation import api, table
    from probative.evaluation.readers import read_chosen
    from probative.evaluation.settings import EvaluateSettings

    if out is not None and (out / "checksums.txt").exists():
        raise ConfigError(f"{out}: is a finished run, sealed by its checksums. Name another folder with --out.")
    chosen = read_chosen(
        path=path, scores=scores, gold=gold, probs=probs, pairs=pairs, run=run, qrels=qrels, example=example, ties=ties
    )
    settings = EvaluateSettings(bootstrap=bootstrap, seed=seed, resample=resample.value, ties=ties.value)
    with manners.progress("measuring", total=1.0) as update:
        found = api.evaluate_source(chosen, settings, update)
    view = table.View(
        everything=all_rows, brief=brief, explain=explain, criteria=criteria, scopes=tuple(scope or ("pooled",))
    )
    if not json:
        table.check_view(found.master, view)
    for note in found.notes:
        manners.say(f"note: {note}")
    if out is not None:
        found.write(out)
        manners.say(f"wrote {out}/metrics_master.json, summary.json and tables/")
    if json:
        print(found.master.to_json(), end="")
        return
    console = manners.out()
    console.print(table.render(found.master, view, width=console.width), end="")
