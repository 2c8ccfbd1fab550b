"""The audit's own small reader of corpus folders."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probative.audit.queries import raw_rows

FORMATS = (".parquet", ".csv", ".jsonl")
TABLES = ("sentences", "criteria", "gold", "rejected", "pairs", "documents")


@dataclass(frozen=True)
class Annotated:
    """What the corpus itself says, read without the data room."""

    sentences: Mapping[str, list[str]]
    """Document → its sentence ids in order."""
    texts: Mapping[str, str]
    """Sentence → text."""
    gold: Mapping[tuple[str, str], set[str]] | None
    pairs: Mapping[tuple[str, str], bool | None] | None
    criteria: Mapping[str, str]
    """Criterion → text."""
    columns: Mapping[str, Mapping[str, Any]]
    """Sentence → whatever else its table says about it."""

    def labels(self) -> dict[tuple[str, str], bool]:
        """Whether each labelled pair has evidence."""
        gold = self.gold or {}
        pairs = self.pairs if self.pairs is not None else {(d, c): None for d in self.sentences for c in self.criteria}
        return {key: bool(gold.get(key)) if stated is None else stated for key, stated in pairs.items()}


def read_rows(folder: Path, name: str) -> list[dict[str, Any]] | None:
    """One table of a corpus folder, None when it has none of that name."""
    path = next((folder / f"{name}{suffix}" for suffix in FORMATS if (folder / f"{name}{suffix}").is_file()), None)
    return None if path is None else list(raw_rows(path))


def read_meta(folder: Path) -> dict[str, Any]:
    """corpus.toml, empty when there is none."""
    path = folder / "corpus.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def read_corpus(folder: Path) -> Annotated | None:
    """A corpus folder whose gold names sentences; None when it must first be imported."""
    sentences, criteria = read_rows(folder, "sentences"), read_rows(folder, "criteria")
    if not sentences or not criteria or "sent_uid" not in sentences[0] or "criterion_id" not in criteria[0]:
        return None
    ordered: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for row in sentences:
        ordered[str(row["doc_id"])].append((int(row["sent_idx"]), str(row["sent_uid"])))
    gold = read_rows(folder, "gold") or []
    located = all(row.get("sent_uid") for row in gold)
    marked: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in gold if located else ():
        marked[str(row["doc_id"]), str(row["criterion_id"])].add(str(row["sent_uid"]))
    pairs = read_rows(folder, "pairs")
    known = {"doc_id", "sent_idx", "sent_uid", "text", "start", "end"}
    return Annotated(
        sentences={doc: [uid for _, uid in sorted(rows)] for doc, rows in ordered.items()},
        texts={str(row["sent_uid"]): str(row["text"]) for row in sentences},
        gold=dict(marked) if located else None,
        pairs=None if pairs is None else {(str(r["doc_id"]), str(r["criterion_id"])): _stated(r) for r in pairs},
        criteria={str(row["criterion_id"]): str(row["text"]) for row in criteria},
        columns={str(row["sent_uid"]): {k: v for k, v in row.items() if k not in known} for row in sentences},
    )


def _stated(row: Mapping[str, Any]) -> bool | None:
    value = row.get("has_evidence")
    return None if value is None or value == "" else str(value).strip().lower() in {"1", "1.0", "true"}
