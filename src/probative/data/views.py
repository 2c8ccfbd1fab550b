"""From a corpus to the flat arrays of a View."""

from __future__ import annotations

import numpy as np
import polars as pl

from probative import segments
from probative.segments import BoolArray, IntArray
from probative.types import Role, View


def _positions(frame: pl.DataFrame, keys: pl.DataFrame, key: str) -> IntArray:
    """For every row of `frame` the place of its key in `keys`."""
    numbered = keys.select(key).with_row_index("place")
    return (
        frame.select(key).join(numbered, on=key, how="left", maintain_order="left")["place"].to_numpy().astype(np.int64)
    )


def whole(
    documents: pl.DataFrame,
    sentences: pl.DataFrame,
    criteria: pl.DataFrame,
    gold: pl.DataFrame,
    rejected: pl.DataFrame,
    pairs: pl.DataFrame,
) -> View:
    """The view of everything, gold included; frames are in canonical order."""
    sizes = np.bincount(_positions(sentences, documents, "doc_id"), minlength=documents.height)
    blank = View(
        role=Role.NEW,
        doc_ids=tuple(documents["doc_id"].to_list()),
        doc_offsets=segments.from_lengths(sizes),
        sent_uids=tuple(sentences["sent_uid"].to_list()),
        texts=tuple(sentences["text"].to_list()),
        criterion_ids=tuple(criteria["criterion_id"].to_list()),
        criterion_texts=tuple(criteria["text"].to_list()),
        query_doc=_positions(pairs, documents, "doc_id"),
        query_criterion=_positions(pairs, criteria, "criterion_id"),
    )
    return View(
        **{name: getattr(blank, name) for name in _PLAIN},
        gold=_marks(blank, gold, pairs, sentences),
        rejected=_marks(blank, rejected, pairs, sentences),
        has_evidence=pairs["has_evidence"].to_numpy() == 1,
    )


_PLAIN = (
    "role",
    "doc_ids",
    "doc_offsets",
    "sent_uids",
    "texts",
    "criterion_ids",
    "criterion_texts",
    "query_doc",
    "query_criterion",
)


def _marks(view: View, marked: pl.DataFrame, pairs: pl.DataFrame, sentences: pl.DataFrame) -> BoolArray:
    """(N,) true on the rows that `marked` names."""
    queries = pairs.select("doc_id", "criterion_id").with_row_index("query")
    query = marked.join(queries, on=["doc_id", "criterion_id"], how="left", maintain_order="left")["query"]
    sentence = _positions(marked, sentences, "sent_uid")
    place = query.to_numpy().astype(np.int64)
    rows = np.zeros(view.n_rows, dtype=np.bool_)
    rows[view.offsets[place] + sentence - view.doc_offsets[view.query_doc[place]]] = True
    return rows
