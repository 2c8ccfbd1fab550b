"""A new document to decide on, and what a row must be to become one; what cannot be read is told apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ALIASES = {"doc_id": ("doc_id", "post_id", "id"), "text": ("text", "body")}
Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A document to decide on: its text, or its sentences; its own questions where the model's are not meant.

    >>> NewDocument(doc_id="letter", text="I sleep badly. All is well.").size
    27
    """

    doc_id: str
    text: str | None = None
    sentences: tuple[tuple[str, str], ...] | None = None
    """(sent_uid, text)"""
    spans: tuple[Span | None, ...] | None = None
    """Where each of `sentences` stands in the document, where that is known."""
    criteria: tuple[tuple[str, str], ...] | None = None
    """(criterion_id, text)"""

    @property
    def size(self) -> int:
        """Characters."""
        return len(self.text or "") + sum(len(text) for _, text in self.sentences or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A row that could not become a document, and why."""

    where: str
    reason: str


Row = NewDocument | Unreadable


def from_mapping(row: Any, where: str) -> Row:
    """One row of a table as a document: doc_id with text, or with sentences; optionally its own criteria."""
    if not isinstance(row, Mapping):
        return Unreadable(where=where, reason="is not an object with doc_id and text")
    doc_id = _first(row, "doc_id")
    if isinstance(doc_id, bool) or not isinstance(doc_id, str | int) or not str(doc_id).strip():
        return Unreadable(where=where, reason="has no doc_id that is text or a whole number")
    try:
        doc_id = _text(str(doc_id), "doc_id")
        sentences, criteria = row.get("sentences"), row.get("criteria")
        cut = None if sentences is None else [_sentence(doc_id, n, s) for n, s in enumerate(_list(sentences))]
        if cut is not None:
            _distinct([uid for uid, _, _ in cut], "sent_uid")
        return NewDocument(
            doc_id=doc_id,
            text=_text(_first(row, "text"), "text") if cut is None else None,
            sentences=None if cut is None else tuple((uid, text) for uid, text, _ in cut),
            spans=None if cut is None else tuple(span for _, _, span in cut),
            criteria=None if criteria is None else _questions(criteria),
        )
    except ValueError as error:
        return Unreadable(where=f"{where} ({doc_id!r})", reason=str(error))


def of_text(doc_id: str, text: str, where: str) -> Row:
    """A whole text as a document, unless it holds what is no character."""
    return from_mapping({"doc_id": doc_id, "text": text}, where)


def _first(row: Mapping[str, Any], ours: str) -> Any:
    return next((row[name] for name in ALIASES[ours] if row.get(name) is not None), None)


def _text(value: Any, name: str) -> str:
    if value is None:
        raise ValueError(f"has no {name}")
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string, not {type(value).__name__}")
    try:
        value.isascii() or value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} is not UTF-8 text (character {error.start}); save it as UTF-8") from None
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ValueError("sentences and criteria must be lists")
    return list(value)


def _sentence(doc_id: str, number: int, value: Any) -> tuple[str, str, Span | None]:
    uid = f"{doc_id}_{number}"
    if isinstance(value, str):
        return uid, _text(value, "a sentence"), None
    if not isinstance(value, Mapping):
        raise ValueError("a sentence must be a string or an object with text")
    given, text = value.get("sent_uid"), _text(value.get("text"), "text of a sentence")
    start, end = value.get("start"), value.get("end")
    span = (start, end) if isinstance(start, int) and isinstance(end, int) else None
    return uid if given is None else _text(str(given), "sent_uid"), text, span


def _questions(values: Any) -> tuple[tuple[str, str], ...]:
    made = []
    for value in _list(values):
        if not isinstance(value, Mapping) or value.get("criterion_id") is None:
            raise ValueError('each of its criteria must be {"criterion_id": …, "text": …}')
        criterion_id = _text(str(value["criterion_id"]), "criterion_id")
        made.append((criterion_id, _text(value.get("text"), "text of a criterion")))
    if not made or not all(criterion_id.strip() and text.strip() for criterion_id, text in made):
        raise ValueError("its criteria are empty")
    _distinct([criterion_id for criterion_id, _ in made], "criterion_id")
    return tuple(made)


def _distinct(names: list[str], what: str) -> None:
    if len(set(names)) < len(names):
        raise ValueError(f"has the same {what} twice")
