"""ContractNLI: agreements cut into spans, and hypotheses that they entail, contradict or do not mention."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from probative.data.importers.records import Walk, json_files, read_json
from probative.data.meta import CorpusMeta
from probative.data.problems import Problem
from probative.data.source import Source, Table

EVIDENCE = {"Entailment": 1, "Contradiction": 1, "NotMentioned": 0}
SCHEMAS: dict[str, dict[str, type[pl.DataType]]] = {
    "documents": {"doc_id": pl.String, "file_name": pl.String, "split": pl.String},
    "sentences": {
        "doc_id": pl.String,
        "sent_idx": pl.Int64,
        "sent_uid": pl.String,
        "text": pl.String,
        "start": pl.Int64,
        "end": pl.Int64,
    },
    "criteria": {"criterion_id": pl.String, "text": pl.String, "name": pl.String},
    "gold": {"doc_id": pl.String, "criterion_id": pl.String, "sent_uid": pl.String},
    "pairs": {"doc_id": pl.String, "criterion_id": pl.String, "has_evidence": pl.Int64},
}
Rows = dict[str, list[tuple[Any, ...]]]


def read(path: Path, *, encoding: str | None = None) -> Source:
    """Read train.json, dev.json, test.json, or a folder with any of them; the file's name becomes the column `split`.

    A hypothesis is a criterion, a span a sentence. Entailment and Contradiction both count as evidence, with their
    spans as gold; NotMentioned is has_evidence = 0.
    """
    rows: Rows = {name: [] for name in SCHEMAS}
    problems: list[Problem] = []
    files = json_files(path)
    criteria: dict[str, tuple[str, str, str]] = {}
    for file in files:
        walk = Walk(file.name)
        data = read_json(file, encoding)
        criteria |= {row[0]: row for row in _criteria(data, walk)}
        for number, document in enumerate(walk.get(data, "documents", list, "the file") or [], start=1):
            _document(document, f"document {number}", file.stem, rows, walk)
        problems += walk.problems
    rows["criteria"] = list(criteria.values())
    name = "+".join(file.name for file in files)
    tables = {
        table: Table.of(f"{name} ({table})", pl.DataFrame(rows[table], schema=schema, orient="row"))
        for table, schema in SCHEMAS.items()
    }
    meta = CorpusMeta(name="contractnli", licence="CC-BY-4.0", source=f"ContractNLI ({name})")
    note = "ContractNLI: Entailment and Contradiction both became evidence; which of the two is not kept"
    return Source(meta=meta, tables=tables, notes=(note,), problems=problems)


def _criteria(data: dict[str, Any], walk: Walk) -> Iterator[tuple[str, str, str]]:
    for name, label in (walk.get(data, "labels", dict, "the file") or {}).items():
        text = walk.get(label, "hypothesis", str, f"label {name!r}")
        if text is not None:
            yield name, text, label.get("short_description") or name


def _document(document: Any, where: str, split: str, rows: Rows, walk: Walk) -> None:
    number = document.get("id") if isinstance(document, dict) else None
    if not isinstance(number, int | str):
        walk.complain("missing-id", f"{where}: 'id' is missing.", "Every document has an id.")
        return
    doc_id = str(number)
    text = walk.get(document, "text", str, where)
    spans = walk.get(document, "spans", list, where)
    annotations = _annotations(document, where, walk)
    if text is None or spans is None or annotations is None:
        return
    rows["documents"].append((doc_id, document.get("file_name"), split))
    uids = _sentences(doc_id, text, spans, where, rows, walk)
    for name, annotation in annotations.items():
        _annotation(doc_id, name, annotation, uids, where, rows, walk)


def _annotations(document: Any, where: str, walk: Walk) -> dict[str, Any] | None:
    sets = walk.get(document, "annotation_sets", list, where)
    if sets is None:
        return None
    if len(sets) != 1:
        remedy = "The official files have one; keep the set that shall count."
        walk.complain("wrong-type", f"{where}: has {len(sets)} annotation sets.", remedy)
        return None
    return walk.get(sets[0], "annotations", dict, where)


def _sentences(doc_id: str, text: str, spans: list[Any], where: str, rows: Rows, walk: Walk) -> dict[int, str]:
    """Add the spans that hold text; gives the uid of each by its number in the file."""
    uids: dict[int, str] = {}
    for number, span in enumerate(spans):
        match span:
            case [int(start), int(end)] if 0 <= start <= end <= len(text):
                if text[start:end].strip():
                    uids[number] = f"{doc_id}_{number}"
                    row = (doc_id, len(uids) - 1, uids[number], text[start:end], start, end)
                    rows["sentences"].append(row)
            case _:
                remedy = f"A span is [start, end] in characters of a text of {len(text)}."
                walk.complain("bad-span", f"{where}: span {number} is {span!r}.", remedy)
    return uids


def _annotation(
    doc_id: str, name: str, annotation: Any, uids: dict[int, str], where: str, rows: Rows, walk: Walk
) -> None:
    choice = walk.get(annotation, "choice", str, f"{where}, {name}")
    if choice is None:
        return
    if choice not in EVIDENCE:
        remedy = f"Choices: {', '.join(EVIDENCE)}."
        walk.complain("wrong-type", f"{where}, {name}: choice is {choice!r}.", remedy)
        return
    rows["pairs"].append((doc_id, name, EVIDENCE[choice]))
    for number in walk.may(annotation, "spans", list, f"{where}, {name}") or []:
        if isinstance(number, int) and number in uids:
            rows["gold"].append((doc_id, name, uids[number]))
        else:
            remedy = "Evidence is named by the number of a span that holds text, counted from 0."
            walk.complain("unknown-sentence", f"{where}, {name}: there is no span {number!r}.", remedy)
