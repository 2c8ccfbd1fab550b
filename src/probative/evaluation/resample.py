"""One draw of integer weights, shared by every metric, scope, stage and system."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probative.evaluation.predictions import Predictions
from probative.segments import IntArray

Weights = NDArray[np.floating[Any]]
BLOCK = 1024
CELLS = 1 << 22
"""A block is as wide as fits, from 256 to 2,048 resamples: narrow ones cost calls, wide ones memory."""
CACHE_BYTES = 1 << 29


@dataclass(frozen=True, kw_only=True)
class Units:
    """What is drawn: documents within folds, or single queries."""

    unit: IntArray
    """(Q,) the unit of every query."""
    stratum: IntArray
    """(U,) the fold of every unit; rising numbers from 0."""
    kind: str

    def __len__(self) -> int:
        return len(self.stratum)


def units(predictions: Predictions, kind: str = "documents") -> Units:
    """Documents within folds; a document that stands in two folds is two units."""
    n = predictions.n_queries
    fold = np.zeros(n, dtype=np.int64) if predictions.fold is None else predictions.fold
    _, stratum = np.unique(fold, return_inverse=True)
    stratum = stratum.reshape(-1)
    if kind == "queries":
        return Units(unit=np.arange(n, dtype=np.int64), stratum=stratum.astype(np.int64), kind=kind)
    width = int(stratum.max()) + 1 if n else 1
    pair, unit = np.unique(predictions.doc * width + stratum, return_inverse=True)
    return Units(unit=unit.reshape(-1).astype(np.int64), stratum=(pair % width).astype(np.int64), kind=kind)


@dataclass(frozen=True)
class Draw:
    """B resamples of U units: multinomial counts within every stratum, in blocks of columns.

    A block depends only on the seed, its number and the number of units, so it can be drawn again instead of kept.
    """

    stratum: IntArray
    resamples: int
    seed: int

    @cached_property
    def width(self) -> int:
        """Resamples in a block."""
        return min(2048, max(256, CELLS // max(len(self.stratum), 1)))

    @property
    def n_blocks(self) -> int:
        return -(-self.resamples // self.width)

    @cached_property
    def members(self) -> list[IntArray]:
        """The units of every stratum."""
        return [np.flatnonzero(self.stratum == s) for s in np.unique(self.stratum)]

    @cached_property
    def _kept(self) -> dict[int, NDArray[Any]]:
        return {}

    @property
    def _dtype(self) -> type[np.float32] | type[np.uint8] | None:
        cells = len(self.stratum) * self.resamples
        if cells * 4 <= CACHE_BYTES:
            return np.float32
        return np.uint8 if cells <= 4 * CACHE_BYTES else None

    def block(self, number: int) -> Weights:
        """(U, b) weights as float32."""
        if self._dtype is None:
            return self._draw(number).astype(np.float32)
        if number not in self._kept:
            self._kept[number] = self._draw(number).astype(self._dtype)
        return self._kept[number].astype(np.float32, copy=False)

    def blocks(self) -> Iterator[tuple[slice, Weights]]:
        """Where each block stands among the resamples, and its weights."""
        for number in range(self.n_blocks):
            start = number * self.width
            yield slice(start, min(start + self.width, self.resamples)), self.block(number)

    def _draw(self, number: int) -> NDArray[np.uint8]:
        width = min(self.width, self.resamples - number * self.width)
        rng = np.random.Generator(np.random.SFC64([self.seed, number]))
        weights = np.empty((len(self.stratum), width), dtype=np.uint8)
        for members in self.members:
            weights[members] = multinomial(rng, len(members), width)
        return weights


def multinomial(rng: np.random.Generator, n: int, width: int) -> NDArray[np.uint8]:
    """(n, width) how often each of n is drawn in n draws with replacement, column by column."""
    counts = np.zeros((width, n), dtype=np.uint8)
    kind = np.uint16 if n <= np.iinfo(np.uint16).max else np.uint32
    for start in range(0, width, 64):
        columns = min(64, width - start)
        drawn = rng.integers(0, n, size=(columns, n), dtype=kind).astype(np.int64)
        drawn += (np.arange(columns) * n)[:, None]
        counts[start : start + columns] = np.bincount(drawn.ravel(), minlength=columns * n).reshape(columns, n)
    return np.ascontiguousarray(counts.T)
