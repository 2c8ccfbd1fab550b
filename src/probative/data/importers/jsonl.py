"""JSONL with a document a line, its sentences or text, and its evidence inside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from probative.data import json_text
from probative.data.importers.records import Walk, read_text
from probative.data.meta import CorpusMeta
from probative.data.problems import Problem
from probative.data.source import ROW, Source, Table
from probative.errors import DataError

SENTENCE = {"doc_id": pl.String, "sent_idx": pl.Int64, "sent_uid": pl.String, "text": pl.String}
MARK = {
    "doc_id": pl.String,
    "criterion_id": pl.String,
    "sent_uid": pl.String,
    "start": pl.Int64,
    "end": pl.Int64,
    "quote": pl.String,
}
PAIR = {"doc_id": pl.String, "criterion_id": pl.String, "has_evidence": pl.Int64}
CRITERION = {"criterion_id": pl.String, "text": pl.String, "name": pl.String}
OURS = {"doc_id", "id", "text", "sentences", "evidence", "label", "pairs"}
Row = dict[str, Any]


def read(path: Path, *, encoding: str | None = None) -> Source:
    """Read one file; a line is a document or a criterion.

    `{"criterion_id": "C1", "text": "…"}`, then
    `{"doc_id": "d1", "text": "…", "evidence": [{"criterion_id": "C1", "start": 0, "end": 12}]}` or
    `{"doc_id": "d1", "sentences": ["…", "…"], "evidence": [{"criterion_id": "C1", "sentence": 1}]}`.
    Evidence may also be a `quote`, or `"rejected": true`. `pairs` ({"C1": 0, "C2": 1}) lists the labelled criteria;
    further keys with single values become grouping columns. doccano's `"label": [[0, 12, "C1"]]` is read too.
    """
    if not path.is_file():
        raise DataError(f"{path}: is no file. Give the .jsonl file itself.")
    reader = _Reader(path.name)
    for number, record in _lines(read_text(path, encoding), reader.walk):
        reader.take(record, number)
    return reader.source(path)


def _lines(text: str, walk: Walk) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json_text.loads(line)
        except json.JSONDecodeError as error:
            walk.complain("bad-json", f"is not valid JSON ({error.msg}).", "Write one JSON object a line.", number)
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            walk.complain("bad-json", "is no JSON object.", "Write one JSON object a line.", number)


class _Reader:
    def __init__(self, file: str) -> None:
        self.walk = Walk(file)
        self.documents: list[Row] = []
        self.sentences: list[Row] = []
        self.criteria: list[Row] = []
        self.marks: dict[bool, list[Row]] = {False: [], True: []}
        self.pairs: list[Row] = []
        self.unused: set[str] = set()
        """Keys with lists or objects, which no column can hold."""
        self.whole: set[bool] = set()
        """Whether documents came as whole texts, as sentences, or both."""

    def take(self, record: dict[str, Any], row: int) -> None:
        identity = record.get("doc_id", record.get("id"))
        if isinstance(identity, str | int) and not isinstance(identity, bool):
            self._document(record, str(identity), row)
        elif isinstance(record.get("criterion_id"), str):
            text = self.walk.get(record, "text", str, f"criterion {record['criterion_id']!r}", row)
            if text is not None:
                self.criteria.append({ROW: row, **{name: record.get(name) for name in CRITERION}})
        else:
            remedy = "A line is a document (doc_id) or a criterion (criterion_id)."
            self.walk.complain("missing-id", "has no doc_id.", remedy, row)

    def _document(self, record: dict[str, Any], doc_id: str, row: int) -> None:
        uids = self._text(record, doc_id, row)
        others = {name: value for name, value in record.items() if name not in OURS and value is not None}
        groups = {name: value for name, value in others.items() if isinstance(value, str | int | float | bool)}
        self.unused |= others.keys() - groups.keys()
        text = {} if uids is not None else {"text": record.get("text")}
        named = {name: str(value) for name, value in groups.items()}
        self.documents.append({**named, ROW: row, "doc_id": doc_id, **text})
        where = f"document {doc_id!r}"
        evidence = self.walk.may(record, "evidence", list, where, row) or []
        labels = self.walk.may(record, "label", list, where, row) or []
        for item in [*evidence, *map(_from_doccano, labels)]:
            self._mark(item, doc_id, uids, row)
        for criterion_id, given in (self.walk.may(record, "pairs", dict, where, row) or {}).items():
            if given is None or given in (0, 1):
                has = None if given is None else int(given)
                self.pairs.append({"doc_id": doc_id, "criterion_id": criterion_id, "has_evidence": has})
            else:
                what = f"document {doc_id!r}: the pair {criterion_id!r} is {given!r}."
                self.walk.complain("wrong-type", what, "Write 0, 1 or null (null: taken from the evidence).", row)

    def _text(self, record: dict[str, Any], doc_id: str, row: int) -> list[str] | None:
        """The uids of a document that comes in sentences; None for one that comes as a text."""
        if ("text" in record) == ("sentences" in record):
            what = f"document {doc_id!r} must have either 'text' or 'sentences'."
            self.walk.complain("two-texts", what, "Keep the one that counts.", row)
            return None
        self.whole.add("text" in record)
        if "text" in record:
            self.walk.get(record, "text", str, f"document {doc_id!r}", row)
            return None
        uids: list[str] = []
        for place, sentence in enumerate(self.walk.get(record, "sentences", list, f"document {doc_id!r}", row) or []):
            given = sentence if isinstance(sentence, dict) else {"text": sentence}
            uids.append(str(given.get("sent_uid", f"{doc_id}_{place}")))
            text = self.walk.get(given, "text", str, f"document {doc_id!r}, sentence {place}", row)
            self.sentences.append({"doc_id": doc_id, "sent_idx": place, "sent_uid": uids[-1], "text": text})
        return uids

    def _mark(self, item: Any, doc_id: str, uids: list[str] | None, row: int) -> None:
        where = f"document {doc_id!r}, evidence"
        criterion_id = self.walk.get(item, "criterion_id", str, where, row)
        if criterion_id is None:
            return
        mark: Row = {"doc_id": doc_id, "criterion_id": criterion_id}
        places: dict[str, type] = {"start": int, "end": int, "quote": str, "sent_uid": str}
        mark |= {name: self.walk.get(item, name, kind, where, row) for name, kind in places.items() if name in item}
        if "sentence" in item:
            place = self.walk.get(item, "sentence", int, where, row)
            if place is None:
                return
            if uids is None or not 0 <= place < len(uids):
                count = f"{len(uids)} sentences" if uids is not None else "a text, not sentences"
                what = f"{where}: there is no sentence {place}; the document has {count}."
                self.walk.complain("unknown-sentence", what, "Sentences are counted from 0.", row)
                return
            mark["sent_uid"] = uids[place]
        self.marks[bool(self.walk.may(item, "rejected", bool, where, row))].append(mark)

    def source(self, path: Path) -> Source:
        """What was read, as tables."""
        if len(self.whole) > 1:
            what = "has documents with 'text' and documents with 'sentences'."
            self.walk.complain("two-texts", what, "Use one of the two throughout.")
        name = path.name
        tables = {"documents": Table.of(f"{name} (documents)", _frame(self.documents, {"doc_id": pl.String}))}
        given: dict[str, tuple[list[Row], dict[str, Any], bool]] = {
            "sentences": (self.sentences, SENTENCE, bool(self.sentences)),
            "criteria": (self.criteria, CRITERION, bool(self.criteria)),
            "gold": (self.marks[False], MARK, True),
            "rejected": (self.marks[True], MARK, bool(self.marks[True])),
            "pairs": (self.pairs, PAIR, bool(self.pairs)),
        }
        for table, (rows, schema, present) in given.items():
            if present:
                tables[table] = Table.of(f"{name} ({table})", _frame(rows, schema))
        problems = [*self.walk.problems, *([] if self.criteria else [_no_criteria(name)])]
        notes = (f"{name}: keys not used: {', '.join(sorted(self.unused))}",) if self.unused else ()
        return Source(meta=CorpusMeta(name=path.stem, source=name), tables=tables, notes=notes, problems=problems)


def _from_doccano(item: Any) -> Any:
    match item:
        case [start, end, str(criterion_id)]:
            return {"start": start, "end": end, "criterion_id": criterion_id}
    return item


def _no_criteria(file: str) -> Problem:
    remedy = 'Add a line for each: {"criterion_id": "C1", "text": "what is asked for"}.'
    return Problem(code="missing-table", file="criteria", what=f"{file} has no criteria.", remedy=remedy)


def _frame(rows: list[Row], schema: dict[str, Any]) -> pl.DataFrame:
    names = [*schema, *dict.fromkeys(name for row in rows for name in row if name not in schema)]
    return pl.DataFrame(
        {name: [row.get(name) for row in rows] for name in names},
        schema_overrides=schema,
        strict=False,
    )
