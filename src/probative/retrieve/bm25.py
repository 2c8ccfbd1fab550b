"""BM25 over the sentences of one document, with word statistics from TRAIN."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probative import segments
from probative.retrieve.words import words
from probative.types import View

if TYPE_CHECKING:
    from scipy.sparse import csr_array

RARE = 3
"""A word of fewer TRAIN documents is not kept: it may name a person, and weighs about as much as an unseen word."""
BLOCK = 1 << 22
"""Cells of the largest product held at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordStatistics:
    """In how many TRAIN sentences each word stands."""

    prefix: int
    n_sentences: int
    mean_length: float
    sentences_with: Mapping[str, int]

    @classmethod
    def of(cls, view: View, prefix: int = 0) -> WordStatistics:
        """Count the words of a view."""
        total, spread, length = Counter[str](), Counter[str](), 0
        for start, end in zip(view.doc_offsets[:-1], view.doc_offsets[1:], strict=True):
            here: Counter[str] = Counter()
            for text in view.texts[start:end]:
                found = words(text, prefix)
                length += len(found)
                here.update(set(found))
            total.update(here)
            spread.update(here.keys())
        n = len(view.texts)
        kept = {word: total[word] for word in sorted(total) if spread[word] >= RARE}
        mean = max(length / n, 1.0) if n else 1.0
        return cls(prefix=prefix, n_sentences=n, mean_length=mean, sentences_with=kept)

    def weight(self, word: str) -> float:
        """The inverse sentence frequency, never negative."""
        with_word = self.sentences_with.get(word, 0)
        return float(np.log1p((self.n_sentences - with_word + 0.5) / (with_word + 0.5)))

    def state(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "prefix": self.prefix,
            "n_sentences": self.n_sentences,
            "mean_length": self.mean_length,
            "sentences_with": dict(self.sentences_with),
        }


def bm25(view: View, statistics: WordStatistics, k1: float, b: float) -> NDArray[np.float32]:
    """(N,) the score of every row. A criterion's repeated word counts once a repetition."""
    weights = [Counter(words(text, statistics.prefix)) for text in view.criterion_texts]
    vocabulary = {word: i for i, word in enumerate(sorted(set().union(*weights)))}
    asked = _asked(weights, vocabulary, statistics)
    said = _said(view.texts, vocabulary, statistics, k1, b)
    out = np.empty(view.n_rows, dtype=np.float32)
    for first, last in _blocks(view):
        documents = view.query_doc[first:last]
        start, end = view.doc_offsets[documents[0]], view.doc_offsets[documents[-1] + 1]
        criteria, column = np.unique(view.query_criterion[first:last], return_inverse=True)
        table = said[start:end] @ asked[:, criteria].toarray()
        rows = slice(view.offsets[first], view.offsets[last])
        out[rows] = table[view.sentence[rows] - start, np.repeat(column, np.diff(view.offsets[first : last + 1]))]
    return out


def _asked(weights: Sequence[Counter[str]], vocabulary: Mapping[str, int], statistics: WordStatistics) -> csr_array:
    """(V, C) what each word of a criterion is worth."""
    from scipy.sparse import csr_array

    rows = [[(vocabulary[word], n * statistics.weight(word)) for word, n in found.items()] for found in weights]
    column = np.array([word for row in rows for word, _ in row], dtype=np.int64)
    value = np.array([worth for row in rows for _, worth in row], dtype=np.float64)
    offsets = segments.from_lengths(np.array([len(row) for row in rows], dtype=np.int64))
    return csr_array((value, column, offsets), shape=(len(weights), len(vocabulary))).T.tocsr()


def _said(
    texts: Sequence[str], vocabulary: Mapping[str, int], statistics: WordStatistics, k1: float, b: float
) -> csr_array:
    """(S, V) the saturated, length-normalised word counts of every sentence."""
    from scipy.sparse import csr_array

    column: list[int] = []
    value: list[float] = []
    sizes = np.zeros(len(texts), dtype=np.int64)
    for i, text in enumerate(texts):
        found = words(text, statistics.prefix)
        norm = k1 * (1 - b + b * len(found) / statistics.mean_length)
        counts = Counter([vocabulary[word] for word in found if word in vocabulary])
        sizes[i] = len(counts)
        for j in sorted(counts):
            column.append(j)
            value.append(counts[j] * (k1 + 1) / (counts[j] + norm))
    shape = (len(texts), len(vocabulary))
    return csr_array((np.array(value, float), np.array(column, int), segments.from_lengths(sizes)), shape=shape)


def _blocks(view: View) -> Iterator[tuple[int, int]]:
    """Runs of queries of whole documents whose table of sentences × criteria stays small."""
    if not view.n_queries:
        return
    begins = np.flatnonzero(np.diff(view.query_doc, prepend=-1))
    ends = np.append(begins[1:], view.n_queries)
    first = 0
    for begin, end in zip(begins, ends, strict=True):
        sentences = view.doc_offsets[view.query_doc[begin] + 1] - view.doc_offsets[view.query_doc[first]]
        if begin > first and sentences * min(end - first, len(view.criterion_ids)) > BLOCK:
            yield first, int(begin)
            first = int(begin)
    yield first, view.n_queries
