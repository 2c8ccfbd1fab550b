"""Readers of other formats: each gives unchecked tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from probative.data.importers import contractnli, cuad, jsonl, redsm5
from probative.data.source import Source

READERS: Mapping[str, Callable[..., Source]] = {
    "redsm5": redsm5.read,
    "contractnli": contractnli.read,
    "cuad": cuad.read,
    "jsonl": jsonl.read,
}
PEEK = 1 << 20
TABLES = ("sentences", "documents")


def detect(path: Path) -> str | None:
    """The format of a file or folder where it can be nothing else; None for tables and for what is not known."""
    if path.is_dir():
        if any(file.stem in TABLES for file in path.iterdir()):
            return None
        if redsm5.find(path, "posts") and any(b"DSM5_symptom" in _head(f) for f in redsm5.find(path, "annotations")):
            return "redsm5"
        found = {_shape(file) for file in path.glob("*.json")}
        return found.pop() if len(found) == 1 else None
    if path.suffix in (".jsonl", ".ndjson"):
        return "jsonl"
    return _shape(path) if path.suffix == ".json" and path.is_file() else None


def _head(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(PEEK)


def _shape(file: Path) -> str | None:
    head = _head(file)
    if b'"annotation_sets"' in head and b'"spans"' in head:
        return "contractnli"
    return "cuad" if b'"paragraphs"' in head and b'"qas"' in head else None
