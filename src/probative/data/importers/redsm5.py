"""ReDSM5: forum posts whose sentences were judged against the symptoms of major depression."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from probative.data.demo.grammar import load
from probative.data.meta import CorpusMeta
from probative.data.problems import Problem
from probative.data.source import ROW, Source, Table
from probative.data.tables import read_table
from probative.errors import DataError

SYMPTOMS = (
    "DEPRESSED_MOOD",
    "ANHEDONIA",
    "APPETITE_CHANGE",
    "SLEEP_ISSUES",
    "PSYCHOMOTOR",
    "FATIGUE",
    "WORTHLESSNESS",
    "COGNITIVE_ISSUES",
    "SUICIDAL_THOUGHTS",
    "SPECIAL_CASE",
)
"""In the order of A.1 … A.10."""
POSTS = {"post_id": "doc_id", "text": "text"}
ANNOTATIONS = {"post_id": "doc_id", "DSM5_symptom": "symptom", "status": "status", "sentence_text": "quote"}


def read(path: Path, *, encoding: str | None = None) -> Source:
    """Read the folder that holds the posts (post_id, text) and the annotations.

    Annotated sentences are found in their post by their text; status 1 is gold, 0 is rejected. The criteria come in
    words of our own, as A.1 … A.10, and A.10 is excluded from training.
    """
    problems: list[Problem] = []
    notes: list[str] = []
    posts = _read(path, "posts", POSTS, encoding, problems, notes)
    annotations = _read(path, "annotations", ANNOTATIONS, encoding, problems, notes)
    tables = {"criteria": Table.of("criteria", _criteria())}
    if posts is not None:
        tables["documents"] = posts
    if annotations is not None:
        problems += _strange(annotations)
        for name, status in (("gold", 1), ("rejected", 0)):
            tables[name] = _marks(annotations, status)
    meta = CorpusMeta(name="redsm5", source="ReDSM5 (posts and annotations)", exclude_from_training=("A.10",))
    return Source(
        meta=meta,
        tables=tables,
        notes=(
            "ReDSM5: symptoms became A.1 … A.10; A.10 (SPECIAL_CASE) is excluded from training, see corpus.toml",
            *notes,
        ),
        problems=problems,
    )


def find(folder: Path, word: str) -> list[Path]:
    """The CSV files of a folder with this word in their name."""
    return sorted(file for file in folder.glob("*.csv") if word in file.stem.lower())


def _read(
    folder: Path,
    word: str,
    columns: dict[str, str],
    encoding: str | None,
    problems: list[Problem],
    notes: list[str],
) -> Table | None:
    found = find(folder, word) if folder.is_dir() else []
    if len(found) != 1:
        told = f"{len(found)} files" if found else "no file"
        raise DataError(f"{folder}: holds {told} named *{word}*.csv; ReDSM5 has one, such as redsm5_{word}.csv.")
    reading = read_table(found[0], encoding=encoding)
    problems += reading.problems
    notes += reading.notes
    if reading.table is None:
        return None
    if missing := [name for name in columns if name not in reading.table.columns]:
        what = f"column {missing[0]!r} is missing; there are: {', '.join(reading.table.columns)}."
        remedy = f"ReDSM5 has the columns {', '.join(columns)}."
        problems.append(Problem(code="missing-column", file=found[0].name, what=what, remedy=remedy))
        return None
    if spare := [name for name in reading.table.columns if name not in columns]:
        notes.append(f"{found[0].name}: columns not used: {', '.join(spare)}")
    return Table(file=found[0].name, frame=reading.table.frame.select(ROW, *columns).rename(columns))


def _strange(annotations: Table) -> list[Problem]:
    """Rows whose symptom or status is none that is known."""
    frame = annotations.frame
    status = pl.col("status").cast(pl.String).str.strip_chars()
    problems = []
    for row, symptom in frame.filter(~pl.col("symptom").is_in(SYMPTOMS).fill_null(False)).select(ROW, "symptom").rows():
        what = f"DSM5_symptom is {symptom!r}."
        remedy = f"Known symptoms: {', '.join(SYMPTOMS)}."
        problems.append(
            Problem(code="unknown-criterion", file=annotations.file, row=row, what=what, remedy=remedy, table="gold")
        )
    for row, value in frame.filter(~status.is_in(["0", "1"]).fill_null(False)).select(ROW, "status").rows():
        what = f"status is {value!r}."
        remedy = "Write 1 (the sentence is evidence) or 0 (it was rejected)."
        problems.append(
            Problem(code="wrong-type", file=annotations.file, row=row, what=what, remedy=remedy, table="gold")
        )
    return problems


def _marks(annotations: Table, status: int) -> Table:
    known = annotations.frame.filter(
        (pl.col("status").cast(pl.String).str.strip_chars() == str(status)) & pl.col("symptom").is_in(SYMPTOMS)
    )
    ids = {symptom: f"A.{place}" for place, symptom in enumerate(SYMPTOMS, start=1)}
    frame = known.select(ROW, "doc_id", pl.col("symptom").replace(ids).alias("criterion_id"), "quote")
    return Table(file=annotations.file, frame=frame)


def _criteria() -> pl.DataFrame:
    rows = [(theme.criterion_id, theme.text, symptom) for theme, symptom in zip(load().themes, SYMPTOMS, strict=True)]
    return pl.DataFrame(rows, schema=["criterion_id", "text", "name"], orient="row")
