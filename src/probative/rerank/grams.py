"""Words and word pairs of sentences as hashed numbers, and the lexicon that TRAIN fits on them."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from probative.segments import IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Scripts without spaces give one token a character; every other script one a word.
TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")


@lru_cache(maxsize=200_000)
def grams(text: str) -> IntArray:
    """The hashed words and word pairs of a text, in order, with repeats; the words come first."""
    words = TOKEN.findall(text.lower())
    terms = [*words, *(f"{a} {b}" for a, b in pairwise(words))]
    return np.fromiter((zlib.crc32(term.encode()) for term in terms), dtype=np.int64, count=len(terms))


def word_count(text: str) -> int:
    """How many words a text has."""
    return (len(grams(text)) + 1) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """The terms that TRAIN uses often enough, with their inverse document frequencies."""

    terms: IntArray
    """(T,) rising hashes."""
    idf: NDArray[np.float32]
    """(T,)"""

    @staticmethod
    def fit(texts: Sequence[str], *, min_count: int, max_terms: int) -> Lexicon:
        """Keep terms that stand in at least `min_count` sentences, the most frequent first when there are too many."""
        distinct = [np.unique(grams(text)) for text in texts]
        found = np.concatenate(distinct) if distinct else np.empty(0, dtype=np.int64)
        terms, counts = np.unique(found, return_counts=True)
        enough = np.flatnonzero(counts >= min_count)
        if len(enough) > max_terms:
            enough = np.sort(enough[np.argsort(-counts[enough], kind="stable")[:max_terms]])
        idf = np.log((1 + len(texts)) / (1 + counts[enough])) + 1
        return Lexicon(terms=terms[enough], idf=idf.astype(np.float32))

    def transform(self, texts: Sequence[str]) -> csr_matrix:
        """One row a text of unit length: (1 + log count) × idf."""
        from scipy.sparse import csr_matrix

        pieces = [grams(text) for text in texts]
        sizes = np.fromiter((len(piece) for piece in pieces), dtype=np.int64, count=len(pieces))
        flat = np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int64)
        if len(self.terms) == 0:
            return csr_matrix(np.zeros((len(texts), 0), dtype=np.float32))
        place = np.minimum(np.searchsorted(self.terms, flat), len(self.terms) - 1)
        known = self.terms[place] == flat
        row = np.repeat(np.arange(len(pieces)), sizes)[known]
        ones = np.ones(len(row), dtype=np.float32)
        table = csr_matrix((ones, (row, place[known])), shape=(len(texts), len(self.terms)))
        table.sum_duplicates()
        table.sort_indices()
        table.data = (1 + np.log(table.data)) * self.idf[table.indices]
        norms = np.sqrt(
            np.bincount(np.repeat(np.arange(len(pieces)), np.diff(table.indptr)), table.data**2, len(pieces))
        )
        table.data /= np.repeat(np.maximum(norms, 1e-12), np.diff(table.indptr)).astype(np.float32)
        return table.astype(np.float32)
