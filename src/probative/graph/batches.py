"""Sentence graphs of all queries in padded arrays, built once and cut into batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from probative import segments
from probative.graph.settings import EdgeSettings
from probative.segments import BoolArray, FloatArray, IntArray
from probative.types import Floats, Inputs, Vectors, View

BASE = ("rerank", "linear", "retrieve", "dense", "bm25")
"""The score of the stage before (the first that is there): it chooses the nodes and is fused with P3's."""
LOG_ODDS = ("rerank_node", "linear")
"""Scores that are comparable between queries; the first that is there carries the heads of node and gate."""
FEATURES = ("rerank_node", "linear", "rerank", "retrieve", "dense", "bm25", "late")


@dataclass(frozen=True, kw_only=True)
class Graphs:
    """Q graphs of at most n nodes."""

    rows: IntArray
    """(Q, n) candidate row of every node, -1 beyond the graph's end; best base score first."""
    sentence: IntArray
    """(Q, n) position of the node's sentence vector."""
    criterion: IntArray
    """(Q,)"""
    features: Vectors
    """(Q, n, f) not yet scaled."""
    base: Vectors
    """(Q, n) score of the stage before, scaled to [0, 1] in the query."""
    odds: Vectors
    """(Q, n) log-odds of the stage before, 0 where no earlier stage has any."""
    adjacency: NDArray[np.uint8]
    """(Q, n, n) symmetric, without self loops."""

    @property
    def mask(self) -> BoolArray:
        """(Q, n) which nodes are there."""
        return np.asarray(self.rows >= 0)


def _first(names: tuple[str, ...], inputs: Inputs) -> str | None:
    return next((name for name in names if name in inputs.scores), None)


def whole_base(inputs: Inputs, sources: Sources) -> FloatArray:
    """(N,) the score of the stage before, 0 where there is no such stage."""
    return _flat(inputs, sources.base)


