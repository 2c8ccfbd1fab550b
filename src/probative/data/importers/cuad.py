"""CUAD, and any JSON in the shape of SQuAD: texts, questions, and answers as spans."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from probative.data.importers.records import Walk, json_files, read_json
from probative.data.meta import CorpusMeta
from probative.data.source import Source, Table
from probative.errors import DataError

SCHEMAS: dict[str, dict[str, type[pl.DataType]]] = {
    "documents": {"doc_id": pl.String, "text": pl.String, "title": pl.String},
    "criteria": {"criterion_id": pl.String, "text": pl.String},
    "gold": {
        "doc_id": pl.String,
        "criterion_id": pl.String,
        "start": pl.Int64,
        "end": pl.Int64,
        "quote": pl.String,
    },
    "pairs": {"doc_id": pl.String, "criterion_id": pl.String, "has_evidence": pl.Int64},
}
_ASKED = re.compile(r'related to "(?P<name>.+?)".*?(?:Details: (?P<details>.+))?$', re.DOTALL)
Rows = dict[str, list[tuple[Any, ...]]]


def read(path: Path, *, encoding: str | None = None) -> Source:
    """Read the official JSON (data, paragraphs, context, qas).

    A paragraph is a document (where titles have several, the column `title` groups them), a clause type (the part of
    a question's id behind the last `__`) a criterion, an answer a span that is mapped to the sentences it overlaps.
    is_impossible is has_evidence = 0.
    """
    files = json_files(path)
    if len(files) > 1:
        names = ", ".join(file.name for file in files)
        raise DataError(f"{path}: holds {names}, which overlap in CUAD. Name the one to import.")
    walk = Walk(files[0].name)
    rows: Rows = {name: [] for name in SCHEMAS}
    for number, entry in enumerate(walk.get(read_json(files[0], encoding), "data", list, "the file") or [], start=1):
        _entry(entry, f"entry {number}", rows, walk)
    repeated = len(rows["gold"]) - len(set(rows["gold"]))
    rows["gold"] = list(dict.fromkeys(rows["gold"]))
    rows["criteria"] = list(dict(rows["criteria"]).items())
    frames = {name: pl.DataFrame(rows[name], schema=schema, orient="row") for name, schema in SCHEMAS.items()}
    if (frames["documents"]["doc_id"] == frames["documents"]["title"]).all():
        frames["documents"] = frames["documents"].drop("title")
    tables = {name: Table.of(f"{files[0].name} ({name})", frame) for name, frame in frames.items()}
    meta = CorpusMeta(name=files[0].stem.lower(), source=f"{files[0].name}, SQuAD-like JSON")
    notes = (f"{files[0].name}: {repeated} answers stood there twice and are kept once",) if repeated else ()
    return Source(meta=meta, tables=tables, notes=notes, problems=walk.problems)


def _entry(entry: Any, where: str, rows: Rows, walk: Walk) -> None:
    title = walk.get(entry, "title", str, where)
    paragraphs = walk.get(entry, "paragraphs", list, where)
    for number, paragraph in enumerate(paragraphs or []):
        place = f"{where}, paragraph {number + 1}"
        text = walk.get(paragraph, "context", str, place)
        questions = walk.get(paragraph, "qas", list, place)
        if title is None or paragraphs is None or text is None or questions is None:
            continue
        doc_id = title if len(paragraphs) == 1 else f"{title}_{number}"
        rows["documents"].append((doc_id, text, title))
        for question in questions:
            _question(question, doc_id, place, rows, walk)


def _question(question: Any, doc_id: str, where: str, rows: Rows, walk: Walk) -> None:
    name = walk.get(question, "id", str, where)
    text = walk.get(question, "question", str, where)
    answers = walk.get(question, "answers", list, where)
    if name is None or text is None or answers is None:
        return
    criterion_id = name.rsplit("__", 1)[-1]
    rows["criteria"].append((criterion_id, _asked(text)))
    impossible = walk.may(question, "is_impossible", bool, f"{where}, {name}")
    rows["pairs"].append((doc_id, criterion_id, None if impossible is None else int(not impossible)))
    for answer in answers:
        quote = walk.get(answer, "text", str, f"{where}, {name}")
        start = walk.get(answer, "answer_start", int, f"{where}, {name}")
        if quote is not None and start is not None:
            rows["gold"].append((doc_id, criterion_id, start, start + len(quote), quote))


def _asked(question: str) -> str:
    """What is asked for, without the words that every question of CUAD repeats."""
    found = _ASKED.search(question)
    if found is None:
        return question
    return f"{found['name']}: {found['details'].strip()}" if found["details"] else found["name"]
