"""Cutting documents into sentences that know where they stand in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable

import polars as pl
import sentencex

Span = tuple[int, int]

_RUN = re.compile(r"[!?]{2,}")
_CLOSED = re.compile(r"[.!?][)\]](?=\s+[\"'“‘(\[]?[A-Z])")


def _hidden(text: str) -> str:
    """The text, as long as before, without the marks that the splitter passes over: `?!`, `!!!`, `.)`."""
    text = _RUN.sub(lambda run: "x" * (len(run[0]) - 1) + run[0][-1], text)
    return _CLOSED.sub("x.", text)


def split(text: str, language: str = "en") -> list[Span]:
    """Where the sentences of a text stand, as (start, end) in characters, white space around them left out.

    A piece without a letter or digit group of its own ("1.", "***") belongs to the sentence after it.

    >>> text = "Dr. X paid 3.5 euros?! I left."
    >>> [text[start:end] for start, end in split(text)]
    ['Dr. X paid 3.5 euros?!', 'I left.']
    """
    spans: list[Span] = []
    waiting: int | None = None
    for piece in sentencex.get_sentence_boundaries(language, _hidden(text)):
        start, end = piece["start_index"], piece["end_index"]
        part = text[start:end]
        if not part.strip():
            continue
        first = start + len(part) - len(part.lstrip())
        last = end - len(part) + len(part.rstrip())
        waiting = first if waiting is None else waiting
        if any(letter.isalpha() for letter in part):
            spans.append((waiting, last))
            waiting = None
        tail = last
    if waiting is not None:
        begin = spans.pop()[0] if spans else waiting
        spans.append((begin, tail))
    return spans


def cut(doc_ids: Iterable[str], texts: Iterable[str], language: str) -> pl.DataFrame:
    """The sentences table of whole documents; uids are the document's id and the sentence's number."""
    owner: list[str] = []
    number: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    parts: list[str] = []
    for doc_id, text in zip(doc_ids, texts, strict=True):
        for place, (start, end) in enumerate(split(text, language)):
            owner.append(doc_id)
            number.append(place)
            starts.append(start)
            ends.append(end)
            parts.append(text[start:end])
    data = {"doc_id": owner, "sent_idx": number, "text": parts, "start": starts, "end": ends}
    schema = {"doc_id": pl.String, "sent_idx": pl.Int64, "text": pl.String, "start": pl.Int64, "end": pl.Int64}
    uid = pl.concat_str("doc_id", pl.lit("_"), "sent_idx").alias("sent_uid")
    return pl.DataFrame(data, schema=schema).with_columns(uid)
