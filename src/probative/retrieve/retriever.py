"""The first stage: every sentence of the document in order, and the few that are handed on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from probative import files, segments
from probative.errors import ModelError
from probative.retrieve.bm25 import WordStatistics, bm25
from probative.retrieve.dense import dense
from probative.retrieve.fusion import reciprocal_rank, weighted
from probative.retrieve.settings import RetrieveSettings
from probative.types import Inputs, Scores

FILE = "retrieve.json"


class Retriever:
    """Learns word statistics from TRAIN; scores by words, by vectors, or by both.

    >>> retriever = Retriever().fit(train)          # doctest: +SKIP
    >>> inputs = retriever.inputs_with(inputs)      # doctest: +SKIP
    >>> sorted(inputs.scores)                       # doctest: +SKIP
    ['bm25', 'dense', 'retrieve']
    """

    def __init__(self, settings: RetrieveSettings | None = None) -> None:
        self.settings = settings or RetrieveSettings()

    def fit(self, inputs: Inputs, stop: Inputs | None = None) -> Self:
        """Count TRAIN's words; gold is not looked at."""
        self.statistics_ = WordStatistics.of(inputs.view, self.settings.prefix)
        return self

    def score(self, inputs: Inputs) -> Scores:
        """The fused score of every row."""
        return Scores(rank=self.inputs_with(inputs).scores["retrieve"])

    def inputs_with(self, inputs: Inputs) -> Inputs:
        """The inputs with the scores `bm25`, `dense` and `retrieve`, and with the pool marked."""
        chosen, offsets = self.settings, inputs.view.offsets
        lexical = bm25(inputs.view, self.statistics_, chosen.k1, chosen.b)
        cosine = dense(inputs)
        if chosen.method == "bm25":
            fused = lexical
        elif chosen.method == "dense":
            fused = cosine
        elif chosen.fusion == "rrf":
            fused = reciprocal_rank([lexical, cosine], offsets, chosen.rrf_k)
        else:
            fused = weighted(cosine, lexical, offsets, chosen.weight)
        pool = segments.rank(fused, offsets) <= chosen.pool
        return replace(inputs.with_scores(bm25=lexical, dense=cosine, retrieve=fused), pool=pool)

    def state(self) -> dict[str, Any]:
        """What was learned, as JSON."""
        return self.statistics_.state()

    def save(self, folder: Path) -> None:
        """Write what was learned."""
        files.write_json(folder / FILE, self.state())

    def load(self, folder: Path) -> Self:
        """Take what was learned from a folder."""
        path = folder / FILE
        try:
            self.statistics_ = WordStatistics(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise ModelError(f"{path}: holds no word statistics. Fit the model again.") from error
        return self
