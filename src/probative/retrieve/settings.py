"""How candidates are ordered and cut to a pool."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from probative.settings import Settings


class RetrieveSettings(Settings):
    """BM25 within the document, dense vectors, or both."""

    method: Literal["bm25", "dense", "both"] = "both"
    fusion: Literal["rrf", "weighted"] = "rrf"
    rrf_k: float = Field(60.0, gt=0)
    weight: float = Field(0.5, ge=0, le=1)
    """The dense share of the weighted sum."""
    pool: int = Field(256, ge=1)
    """How many candidates of a query are handed on."""
    k1: float = Field(0.9, ge=0)
    b: float = Field(0.4, ge=0, le=1)
    prefix: int = Field(5, ge=0)
    """Words are compared by this many first letters: a stemmer for any alphabet. 0 keeps them whole."""
