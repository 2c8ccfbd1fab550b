"""New documents, one at a time and in bounded memory, from whatever they come in; what cannot be read is told apart."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probative.errors import DataError

ALIASES = {"doc_id": ("doc_id", "post_id", "id"), "text": ("text", "body")}
SLICE = 2000
"""Rows of a Parquet file held at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A document to decide on: its text, or its sentences; its own questions where the model has none for it."""

    doc_id: str
    text: str | None = None
    sentences: tuple[tuple[str, str], ...] | None = None
    """(sent_uid, text)"""
    criteria: tuple[tuple[str, str], ...] | None = None
    """(criterion_id, text)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A row that could not become a document, and why."""

    where: str
    reason: str


Row = NewDocument | Unreadable


def read(path: Path) -> Iterator[Row]:
    """Documents of a folder of .txt files, a corpus folder, or a .txt, .jsonl, .csv or .parquet file."""
    if path.is_dir():
        return _folder(path)
    readers = {".txt": _text_file, ".jsonl": _jsonl, ".csv": _csv, ".parquet": _parquet}
    if not path.is_file():
        raise DataError(f"{path}: does not exist. Give a file or folder of documents.")
    if path.suffix.lower() not in readers:
        raise DataError(f"{path}: documents come as {', '.join(readers)} or a folder; {path.suffix!r} is none of them.")
    return readers[path.suffix.lower()](path)


def unique(rows: Iterable[Row]) -> Iterator[Row]:
    """The same rows; a second document of the same id becomes unreadable."""
    seen: set[int] = set()
    for row in rows:
        if isinstance(row, NewDocument):
            key = hash(row.doc_id)
            if key in seen:
                yield Unreadable(where=row.doc_id, reason="a document of this id was read before")
                continue
            seen.add(key)
        yield row


def _folder(path: Path) -> Iterator[Row]:
    tables = [path / f"{name}.{end}" for name in ("sentences", "documents") for end in ("parquet", "csv", "jsonl")]
    if any(table.is_file() for table in tables):
        return _corpus(path)
    texts = sorted(path.rglob("*.txt"))
    if not texts:
        raise DataError(f"{path}: holds neither .txt files nor a corpus (sentences or documents table).")
    return (row for text in texts for row in _text_file(text, text.relative_to(path).with_suffix("").as_posix()))


def _text_file(path: Path, doc_id: str | None = None) -> Iterator[Row]:
    try:
        yield NewDocument(doc_id=doc_id or path.stem, text=path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        yield Unreadable(where=str(path), reason=f"is not UTF-8 text (byte {error.start}); save it as UTF-8")
    except OSError as error:
        yield Unreadable(where=str(path), reason=f"cannot be read ({error.strerror})")


def _corpus(path: Path) -> Iterator[Row]:
    """A corpus folder, read through the door for data: its sentences, and its own questions where it has pairs."""
    from probative.data import Corpus
    from probative.types import Role

    corpus = Corpus.read(path)
    for doc_id in corpus.doc_ids:
        view = corpus.view([doc_id], Role.NEW, gold=False)
        sentences = tuple(zip(view.sent_uids, view.texts, strict=True))
        questions = tuple(zip(view.criterion_ids, view.criterion_texts, strict=True))
        yield NewDocument(doc_id=doc_id, sentences=sentences, criteria=questions)


def _jsonl(path: Path) -> Iterator[Row]:
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            where = f"{path.name}, line {number}"
            try:
                value = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            except UnicodeDecodeError as error:
                yield Unreadable(where=where, reason=f"is not UTF-8 text (byte {error.start})")
            except ValueError as error:
                yield Unreadable(where=where, reason=f"is not JSON ({error})")
            else:
                yield from_mapping(value, where)


def _csv(path: Path) -> Iterator[Row]:
    csv.field_size_limit(1 << 30)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            _require(reader.fieldnames or [], path)
            for row in reader:
                where = f"{path.name}, line {reader.line_num}"
                if None in row or None in row.values():
                    yield Unreadable(where=where, reason="has more or fewer cells than the header")
                else:
                    yield from_mapping(row, where)
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from error


def _parquet(path: Path) -> Iterator[Row]:
    import polars as pl

    try:
        names = pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{path}: cannot be read as Parquet ({error}).") from error
    _require(list(names), path)
    done = 0
    while rows := pl.scan_parquet(path).slice(done, SLICE).collect().to_dicts():
        for number, row in enumerate(rows, start=done):
            yield from_mapping(row, f"{path.name}, row {number}")
        done += len(rows)


def _require(names: Iterable[str], path: Path) -> None:
    found = set(names)
    for ours, accepted in ALIASES.items():
        if not found & set(accepted):
            raise DataError(f"{path}: has no column {ours}; it has {', '.join(sorted(found))}. Rename one of them.")


def from_mapping(row: Any, where: str) -> Row:
    """One row of a table as a document: doc_id with text, or with sentences; optionally its own criteria."""
    if not isinstance(row, Mapping):
        return Unreadable(where=where, reason="is not an object with doc_id and text")
    doc_id = next((row[name] for name in ALIASES["doc_id"] if row.get(name) is not None), None)
    if not isinstance(doc_id, str | int) or not str(doc_id).strip():
        return Unreadable(where=where, reason="has no doc_id")
    text = next((row[name] for name in ALIASES["text"] if name in row), None)
    sentences, criteria = row.get("sentences"), row.get("criteria")
    try:
        return NewDocument(
            doc_id=str(doc_id),
            text=_text(text) if sentences is None else None,
            sentences=None if sentences is None else _sentences(str(doc_id), sentences),
            criteria=None if criteria is None else tuple((str(c["criterion_id"]), _text(c["text"])) for c in criteria),
        )
    except (KeyError, TypeError, ValueError) as error:
        said = f"has no {error}" if isinstance(error, KeyError) else str(error)
        return Unreadable(where=f"{where} ({doc_id})", reason=said)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text must be a string, not {type(value).__name__}")
    return value


def _sentences(doc_id: str, values: Any) -> tuple[tuple[str, str], ...]:
    if isinstance(values, str) or not isinstance(values, list | tuple):
        raise TypeError("sentences must be a list")
    made = []
    for number, value in enumerate(values):
        if isinstance(value, str):
            made.append((f"{doc_id}_{number}", value))
        else:
            made.append((str(value.get("sent_uid", f"{doc_id}_{number}")), _text(value["text"])))
    if len({uid for uid, _ in made}) < len(made):
        raise ValueError("two sentences have the same sent_uid")
    return tuple(made)
