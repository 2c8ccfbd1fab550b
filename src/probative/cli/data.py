"""`probative data`: bring corpora in, check them, look at them, make the demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from probative.cli import manners

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Corpora: import, validate, describe, demo.",
    epilog="Example: probative data demo -o demo",
)

Map = Annotated[
    list[str] | None,
    typer.Option("--map", help="Ours=theirs, comma separated: doc_id=post,gold.quote=highlight,documents=posts.csv"),
]
Sep = Annotated[str | None, typer.Option("--sep", help="Separator of CSV files; otherwise seen from the header.")]
Encoding = Annotated[str | None, typer.Option("--encoding", help="Encoding of text files; otherwise UTF-8.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON alone on standard output.")]


@app.command("import")
def import_(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="A folder with tables, or a file in another format.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The corpus folder to write.")],
    kind: Annotated[
        str | None,
        typer.Option("--format", help="tables, redsm5, contractnli, cuad or jsonl; otherwise seen and said."),
    ] = None,
    mapping: Map = None,
    sep: Sep = None,
    encoding: Encoding = None,
    drop_invalid: Annotated[
        bool, typer.Option("--drop-invalid", help="Leave rows with problems out, and list them in dropped.jsonl.")
    ] = False,
    to: Annotated[str, typer.Option("--to", help="Tables to write: parquet, csv or jsonl.")] = "parquet",
    as_json: AsJson = False,
) -> None:
    """Turn other people's data into a corpus folder.

    Example: probative data import export -o corpus --encoding cp1252 --map doc_id=post,text=body
    """
    from probative.data.describe import describe, lines
    from probative.data.folder import parse_map
    from probative.data.importing import import_corpus

    made = import_corpus(
        source, out, kind, mapping=parse_map(mapping or []), sep=sep, encoding=encoding, drop=drop_invalid, to=to
    )
    for note in made.notes:
        manners.say(note)
    facts = describe(made.corpus)
    if as_json:
        manners.print_json({"folder": str(out), "notes": made.notes, "dropped": len(made.dropped), **facts})
        return
    for line in lines(facts):
        typer.echo(line)
    typer.echo(f"written to {out}")


@app.command()
def validate(
    path: Annotated[Path, typer.Argument(help="A corpus folder, or a folder of tables.")],
    mapping: Map = None,
    sep: Sep = None,
    encoding: Encoding = None,
    as_json: AsJson = False,
) -> None:
    """List every problem of a corpus: file, row, what, and how to fix it. Exit code 2 when there is one.

    Example: probative data validate corpus
    """
    from probative.data.folder import parse_map, read_folder
    from probative.data.validate import check

    checked = check(read_folder(path, mapping=parse_map(mapping or []), sep=sep, encoding=encoding))
    if as_json:
        told = [problem.as_dict() for problem in checked.problems]
        manners.print_json({"valid": not told, "notes": checked.notes, "problems": told})
    else:
        for note in checked.notes:
            manners.say(note)
        for problem in checked.problems:
            typer.echo(str(problem))
        if not checked.problems:
            typer.echo(f"{path}: no problems.")
    if checked.problems:
        manners.say(f"error: {path}: {len(checked.problems)} problem(s).")
        raise typer.Exit(2)


@app.command()
def describe(
    path: Annotated[Path, typer.Argument(help="A corpus folder.")],
    near_duplicates: Annotated[
        float | None, typer.Option("--near-duplicates", help="Also list documents that are this alike (0 to 1).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a corpus holds: documents, queries, prevalence, and what is not scored.

    Example: probative data describe corpus --near-duplicates 0.8
    """
    from probative.data import Corpus
    from probative.data.describe import by_criterion, lines
    from probative.data.describe import describe as facts_of

    corpus = Corpus.read(path)
    facts = facts_of(corpus)
    told = [*lines(facts), "", *by_criterion(facts)]
    if near_duplicates is not None:
        from probative.data.near import find_near_duplicates

        near = find_near_duplicates(corpus.sentences, near_duplicates)
        facts["near_duplicates"] = near.as_dict()
        told += ["", *near.lines()]
    if as_json:
        manners.print_json(facts)
        return
    for line in told:
        typer.echo(line)


@app.command()
def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="The corpus folder to write.")] = Path("demo"),
    documents: Annotated[int, typer.Option("--documents", help="How many documents.")] = 1477,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same bytes.")] = 42,
) -> None:
    """Write the generated demo corpus (synthetic, never downloaded).

    Example: probative data demo -o demo --documents 300
    """
    from probative.data.demo import write_demo

    with manners.progress("writing documents", total=documents) as update:
        write_demo(out, documents=documents, seed=seed, progress=lambda done: update(done, "writing documents"))
    typer.echo(f"written to {out}")
