"""What the trees know about a candidate: its scores, its standing in the query, its neighbours and its place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from probative import segments
from probative.rerank.grams import word_count
from probative.segments import BoolArray, FloatArray, IntArray
from probative.types import Floats, Inputs, Vectors, View

EARLIER = ("bm25", "dense", "retrieve", "late")
"""Scores of earlier stages that give features when they are there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The candidates that the trees see, query after query, with one named column a feature."""

    rows: IntArray
    offsets: IntArray
    """(Q + 1,) where each query's candidates begin among `rows`."""
    names: tuple[str, ...]
    values: Vectors
    """(len(rows), len(names)); NaN where there is no neighbour."""


def candidate_table(inputs: Inputs, depth: int, earlier: tuple[str, ...]) -> Table:
    """Features of the `depth` best candidates by the score `linear`; the others get no row."""
    view = inputs.view
    linear = np.asarray(inputs.scores["linear"], dtype=np.float64)
    rows = best_rows(view, linear, inputs.pool, depth)
    columns = {
        **_standing("linear", linear, view, rows),
        **_query(linear, view, rows),
        **_sentence(linear, view, rows),
        **_neighbours("linear", linear, view, rows, reach=(-2, -1, 1, 2)),
    }
    for name in earlier:
        values = np.asarray(inputs.scores[name], dtype=np.float64)
        columns |= _standing(name, values, view, rows)
        columns |= _neighbours(name, values, view, rows, reach=(-1, 1))
    columns |= _place(view, rows)
    sizes = np.bincount(view.query[rows], minlength=view.n_queries)
    return Table(
        rows=rows,
        offsets=segments.from_lengths(sizes),
        names=tuple(columns),
        values=np.stack([np.asarray(c, dtype=np.float32) for c in columns.values()], axis=1),
    )


def best_rows(view: View, score: Floats, pool: BoolArray | None, depth: int) -> IntArray:
    """The rows of every query's `depth` best candidates in the pool, in row order."""
    inside = np.ones(view.n_rows, dtype=bool) if pool is None else pool
    ranks = segments.rank(np.where(inside, score, -np.inf), view.offsets)
    return np.flatnonzero(inside & (ranks <= depth))


def _standing(name: str, values: FloatArray, view: View, rows: IntArray) -> dict[str, Floats]:
    """The score itself and how it stands among all candidates of its query."""
    offsets = view.offsets
    query = view.query[rows]
    size = np.maximum(np.diff(offsets), 1)
    mean = segments.total(values, offsets) / size
    spread = np.sqrt(np.maximum(segments.total(values**2, offsets) / size - mean**2, 0)) + 1e-6
    return {
        name: values[rows],
        f"{name}_rank": segments.rank(values, offsets)[rows].astype(np.float64),
        f"{name}_z": (values[rows] - mean[query]) / spread[query],
        f"{name}_gap": segments.maximum(values, offsets)[query] - values[rows],
    }


def _query(linear: FloatArray, view: View, rows: IntArray) -> dict[str, Floats]:
    """How the query as a whole scores: its second best, and the evidence expected in it and in its document."""
    best = segments.rank(linear, view.offsets) == 1
    second = segments.maximum(np.where(best, -np.inf, linear), view.offsets)
    expected = segments.total(_sigmoid(linear), view.offsets)
    chance = _sigmoid(segments.maximum(linear, view.offsets, empty=-np.inf))
    in_document = np.bincount(view.query_doc, chance, minlength=view.n_documents)
    asked = np.bincount(view.query_doc, minlength=view.n_documents)
    query = view.query[rows]
    others = (in_document[view.query_doc] - chance) / np.maximum(asked[view.query_doc] - 1, 1)
    return {"second": np.where(np.isfinite(second), second, np.nan)[query], "expected": expected[query],
            "others_fire": others[query]}  # fmt: skip


def _sentence(linear: FloatArray, view: View, rows: IntArray) -> dict[str, Floats]:
    """How strongly the same sentence answers other criteria of its document."""
    sentence = view.sentence
    chance = _sigmoid(linear)
    count = len(view.texts)
    total = np.bincount(sentence, chance, minlength=count)
    top = np.full(count, -np.inf)
    np.maximum.at(top, sentence, linear)
    below = np.full(count, -np.inf)
    rest = linear < top[sentence]
    np.maximum.at(below, sentence[rest], linear[rest])
    here = sentence[rows]
    rival = np.where(linear[rows] == top[here], below[here], top[here])
    return {"elsewhere": np.log(np.maximum(total[here] - chance[rows], 0) + 1e-6),
            "over_rival": np.where(np.isfinite(rival), linear[rows] - rival, np.nan)}  # fmt: skip


def _neighbours(
    name: str, values: FloatArray, view: View, rows: IntArray, *, reach: tuple[int, ...]
) -> dict[str, Floats]:
    """The same score of the sentences before and after."""
    query = view.query[rows]
    first, last = view.offsets[query], view.offsets[query + 1]
    found: dict[str, Floats] = {}
    for step in reach:
        other = rows + step
        inside = (other >= first) & (other < last)
        found[f"{name}{step:+d}"] = np.where(inside, values[np.where(inside, other, rows)], np.nan)
    return found


def _place(view: View, rows: IntArray) -> dict[str, Floats]:
    query = view.query[rows]
    place = rows - view.offsets[query]
    length = np.diff(view.offsets)[query]
    words = np.fromiter((word_count(text) for text in view.texts), dtype=np.float64, count=len(view.texts))
    return {"place": place, "place_share": place / length, "sentences": length, "words": words[view.sentence[rows]]}


def _sigmoid(logit: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-logit))
