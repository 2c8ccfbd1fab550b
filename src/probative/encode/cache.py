"""Vectors kept between runs, by model and text; texts are known by their hash alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from probative.encode.encoder import Encoder, Kind, Progress, unit
from probative.encode.table import Table, keys_of
from probative.errors import ModelError
from probative.files import cache_root
from probative.segments import BoolArray
from probative.types import Vectors

CHUNK = 4096
"""Texts encoded and written at a time: what kill -9 can lose."""


def has_unit_length(rows: Vectors) -> BoolArray:
    """Rows that can be what was written."""
    whole: BoolArray = np.abs(np.einsum("ij,ij->i", rows, rows) - 1) < 1e-3
    return whole


class VectorCache:
    """The vectors of one encoder.

    >>> cache = VectorCache(encoder)                       # doctest: +SKIP
    >>> cache.vectors(["a text", "another"]).shape         # doctest: +SKIP
    (2, 384)
    """

    def __init__(self, encoder: Encoder, root: Path | None = None) -> None:
        self.encoder = encoder
        self.folder = (root or cache_root() / "vectors") / encoder.identity[:32]
        self._table = Table(self.folder, has_unit_length)

    def vectors(self, texts: Sequence[str], kind: Kind = "sentence", progress: Progress | None = None) -> Vectors:
        """One row a text, in order; only texts never seen before are encoded."""
        keys, first, place = np.unique(keys_of(texts, kind), axis=0, return_index=True, return_inverse=True)
        out, known = self._table.read(keys)
        # In order of appearance, so that what a killed run leaves behind is a beginning of the work.
        missing = np.flatnonzero(~known)
        missing = missing[np.argsort(first[missing])]
        for start in range(0, len(missing), CHUNK):
            rows = missing[start : start + CHUNK]
            fresh = self._encode([texts[i] for i in first[rows]], kind)
            out = np.zeros((len(keys), fresh.shape[1]), dtype=np.float32) if out is None else out
            if fresh.shape[1] != out.shape[1]:
                raise ModelError(
                    f"{self.encoder.name}: vectors have {fresh.shape[1]} numbers; the cache {self.folder} "
                    f"holds {out.shape[1]}. The model behind this name has changed: delete that folder."
                )
            out[rows] = fresh
            self._table.append(keys[rows], fresh)
            if progress is not None:
                progress(start + len(rows), len(missing))
        return self.encoder.encode([], kind) if out is None else out[place.reshape(-1)]

    def _encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        vectors = unit(self.encoder.encode(texts, kind), self.encoder.name)
        if len(vectors) != len(texts):
            raise ModelError(f"{self.encoder.name}: gave {len(vectors)} vectors for {len(texts)} texts.")
        return vectors
