"""Everything that decides a fitted pipeline."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from probative.data.folds import FoldSettings
from probative.decide import DecideSettings
from probative.encode import EncodeSettings
from probative.graph import GraphSettings
from probative.rerank import RerankSettings
from probative.retrieve import RetrieveSettings
from probative.settings import Settings


class PipelineSettings(Settings):
    """One section a room."""

    seed: int = 42
    threads: int = Field(default=1, ge=1)
    """Threads of every fold's process; recorded, because it can change the last bits of a sum."""
    folds: FoldSettings = FoldSettings()
    encode: EncodeSettings = EncodeSettings()
    retrieve: RetrieveSettings = RetrieveSettings()
    rerank: RerankSettings = RerankSettings()
    graph: GraphSettings = GraphSettings()
    final: Literal["mean", "last"] = "mean"
    """Whose word is the final ranking and gate: the mean of all stages, or the last stage's alone."""
    decide: DecideSettings = DecideSettings()
