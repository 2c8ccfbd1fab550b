"""Everything that decides a fitted pipeline."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from probative.data.folds import FoldSettings
from probative.decide import DecideSettings
from probative.encode import EncodeSettings
from probative.errors import ConfigError
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

    @model_validator(mode="after")
    def _guarantee_needs_holdout(self) -> Self:
        if self.folds.scheme == "crossfit" and self.decide.triage.method == "guaranteed":
            raise ConfigError(
                "decide.triage.method: a guarantee needs TUNE documents scored by the very models that will be used, "
                "but with folds.scheme=crossfit several models score TUNE. Choose folds.scheme=holdout, or "
                "decide.triage.method=grid."
            )
        return self
