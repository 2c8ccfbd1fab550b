"""What an encoder is: texts in, unit vectors out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import numpy as np

from probative.errors import ModelError
from probative.types import Floats, Vectors

Kind = Literal["sentence", "criterion"]
Progress = Callable[[int, int], None]
"""Called with (texts done, texts in all)."""


class Encoder(Protocol):
    """A model that turns texts into vectors of unit length."""

    @property
    def name(self) -> str:
        """As it stands in the configuration."""
        ...

    @property
    def identity(self) -> str:
        """A hash of everything that a vector depends on besides its text."""
        ...

    @property
    def exact(self) -> bool:
        """Whether a text's vector is the same to the bit, whatever other texts are in the call."""
        ...

    def encode(self, texts: Sequence[str], kind: Kind = "sentence") -> Vectors:
        """One row a text, in order."""
        ...


def unit(vectors: Floats, source: str) -> Vectors:
    """The vectors at unit length, untouched where they have it; refuses what has no length."""
    if vectors.ndim != 2:
        raise ModelError(f"{source}: gave an array of shape {vectors.shape}; expected one vector a text.")
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    bad = np.flatnonzero(~(np.isfinite(lengths[:, 0]) & (lengths[:, 0] > 0)))
    if len(bad):
        raise ModelError(f"{source}: {len(bad)} vectors are zero or not finite, the first in row {bad[0]}.")
    lengths[np.abs(lengths - 1) < 1e-6] = 1
    scaled: Vectors = (vectors / lengths).astype(np.float32)
    return scaled
