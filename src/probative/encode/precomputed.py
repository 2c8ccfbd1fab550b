"""Vectors made elsewhere, keyed by sent_uid and criterion_id.

The folder holds, for `sentences` and `criteria`, either NAME.parquet (columns sent_uid or criterion_id, and vector) or
NAME.npy with NAME.txt, one id a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probative.encode.encoder import Kind, unit
from probative.errors import DataError
from probative.types import Vectors

TABLES = {"sentence": ("sentences", "sent_uid"), "criterion": ("criteria", "criterion_id")}


class Precomputed:
    """A folder of vectors.

    >>> Precomputed(Path("vectors")).vectors(("s1", "s2"), "sentence").shape   # doctest: +SKIP
    (2, 1024)
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def vectors(self, ids: Sequence[str], kind: Kind) -> Vectors:
        """One row an id, in order."""
        name, column = TABLES[kind]
        have, table = self._table(name, column)
        place = {key: row for row, key in enumerate(have)}
        if len(place) != len(have):
            raise DataError(f"{self.folder}/{name}: holds {len(have) - len(place)} {column} more than once.")
        missing = [key for key in ids if key not in place]
        if missing:
            raise DataError(
                f"{self.folder}/{name}: lacks {len(missing)} of {len(ids)} {column}, the first {missing[0]!r}. "
                "Compute the vectors for this corpus again."
            )
        return unit(np.asarray(table[[place[key] for key in ids]]), f"{self.folder}/{name}")

    def _table(self, name: str, column: str) -> tuple[list[str], NDArray[Any]]:
        parquet, array, ids = (self.folder / f"{name}{suffix}" for suffix in (".parquet", ".npy", ".txt"))
        try:
            if parquet.is_file():
                return _from_parquet(parquet, column)
            table = np.load(array, mmap_mode="r", allow_pickle=False)
            have = ids.read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError) as error:
            raise DataError(
                f"{self.folder}: needs {name}.parquet (columns {column}, vector), or {name}.npy with one id a line in "
                f"{name}.txt ({type(error).__name__})."
            ) from error
        if table.ndim != 2 or len(table) != len(have):
            raise DataError(f"{array}: has shape {table.shape}; {ids.name} lists {len(have)} ids.")
        return have, table


def _from_parquet(path: Path, column: str) -> tuple[list[str], NDArray[Any]]:
    import polars as pl

    try:
        frame = pl.read_parquet(path, columns=[column, "vector"])
        flat = frame["vector"].explode().cast(pl.Float32).to_numpy()
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: needs the columns {column} and vector, a list of numbers.") from error
    if not len(frame) or len(flat) % len(frame) or frame["vector"].list.len().n_unique() != 1:
        raise DataError(f"{path}: the vectors differ in length, or there are none.")
    return frame[column].cast(pl.String).to_list(), flat.reshape(len(frame), -1)