def _flat(inputs: Inputs, name: str | None) -> FloatArray:
    return np.asarray(inputs.scores[name] if name else np.zeros(inputs.view.n_rows), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The scores that graphs are made of, chosen where the model is fitted."""

    base: str | None
    odds: str | None
    features: tuple[str, ...]

    @staticmethod
    def of(inputs: Inputs) -> Sources:
        """The best of what these inputs have."""
        features = tuple(name for name in FEATURES if name in inputs.scores)
        return Sources(base=_first(BASE, inputs), odds=_first(LOG_ODDS, inputs), features=features)

    def missing(self, inputs: Inputs) -> list[str]:
        """Those that these inputs lack."""
        needed = {self.base, self.odds, *self.features} - {None}
        return sorted(str(name) for name in needed if name not in inputs.scores)


def build_graphs(inputs: Inputs, size: int, edges: EdgeSettings, sources: Sources) -> Graphs:
    """Draw the graph of every query over its `size` best candidates in the pool."""
    view = inputs.view
    names = sources.features
    base = whole_base(inputs, sources)
    rows = _nodes(view, base, inputs.pool, size)
    mask = rows >= 0
    safe = np.where(mask, rows, 0)
    sentence = np.where(mask, view.sentence[safe], 0) if view.n_rows else np.zeros_like(rows)
    odds = _padded(_flat(inputs, sources.odds), safe, mask)
    columns = [_standing(_padded(inputs.scores[name], safe, mask), mask) for name in names]
    columns += [_around(inputs.scores[name], view, safe, mask) for name in names[:1]]
    columns.append(_place(view, safe, mask))
    features = np.concatenate(columns, axis=2).astype(np.float32)
    return Graphs(
        rows=rows,
        sentence=sentence,
        criterion=view.query_criterion,
        features=np.where(mask[:, :, None], features, 0).astype(np.float32),
        base=_minmax(_padded(base, safe, mask), mask).astype(np.float32),
        odds=np.where(mask, odds, 0).astype(np.float32),
        adjacency=_adjacency(inputs, sentence, mask, edges),
    )


def _nodes(view: View, base: FloatArray, pool: BoolArray | None, size: int) -> IntArray:
    inside = np.ones(view.n_rows, dtype=bool) if pool is None else pool
    score = np.where(inside, base, -np.inf)
    ranks = segments.rank(score, view.offsets)
    width = int(min(size, np.diff(view.offsets).max(initial=1)))
    rows = np.full((view.n_queries, max(width, 1)), -1, dtype=np.int64)
    kept = np.flatnonzero(inside & (ranks <= size))
    rows[view.query[kept], ranks[kept] - 1] = kept
    return rows


def _padded(values: Floats, safe: IntArray, mask: BoolArray) -> FloatArray:
    flat = np.asarray(values, dtype=np.float64)
    return np.where(mask, flat[safe] if len(flat) else 0.0, np.nan)


def _minmax(values: FloatArray, mask: BoolArray) -> FloatArray:
    low = np.min(np.where(mask, values, np.inf), axis=1, keepdims=True)
    high = np.max(np.where(mask, values, -np.inf), axis=1, keepdims=True)
    spread = np.where(high > low, high - low, 1.0)
    return np.where(mask, (values - np.where(mask, low, 0)) / spread, 0.0)


def _standing(values: FloatArray, mask: BoolArray) -> FloatArray:
    """Raw, min-max, z score, rank share, gaps to the ranks before and after, above mean, below median."""
    count = np.maximum(mask.sum(1, keepdims=True), 1)
    filled = np.where(mask, values, 0.0)
    mean = filled.sum(1, keepdims=True) / count
    spread = np.sqrt((np.where(mask, values - mean, 0.0) ** 2).sum(1, keepdims=True) / count) + 1e-6
    order = np.argsort(np.where(mask, -values, np.inf), axis=1, kind="stable")
    ranks = np.argsort(order, axis=1, kind="stable")
    falling = np.take_along_axis(filled, order, axis=1)
    drop = np.zeros_like(falling)
    drop[:, 1:] = np.where(np.arange(1, falling.shape[1]) < count, falling[:, :-1] - falling[:, 1:], 0.0)
    before = np.take_along_axis(drop, ranks, axis=1)
    after = np.take_along_axis(np.concatenate([drop[:, 1:], np.zeros((len(drop), 1))], axis=1), ranks, axis=1)
    median = np.take_along_axis(falling, (count - 1) // 2, axis=1)
    best = falling[:, :1]
    parts = [values, _minmax(values, mask), (values - mean) / spread, ranks / count, before, after,
             values > mean, values < median, np.broadcast_to(best, values.shape)]  # fmt: skip
    return np.where(mask[:, :, None], np.stack(parts, axis=2), 0.0)


def _around(values: Floats, view: View, safe: IntArray, mask: BoolArray) -> FloatArray:
    """The same score of the sentences before and after, and how the document's other queries score at best."""
    flat = np.asarray(values, dtype=np.float64)
    query = np.broadcast_to(np.arange(len(safe))[:, None], safe.shape)
    first, last = view.offsets[query], view.offsets[query + 1]
    low = segments.minimum(flat, view.offsets, empty=0.0)[query]
    found = []
    for step in (-1, 1):
        other = safe + step
        inside = mask & (other >= first) & (other < last)
        found.append(np.where(inside, flat[np.where(inside, other, safe)] if len(flat) else 0.0, low))
    best = segments.maximum(flat, view.offsets, empty=0.0)
    asked = np.bincount(view.query_doc, minlength=view.n_documents)
    total = np.bincount(view.query_doc, best, minlength=view.n_documents)
    others = (total[view.query_doc] - best) / np.maximum(asked[view.query_doc] - 1, 1)
    return np.stack([*found, others[query]], axis=2)


def _place(view: View, safe: IntArray, mask: BoolArray) -> FloatArray:
    query = np.arange(len(safe))[:, None]
    length = np.diff(view.offsets)[query]
    place = np.where(mask, safe - view.offsets[:-1][query], 0)
    size = np.broadcast_to(np.log1p(length), place.shape)
    return np.stack([place / np.maximum(length - 1, 1), np.exp(-place / 3.0), size], axis=2)


def _adjacency(inputs: Inputs, sentence: IntArray, mask: BoolArray, edges: EdgeSettings) -> NDArray[np.uint8]:
    count, width = sentence.shape
    adjacency = np.zeros((count, width, width), dtype=np.uint8)
    if edges.nearest == 0 and not edges.adjacent:
        return adjacency
    for start in range(0, count, 256):
        here = slice(start, start + 256)
        linked = mask[here, :, None] & mask[here, None, :] & ~np.eye(width, dtype=bool)
        found = np.zeros_like(linked)
        if edges.adjacent:
            found |= np.abs(sentence[here, :, None] - sentence[here, None, :]) == 1
        if edges.nearest > 0:
            found |= _nearest(inputs.sentence_vectors[sentence[here]], linked, edges)
        found &= linked
        adjacency[here] = found | found.transpose(0, 2, 1)
    return adjacency


def _nearest(vectors: Vectors, linked: BoolArray, edges: EdgeSettings) -> BoolArray:
    cosine = np.where(linked, vectors @ vectors.transpose(0, 2, 1), -2.0)
    near = min(edges.nearest, cosine.shape[2])
    order = np.argpartition(-cosine, near - 1, axis=2)[:, :, :near]
    found = np.zeros_like(linked)
    np.put_along_axis(found, order, True, axis=2)
    return np.asarray(found & (cosine >= edges.min_cosine))
