"""Weights shared by all questions: what makes any sentence answer any criterion."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from probative import segments
from probative.rerank.grams import word_count
from probative.rerank.logistic import fit_logistic
from probative.segments import BoolArray, IntArray
from probative.types import Floats, Inputs, Vectors, View

PENALTY = 30.0
CHUNK = 500_000
EARLIER = ("bm25", "dense", "retrieve", "late")
"""Scores of earlier stages that become features when they are there."""


@dataclass(frozen=True, kw_only=True)
class SharedWeights:
    """One logistic regression on sentence × criterion features for all queries."""

    names: tuple[str, ...]
    """The earlier scores it was fitted with."""
    mean: Vectors
    scale: Vectors
    theta: Vectors
    """(features + 1,), the intercept last."""

    @staticmethod
    def fit(inputs: Inputs, *, examples: int, iterations: int, seed: int) -> SharedWeights:
        """Learn from all evidence and a seeded sample of the other rows, weighted back to their number."""
        view = inputs.view
        names = tuple(name for name in EARLIER if name in inputs.scores)
        rows, weight = _sample(view, examples, seed)
        table = _features(inputs, names, rows)
        mean = table.mean(0)
        scale = np.maximum(table.std(0), 1e-6)
        table -= mean
        table /= scale
        target = labels(view)[rows].astype(np.float32)[:, None]
        theta = fit_logistic(
            [table], target, weight[:, None], np.zeros_like(target), iterations=iterations, penalty=PENALTY
        )
        return SharedWeights(names=names, mean=mean, scale=scale, theta=theta[:, 0])

    def score(self, inputs: Inputs) -> Vectors:
        """(N,) log-odds of every row, without ever laying out the features of all rows."""
        view = inputs.view
        width = inputs.sentence_vectors.shape[1]
        theta = self.theta[:-1] / self.scale
        level = self.theta[-1] - self.mean @ theta
        both, alone, rest = np.split(theta, [width, 2 * width])
        asked = inputs.criterion_vectors * (both * width)
        logit = inputs.sentence_vectors @ (alone * np.float32(np.sqrt(width)))
        logit = logit[view.sentence] + similarity(view, inputs.sentence_vectors, asked)
        for start in range(0, len(logit), CHUNK):
            rows = np.arange(start, min(start + CHUNK, len(logit)), dtype=np.int64)
            logit[rows] += _plain(inputs, self.names, rows) @ rest
        return np.asarray(logit + level, dtype=np.float32)


def similarity(view: View, sentences: Vectors, criteria: Vectors) -> Vectors:
    """(N,) the inner product of every row's sentence with its criterion, a document at a time."""
    out = np.empty(view.n_rows, dtype=np.float32)
    ends = np.searchsorted(view.query_doc, np.arange(view.n_documents + 1))
    for doc, (first, last) in enumerate(pairwise(ends.tolist())):
        text = sentences[view.doc_offsets[doc] : view.doc_offsets[doc + 1]]
        asked = criteria[view.query_criterion[first:last]]
        out[view.offsets[first] : view.offsets[last]] = (asked @ text.T).ravel()
    return out


def labels(view: View) -> BoolArray:
    """(N,) the gold of a view that a model may learn from."""
    if view.gold is None:
        raise ValueError("this view holds no gold")
    return view.gold


def trainable(view: View) -> IntArray:
    """The rows whose label is known: queries said to have evidence that nobody located are no example."""
    if view.has_evidence is None:
        return np.arange(view.n_rows, dtype=np.int64)
    return np.flatnonzero(~view.unlocated[view.query])


def _sample(view: View, examples: int, seed: int) -> tuple[IntArray, Vectors]:
    rows = trainable(view)
    gold = labels(view)[rows]
    others = rows[~gold]
    kept = others
    if len(others) > examples:
        kept = np.random.default_rng(seed).choice(others, examples, replace=False, shuffle=False)
    chosen = np.sort(np.concatenate([rows[gold], kept]))
    weight = np.where(labels(view)[chosen], 1.0, len(others) / max(len(kept), 1))
    return chosen, weight.astype(np.float32)


def _features(inputs: Inputs, names: tuple[str, ...], rows: IntArray) -> Vectors:
    view = inputs.view
    unit = np.float32(np.sqrt(inputs.sentence_vectors.shape[1]))
    vectors = inputs.sentence_vectors[view.sentence[rows]] * unit
    asked = inputs.criterion_vectors[view.query_criterion[view.query[rows]]] * unit
    return np.concatenate([vectors * asked, vectors, _plain(inputs, names, rows)], axis=1)


def _plain(inputs: Inputs, names: tuple[str, ...], rows: IntArray) -> Vectors:
    view = inputs.view
    sentence, query = view.sentence[rows], view.query[rows]
    columns: list[Floats] = []
    for name in names:
        values = np.asarray(inputs.scores[name], dtype=np.float32)
        best = segments.maximum(values, view.offsets, empty=0.0)
        columns += [values[rows], best[query] - values[rows]]
    place = rows - view.offsets[query]
    length = np.diff(view.offsets)[query]
    words = np.fromiter((word_count(text) for text in view.texts), dtype=np.float32, count=len(view.texts))
    columns += [place / np.maximum(length - 1, 1), np.exp(-place / 3.0), np.log1p(length), np.log1p(words[sentence])]
    return np.stack(columns, axis=1).astype(np.float32)
