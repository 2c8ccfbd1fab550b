"""Everything that is wrong with a corpus, found in one pass; and the corpus, when nothing is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from probative.data import canonical, columns, links, rows
from probative.data.corpus import Corpus
from probative.data.locate import locate
from probative.data.meta import FILE, CorpusMeta
from probative.data.nearest import Nearest
from probative.data.problems import Problem
from probative.data.sentences import cut
from probative.data.source import Source

MARKS = ("gold", "rejected")


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What validation found: problems, things worth saying, and the tables in canonical order."""

    meta: CorpusMeta
    problems: list[Problem]
    notes: list[str]
    frames: dict[str, pl.DataFrame]

    def corpus(self) -> Corpus:
        """The corpus; only to be asked for when there are no problems."""
        return Corpus(meta=self.meta, **self.frames)


def check(source: Source, *, labelled: bool = True) -> Checked:
    """Check everything that can be checked, whatever else is wrong; without `labelled` documents alone will do."""
    problems = [*source.problems, *_tables_missing(source, labelled)]
    notes = list(source.notes)
    typed: dict[str, pl.DataFrame] = {}
    marks: dict[str, pl.DataFrame] = {}
    for name, table in source.tables.items():
        lacking = columns.missing(name, table)
        problems += lacking
        if spare := columns.spare(name, table):
            notes.append(f"{table.file}: columns not used: {', '.join(spare)}")
        if not lacking:
            typed[name], wrong = columns.typed(name, table)
            problems += wrong
            notes += _lost_letters(table.file, typed[name])
    if "gold" in typed and not typed["gold"].height:
        notes.append(f"{source.tables['gold'].file}: no gold rows, so no query has located evidence")
    files = {name: table.file for name, table in source.tables.items()}
    texts, sentences = _texts(typed, source.meta.language)
    problems += rows.check(typed, files)
    if sentences is not None:
        for name in (name for name in MARKS if name in typed):
            located = locate(name, files[name], typed[name], sentences, texts)
            marks[name] = located.frame
            problems += located.problems
        problems += links.check(typed, marks, sentences, files)
    problems = _in_order(_without_echoes([*problems, *_exclusions(source.meta, typed)]), files)
    if problems:
        return Checked(meta=source.meta, problems=problems, notes=notes, frames={})
    assert sentences is not None  # noqa: S101 - its absence is a problem
    return Checked(meta=source.meta, problems=[], notes=notes, frames=canonical.frames(typed, sentences, marks))


def _without_echoes(problems: list[Problem]) -> list[Problem]:
    """Without calling a value empty that is of the wrong type."""
    wrong = {(problem.table, problem.row) for problem in problems if problem.code == "wrong-type"}
    echoes = {"missing-id", "empty-text", "no-place"}
    return [p for p in problems if p.code not in echoes or (p.table, p.row) not in wrong]


def _in_order(problems: list[Problem], files: Mapping[str, str]) -> list[Problem]:
    """File after file, row after row; what is wrong with a whole file first."""
    place = {file: number for number, file in enumerate(files.values())}
    return sorted(problems, key=lambda p: (place.get(p.file, -1), p.row or 0))


def _tables_missing(source: Source, labelled: bool) -> list[Problem]:
    """Tables that nothing was read from, unless their file is there and its own problem is told already."""
    have = {*source.tables, *(problem.table or problem.file.split(".")[0] for problem in source.problems)}
    problems = []
    for name, wanted, remedy in (
        (
            "sentences",
            {"sentences", "documents"},
            "Add sentences (doc_id, sent_idx, sent_uid, text) or documents (doc_id, text)",
        ),
        ("criteria", {"criteria"}, "Add criteria (criterion_id, text)"),
        ("gold", {"gold"}, "Add gold (doc_id, criterion_id, sent_uid), a header alone when there is none"),
    ):
        if not wanted & have and (labelled or name == "sentences"):
            what = f"there is no table {' or '.join(sorted(wanted))}."
            how = f"{remedy} as .parquet, .csv or .jsonl, or say which file it is: --map {name}=FILE"
            problems.append(Problem(code="missing-table", file=f"{name}.csv", what=what, remedy=how))
    return problems


def _lost_letters(file: str, frame: pl.DataFrame) -> list[str]:
    if "text" not in frame.columns:
        return []
    count = frame["text"].str.contains("\ufffd", literal=True).sum()
    told = f"{file}: {count} texts hold U+FFFD, where an earlier program lost a letter to a wrong encoding"
    return [told] if count else []


def _texts(typed: dict[str, pl.DataFrame], language: str) -> tuple[dict[str, str] | None, pl.DataFrame | None]:
    """Whole documents where the corpus has them, and its sentences: given, or cut."""
    if "sentences" in typed:
        return None, typed["sentences"]
    documents = typed.get("documents")
    if documents is None or "text" not in documents.columns:
        return None, None
    whole = documents.drop_nulls(["doc_id", "text"]).unique("doc_id", keep="first", maintain_order=True)
    texts = dict(zip(whole["doc_id"].to_list(), whole["text"].to_list(), strict=True))
    return texts, cut(texts, texts.values(), language)


def _exclusions(meta: CorpusMeta, typed: dict[str, pl.DataFrame]) -> list[Problem]:
    if "criteria" not in typed:
        return []
    known = typed["criteria"]["criterion_id"].drop_nulls().to_list()
    nearest = Nearest(known)
    return [
        Problem(
            code="unknown-criterion",
            file=FILE,
            what=f"exclude_from_training names {name!r}, which is no criterion.{nearest.hint(name)}",
            remedy="Correct the id, or add the criterion to the criteria table.",
        )
        for name in meta.exclude_from_training
        if name not in known
    ]
