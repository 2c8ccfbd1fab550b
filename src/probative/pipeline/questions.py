"""New documents and the questions asked of them, as one View."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from probative import segments
from probative.data.sentences import split
from probative.errors import DataError
from probative.pipeline.documents import NewDocument, Span
from probative.types import Role, View

Criteria = Sequence[tuple[str, str]]
"""(criterion_id, text)"""
NO_QUESTION = (
    "this model was trained with one question a document, so every new document must bring its own: "
    '"criteria": [{"criterion_id": …, "text": …}]'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """A view of new documents, and where its sentences stand in their texts."""

    view: View
    spans: Sequence[Span | None]
    """(S,)"""


def ask(documents: Sequence[NewDocument], criteria: Criteria, language: str) -> Questions:
    """Every document's sentences with its own questions, or the model's where it brings none."""
    uids: list[str] = []
    texts: list[str] = []
    spans: list[Span | None] = []
    sizes: list[int] = []
    asked: dict[tuple[str, str], int] = {}
    query_doc: list[int] = []
    query_criterion: list[int] = []
    for number, document in enumerate(documents):
        before = len(uids)
        for uid, text, span in _sentences(document, language):
            uids.append(uid)
            texts.append(text)
            spans.append(span)
        sizes.append(len(uids) - before)
        own = document.criteria or criteria
        if not own:
            raise DataError(f"document {document.doc_id!r}: {NO_QUESTION}")
        query_doc += [number] * len(own)
        query_criterion += [asked.setdefault(question, len(asked)) for question in own]
    named = sorted(asked)
    place = np.zeros(len(named), dtype=np.int64)
    place[[asked[question] for question in named]] = np.arange(len(named))
    doc, criterion = np.array(query_doc, dtype=np.int64), place[np.array(query_criterion, dtype=np.int64)]
    order = np.lexsort((criterion, doc))
    view = View(
        role=Role.NEW,
        doc_ids=tuple(document.doc_id for document in documents),
        doc_offsets=segments.from_lengths(np.array(sizes, dtype=np.int64)),
        sent_uids=tuple(uids),
        texts=tuple(texts),
        criterion_ids=tuple(criterion_id for criterion_id, _ in named),
        criterion_texts=tuple(text for _, text in named),
        query_doc=doc[order],
        query_criterion=criterion[order],
    )
    return Questions(view=view, spans=spans)


def _sentences(document: NewDocument, language: str) -> list[tuple[str, str, Span | None]]:
    if document.sentences is not None:
        spans = document.spans or (None,) * len(document.sentences)
        cut = zip(document.sentences, spans, strict=True)
        return [(uid, text, span) for (uid, text), span in cut if text.strip()]
    text = document.text or ""
    return [
        (f"{document.doc_id}_{n}", text[start:end], (start, end))
        for n, (start, end) in enumerate(split(text, language))
    ]
