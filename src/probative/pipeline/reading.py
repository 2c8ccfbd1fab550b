"""New documents, one at a time and in bounded memory, from whatever they come in."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from probative.errors import DataError
from probative.pipeline.documents import ALIASES, NewDocument, Row, Unreadable, from_mapping, of_text

SLICE = 2000
"""Rows of a Parquet file held at once."""
LONGEST_CELL = 1 << 28
SEPARATORS = ",;\t|"
TABLES = tuple(f"{name}.{end}" for name in ("sentences", "documents") for end in ("parquet", "csv", "jsonl"))


def read(path: Path) -> Iterator[Row]:
    """Documents of a folder of .txt files, a corpus folder, or a .txt, .jsonl, .csv or .parquet file."""
    try:
        yield from _reader(path)
    except OSError as error:
        raise DataError(f"{error.filename or path}: cannot be read ({error.strerror}).") from error


def _reader(path: Path) -> Iterator[Row]:
    if path.is_dir():
        return _corpus(path) if any((path / table).is_file() for table in TABLES) else _texts(path)
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


def _texts(folder: Path) -> Iterator[Row]:
    """Every .txt file below a folder; other files are named as unreadable, hidden ones passed over."""
    paths = sorted(_visible(folder))
    if not any(path.suffix.lower() == ".txt" for path in paths):
        raise DataError(f"{folder}: holds neither .txt files nor a corpus (sentences or documents table).")
    for path in paths:
        name = path.relative_to(folder)
        if path.suffix.lower() == ".txt":
            yield from _text_file(path, name.with_suffix("").as_posix())
        else:
            where = name.as_posix().encode(errors="backslashreplace").decode()
            yield Unreadable(where=where, reason="is not a .txt file; save its text as UTF-8 in one")


def _visible(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(place, name) for name in names if not name.startswith("."))


def _raise(error: OSError) -> None:
    raise error


def _text_file(path: Path, doc_id: str | None = None) -> Iterator[Row]:
    """Line ends stay as they are, so that offsets count the characters of the file."""
    where = str(path).encode(errors="backslashreplace").decode()
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            yield of_text(path.stem if doc_id is None else doc_id, stream.read(), where)
    except UnicodeDecodeError as error:
        yield Unreadable(where=where, reason=f"is not UTF-8 text (byte {error.start}); save it as UTF-8")
    except OSError as error:
        yield Unreadable(where=where, reason=f"cannot be read ({error.strerror})")


def _corpus(path: Path) -> Iterator[Row]:
    """A corpus folder, read whole through the door for data: its sentences, and its questions where it has any."""
    from probative.data import Corpus
    from probative.types import Role

    corpus = Corpus.read(path, labelled=False)
    view = corpus.view(corpus.doc_ids, Role.NEW, gold=False)
    table = corpus.sentences
    spans: Sequence[tuple[int, int] | None] = [None] * table.height
    if {"start", "end"} <= set(table.columns):
        spans = [None if start is None else (start, end) for start, end in table.select("start", "end").iter_rows()]
    asked: list[list[tuple[str, str]]] = [[] for _ in view.doc_ids]
    for doc, criterion in zip(view.query_doc.tolist(), view.query_criterion.tolist(), strict=True):
        asked[doc].append((view.criterion_ids[criterion], view.criterion_texts[criterion]))
    offsets = view.doc_offsets.tolist()
    for doc, doc_id in enumerate(view.doc_ids):
        here = slice(offsets[doc], offsets[doc + 1])
        yield NewDocument(
            doc_id=doc_id,
            sentences=tuple(zip(view.sent_uids[here], view.texts[here], strict=True)),
            spans=tuple(spans[here]),
            criteria=tuple(asked[doc]) or None,
        )


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
            except RecursionError:
                yield Unreadable(where=where, reason="is not JSON of a sane depth")
            except ValueError as error:
                yield Unreadable(where=where, reason=f"is not JSON ({error})")
            else:
                yield from_mapping(value, where)


def _csv(path: Path) -> Iterator[Row]:
    csv.field_size_limit(LONGEST_CELL)
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        header = stream.readline()
        separator = max(SEPARATORS, key=header.count)
        stream.seek(0)
        reader = csv.DictReader(stream, delimiter=separator, strict=True)
        _require(reader.fieldnames or [], path)
        while True:
            where = f"{path.name}, line {reader.line_num + 1}"
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                lost = "; a quotation mark is never closed, so nothing behind it could be read"
                reason = f"is not CSV ({error}){lost if 'end of data' in str(error) else ''}"
                yield Unreadable(where=where, reason=reason)
                continue
            if None in row or None in row.values():
                yield Unreadable(where=where, reason="has more or fewer cells than the header")
            else:
                yield from_mapping(row, where)


def _parquet(path: Path) -> Iterator[Row]:
    import polars as pl

    try:
        names = pl.read_parquet_schema(path)
        _require(list(names), path)
        done = 0
        while rows := pl.scan_parquet(path).slice(done, SLICE).collect().to_dicts():
            for number, row in enumerate(rows, start=done + 1):
                yield from_mapping(row, f"{path.name}, row {number}")
            done += len(rows)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{path}: cannot be read as Parquet ({error}).") from error


def _require(names: Iterable[str], path: Path) -> None:
    found = set(names)
    if not found & set(ALIASES["doc_id"]):
        raise DataError(f"{path}: has no column doc_id; it has {', '.join(sorted(found))}. Rename one of them.")
    if not found & {*ALIASES["text"], "sentences"}:
        raise DataError(f"{path}: has no column text; it has {', '.join(sorted(found))}. Rename one of them.")
