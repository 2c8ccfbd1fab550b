"""What is wrong inside one table: missing and duplicate ids, empty texts, numbering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from probative.data.problems import Problem, Teller
from probative.data.source import ROW

KEYS: dict[str, tuple[str, ...]] = {
    "documents": ("doc_id",),
    "sentences": ("sent_uid",),
    "criteria": ("criterion_id",),
    "pairs": ("doc_id", "criterion_id"),
}
FILLED: dict[str, tuple[str, ...]] = {
    "documents": ("doc_id", "text"),
    "sentences": ("doc_id", "sent_idx", "sent_uid", "text"),
    "criteria": ("criterion_id", "text"),
    "gold": ("doc_id", "criterion_id"),
    "rejected": ("doc_id", "criterion_id"),
    "pairs": ("doc_id", "criterion_id"),
}


def check(typed: Mapping[str, pl.DataFrame], files: Mapping[str, str]) -> list[Problem]:
    """Every problem that one table has by itself."""
    problems: list[Problem] = []
    for name, frame in typed.items():
        teller = Teller(name, files[name])
        problems += _empty(name, frame, teller)
        problems += _blank(frame, FILLED[name], teller)
        problems += duplicates(frame, KEYS[name], teller) if name in KEYS else _same_mark(frame, teller)
    if "sentences" in typed:
        teller = Teller("sentences", files["sentences"])
        problems += _numbering(typed["sentences"], teller)
        problems += _positions(typed["sentences"], teller)
    if "documents" in typed:
        problems += _two_texts(typed, files)
    return problems


def _empty(name: str, frame: pl.DataFrame, teller: Teller) -> list[Problem]:
    if frame.height or name not in ("documents", "sentences", "criteria"):
        return []
    what = "holds no rows."
    return [Problem(code="empty-table", file=teller.file, what=what, remedy="Give it at least one row.")]


def _blank(frame: pl.DataFrame, names: Sequence[str], teller: Teller) -> list[Problem]:
    problems = []
    for name in (name for name in names if name in frame.columns):
        code, what = ("empty-text", "the text is empty.") if name == "text" else ("missing-id", f"{name} is empty.")
        remedy = "Fill it in, or take the row out (--drop-invalid takes it out and says so)."
        problems += [teller(row, code, what, remedy) for row in frame.filter(pl.col(name).is_null())[ROW]]
    return problems


def duplicates(frame: pl.DataFrame, keys: Sequence[str], teller: Teller) -> list[Problem]:
    """Rows whose key stood there before."""
    again = (
        frame.drop_nulls(list(keys))
        .with_columns(pl.col(ROW).first().over(keys).alias("first"))
        .filter(pl.col(ROW) != pl.col("first"))
    )
    problems = []
    for row, first, *values in again.select(ROW, "first", *keys).rows():
        key = ", ".join(f"{name} {value!r}" for name, value in zip(keys, values, strict=True))
        what = f"{key} stands already in row {first}."
        remedy = "Take one of the two out, or give it an id of its own."
        if keys == KEYS["sentences"]:
            remedy = "Ids of sentences are unique in the whole corpus: put the document's id before them."
        problems.append(teller(row, f"duplicate-{keys[-1].split('_')[0]}", what, remedy))
    return problems


def _same_mark(frame: pl.DataFrame, teller: Teller) -> list[Problem]:
    """Gold or rejected rows that say the same thing twice."""
    keys = [name for name in frame.columns if name != ROW]
    again = frame.with_columns(pl.col(ROW).first().over(keys).alias("first")).filter(pl.col(ROW) != pl.col("first"))
    return [
        teller(row, "duplicate-row", f"says the same as row {first}.", "Take one of the two out.")
        for row, first in again.select(ROW, "first").rows()
    ]


def _numbering(frame: pl.DataFrame, teller: Teller) -> list[Problem]:
    """Within a document sent_idx is 0, 1, 2, … or 1, 2, 3, …; anything else means that sentences are missing."""
    whole = ~pl.col("sent_idx").is_null().any().over("doc_id")
    order = frame.drop_nulls("doc_id").filter(whole).sort("doc_id", "sent_idx", ROW)
    before = pl.col("sent_idx").shift(1).over("doc_id")
    step = order.with_columns(before=before, first=pl.col(ROW).shift(1).over("doc_id"))
    problems = []
    for row, doc_id, number, first in (
        step.filter(pl.col("sent_idx") == pl.col("before")).select(ROW, "doc_id", "sent_idx", "first").rows()
    ):
        what = f"sent_idx {number} of document {doc_id!r} stands already in row {first}."
        problems.append(
            teller(row, "duplicate-sent_idx", what, "Number the sentences of a document 0, 1, 2, … in text order.")
        )
    opening = pl.col("before").is_null() & ~pl.col("sent_idx").is_in([0, 1])
    gap = opening | (pl.col("sent_idx") > pl.col("before") + 1)
    for row, doc_id, number, last in step.filter(gap).select(ROW, "doc_id", "sent_idx", "before").rows():
        what = f"sent_idx {number} of document {doc_id!r} follows " + (f"{last}." if last is not None else "nothing.")
        remedy = "Add the sentences between, or number them without gaps from 0."
        problems.append(teller(row, "gap", what, remedy))
    return problems


def _positions(frame: pl.DataFrame, teller: Teller) -> list[Problem]:
    given = [name for name in ("start", "end") if name in frame.columns]
    if len(given) == 1:
        what = f"has the column {given[0]!r} alone."
        return [
            Problem(code="missing-column", file=teller.file, what=what, remedy="Give both start and end, or neither.")
        ]
    if not given:
        return []
    half = pl.col("start").is_null() != pl.col("end").is_null()
    wrong = half | (pl.col("start") >= pl.col("end")) | (pl.col("start") < 0)
    return [
        teller(
            row,
            "bad-span",
            f"start {start} and end {end} are no span.",
            "start counts from 0 and is before end; or leave both empty.",
        )
        for row, start, end in frame.filter(wrong).select(ROW, "start", "end").rows()
    ]


def _two_texts(typed: Mapping[str, pl.DataFrame], files: Mapping[str, str]) -> list[Problem]:
    has_text = "text" in typed["documents"].columns
    if has_text and "sentences" in typed:
        what = f"has texts, and so has {files['sentences']}; which of them counts?"
        remedy = "Remove the text column of documents, or the sentences table (they are then cut from the texts)."
        return [Problem(code="two-texts", file=files["documents"], what=what, remedy=remedy)]
    if not has_text and "sentences" not in typed:
        what = "has no text column, and there is no sentences table."
        remedy = "Name the column that holds the text: --map documents.text=YOUR_COLUMN; or add the sentences table."
        return [Problem(code="missing-column", file=files["documents"], what=what, remedy=remedy)]
    return []
