"""A criterion's own weights, for criteria that are asked of many documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from probative import segments
from probative.rerank.grams import Lexicon
from probative.rerank.logistic import fit_logistic, predict_logistic
from probative.rerank.settings import LinearSettings
from probative.rerank.shared import labels, trainable
from probative.segments import IntArray
from probative.types import Floats, Inputs, Vectors, View

CELLS = 8_000_000
"""Sentences × criteria that are fitted together: a bound on memory."""
PRIOR_POSITIVES = 5.0
"""The shared log-odds count as much as this many sentences of evidence."""


@dataclass(frozen=True, kw_only=True)
class OwnWeights:
    """What a criterion's sentences have in common beyond the shared weights. Criteria are known by their text."""

    texts: tuple[str, ...]
    lexicon: Lexicon
    vector_weight: float
    term_weight: float
    trust: Vectors
    """(criteria,) how much of the shared log-odds stays, from 1 without evidence towards 0 with much."""
    theta: Vectors
    """(features + 1, criteria), the intercepts last."""

    @staticmethod
    def fit(inputs: Inputs, shared: Floats, settings: LinearSettings) -> OwnWeights:
        """Learn on top of what stays of the shared log-odds (N,), from every labelled row of repeated criteria."""
        view = inputs.view
        texts = _repeated(view, settings.min_documents)
        lexicon = Lexicon.fit(view.texts, min_count=settings.min_count, max_terms=settings.max_terms)
        made = OwnWeights(
            texts=texts,
            lexicon=lexicon,
            vector_weight=settings.vector_weight,
            term_weight=settings.term_weight,
            trust=_trust(view, texts),
            theta=np.zeros((0, 0), dtype=np.float32),
        )
        kept = made._keep(view, shared)
        blocks = made._blocks(inputs) if texts else []
        width = sum(block.shape[1] for block in blocks) + 1
        theta = np.zeros((width, len(texts)), dtype=np.float32)
        step = max(1, CELLS // max(len(view.texts), 1))
        for start in range(0, len(texts), step):
            some = np.arange(start, min(start + step, len(texts)))
            target, weight, offset = _matrices(view, kept, made._column(view), some)
            theta[:, some] = fit_logistic(blocks, target, weight, offset, iterations=settings.iterations)
        return OwnWeights(**{**made.__dict__, "theta": theta})

    def score(self, inputs: Inputs, shared: Floats) -> Vectors:
        """(N,) log-odds: the shared ones, and what a criterion's own weights make of them."""
        view = inputs.view
        logit = self._keep(view, shared)
        column = self._column(view)
        rows = np.flatnonzero(column[view.query] >= 0)
        if len(rows):
            own = predict_logistic(self._blocks(inputs), self.theta)
            logit[rows] += own[view.sentence[rows], column[view.query[rows]]]
        return logit

    def _keep(self, view: View, shared: Floats) -> Vectors:
        share = np.append(self.trust, np.float32(1))[self._column(view)]
        return (shared * share[view.query]).astype(np.float32)

    def _column(self, view: View) -> IntArray:
        place = {text: i for i, text in enumerate(self.texts)}
        of_criterion = np.array([place.get(text, -1) for text in view.criterion_texts], dtype=np.int64)
        return of_criterion[view.query_criterion]

    def _blocks(self, inputs: Inputs) -> list[Any]:
        blocks: list[Any] = [inputs.sentence_vectors.astype(np.float32) * np.float32(self.vector_weight)]
        if self.term_weight > 0 and len(self.lexicon.terms):
            blocks.append(self.lexicon.transform(inputs.view.texts) * np.float32(self.term_weight))
        return blocks


def _repeated(view: View, min_documents: int) -> tuple[str, ...]:
    """Texts of criteria that are asked often enough and have evidence somewhere."""
    asked: dict[str, int] = {}
    found: set[str] = set()
    for query, criterion in enumerate(view.query_criterion.tolist()):
        text = view.criterion_texts[criterion]
        asked[text] = asked.get(text, 0) + 1
        if view.located[query]:
            found.add(text)
    return tuple(sorted(text for text in found if asked[text] >= min_documents))


def _matrices(view: View, shared: Floats, column: IntArray, some: IntArray) -> tuple[Vectors, Vectors, Vectors]:
    """Target, weight and offset (sentences, chosen criteria); unlabelled pairs weigh nothing."""
    shape = (len(view.texts), len(some))
    target, weight, offset = (np.zeros(shape, dtype=np.float32) for _ in range(3))
    rows = trainable(view)
    of_row = column[view.query[rows]] - some[0]
    inside = (of_row >= 0) & (of_row < len(some))
    rows, of_row = rows[inside], of_row[inside]
    cell = (view.sentence[rows], of_row)
    target[cell], weight[cell], offset[cell] = labels(view)[rows], 1.0, shared[rows]
    return target, weight, offset


def _trust(view: View, texts: tuple[str, ...]) -> Vectors:
    counts = dict.fromkeys(texts, 0)
    evidence = segments.total(labels(view), view.offsets)
    for query, criterion in enumerate(view.query_criterion.tolist()):
        text = view.criterion_texts[criterion]
        if text in counts:
            counts[text] += int(evidence[query])
    found = np.array([counts[text] for text in texts], dtype=np.float32)
    return (PRIOR_POSITIVES / (PRIOR_POSITIVES + found)).astype(np.float32)
