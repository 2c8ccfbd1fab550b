"""What an evaluation may be told."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from probative.settings import Settings


class EvaluateSettings(Settings):
    """Resampling and ties; everything else is fixed by the contract."""

    bootstrap: int = Field(default=10_000, ge=0)
    """Resamples behind every interval; 0 computes none."""
    seed: int = Field(default=0, ge=0)
    level: float = Field(default=0.95, gt=0.0, lt=1.0)
    resample: Literal["documents", "queries"] = "documents"
    """Queries of one document are not independent: `queries` gives intervals that are too short, and says so."""
    ties: Literal["listed", "expected", "trec"] = "listed"
    """`listed`: the ranking as it stands. `expected`: the mean over all orders of equal scores. `trec`: the reader has
    put equal scores in trec_eval's order."""
    criteria_limit: int = Field(default=200, ge=0)
    """With more criteria than this, no records per criterion are written."""
