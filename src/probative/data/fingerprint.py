"""The name of a corpus's content, whatever format, folder or row order it came in."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np
import polars as pl

from probative.data.meta import CorpusMeta
from probative.files import canonical_json

SLICE = 100_000


def of(meta: CorpusMeta, tables: Mapping[str, pl.DataFrame]) -> str:
    """The SHA-256 of the tables in canonical order, and of what the corpus says about its use."""
    digest = hashlib.sha256()
    use = {"synthetic": meta.synthetic, "exclude_from_training": sorted(meta.exclude_from_training)}
    digest.update(canonical_json(use).encode())
    for name in sorted(tables):
        frame = tables[name]
        for column in sorted(frame.columns):
            digest.update(f"\0{name}\0{column}\0{frame.height}\0".encode())
            _add(digest, frame[column])
    return digest.hexdigest()


def _add(digest: hashlib._Hash, column: pl.Series) -> None:
    for start in range(0, len(column), SLICE):
        piece = column.slice(start, SLICE)
        if piece.dtype != pl.String:
            digest.update(_numbers(piece))
            continue
        digest.update(_numbers(piece.str.len_bytes()))
        digest.update("".join(piece.drop_nulls().to_list()).encode())


def _numbers(column: pl.Series) -> bytes:
    return column.cast(pl.Int64).fill_null(-1).to_numpy().astype(np.dtype("<i8")).tobytes()
