"""Out-of-fold scores: every document of TRAIN is scored by a model that was fitted without it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from probative import segments
from probative.errors import DataError
from probative.segments import FloatArray, IntArray
from probative.types import Floats, Inputs, Scorer, Scores, View


def oof(make: Callable[[], Scorer], inputs: Inputs, parts: IntArray | int, *, seed: int = 0) -> Scores:
    """Score every part by a fit on the others; `parts` is their number, or (D,) the part of each document."""
    chosen = deal(inputs.view, parts, seed) if isinstance(parts, int) else np.asarray(parts, dtype=np.int64)
    made: list[tuple[IntArray, Scores]] = []
    for part in np.unique(chosen):
        rest = inputs.take(np.flatnonzero(chosen != part))
        here = np.flatnonzero(chosen == part)
        scorer = make().fit(rest)
        made.append((here, scorer.score(_blind(inputs.take(here)))))
    return _together(inputs.view, made)


def deal(view: View, parts: int, seed: int) -> IntArray:
    """(D,) a part for every document by the seeded hash of its id, so that removing another document moves none.

    Where that would leave a part's complement without evidence, the documents with evidence are dealt in turn.
    """
    if view.gold is None or view.n_documents < 2:
        raise DataError("Cross-fitting needs at least two labelled documents in TRAIN. Add documents.")
    hashes = [hashlib.sha256(f"{seed}/part\0{doc_id}".encode()).digest() for doc_id in view.doc_ids]
    part = np.array([int.from_bytes(digest[:8], "big") % parts for digest in hashes], dtype=np.int64)
    found = np.unique(view.query_doc[view.located])
    if len(found) < 2:
        raise DataError("Cross-fitting needs evidence in at least two documents of TRAIN. Add annotated documents.")
    if len(np.unique(part[found])) < 2:
        part[found] = np.arange(len(found)) % parts
    return part


def _blind(inputs: Inputs) -> Inputs:
    return replace(inputs, view=inputs.view.blind())


def _together(view: View, made: list[tuple[IntArray, Scores]]) -> Scores:
    rank = np.zeros(view.n_rows)
    node: FloatArray | None = np.zeros(view.n_rows) if all(s.node is not None for _, s in made) else None
    gate: FloatArray | None = np.zeros(view.n_queries) if all(s.gate is not None for _, s in made) else None
    for documents, scores in made:
        queries = np.flatnonzero(np.isin(view.query_doc, documents))
        rows = segments.rows(view.offsets, queries)
        rank[rows] = scores.rank
        _place(node, rows, scores.node)
        _place(gate, queries, scores.gate)
    return Scores(rank=rank, node=node, gate=gate)


def _place(out: FloatArray | None, where: IntArray, values: Floats | None) -> None:
    if out is not None and values is not None:
        out[where] = values
