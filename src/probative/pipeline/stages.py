"""The chain's steps: each room's scorer as a Stage, with out-of-fold scores wherever one feeds another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from probative.pipeline.crossfit import oof
from probative.pipeline.fusion import fuse, last_word
from probative.pipeline.ranking import best_candidate
from probative.pipeline.settings import PipelineSettings
from probative.pipeline.stage import Stage
from probative.rerank import LambdaRanker, LinearReranker
from probative.retrieve import Retriever
from probative.settings import Settings
from probative.types import Inputs, Scores


class _Saved(Protocol):
    def fit(self, inputs: Inputs, stop: Inputs | None = None) -> Self: ...
    def score(self, inputs: Inputs) -> Scores: ...
    def save(self, folder: Path) -> None: ...


class RetrieveStage:
    """Lexical and dense scores, their fusion, and the pool."""

    name = "retrieve"
    epochs = None

    def __init__(self, settings: PipelineSettings) -> None:
        self.settings = settings.retrieve
        self.model = Retriever(self.settings)

    def settings_key(self) -> Any:
        return self.settings.model_dump(mode="json")

    def fit(self, train: Inputs, stop: Inputs | None) -> Inputs:
        self.model.fit(train)
        return self.model.inputs_with(train)

    def apply(self, inputs: Inputs) -> Inputs:
        return self.model.inputs_with(inputs)

    def save(self, folder: Path) -> None:
        self.model.save(folder)

    def load(self, folder: Path) -> None:
        self.model.load(folder)


class LearnedStage:
    """A learned scorer: fitted on all of TRAIN for others, cross-fitted in parts for TRAIN itself."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        make: Callable[[], _Saved],
        load: Callable[[Path], _Saved],
        names: Mapping[str, str],
        *,
        parts: int | None,
        seed: int,
        fixed: int | None = None,
    ) -> None:
        self.name = name
        self.settings, self.make, self._load, self.names = settings, make, load, names
        self.parts, self.seed, self.fixed = parts, seed, fixed
        self.model: Any = None

    @property
    def epochs(self) -> float | None:
        return getattr(self.model, "epochs_", None)

    def settings_key(self) -> Any:
        return [self.settings.model_dump(mode="json"), self.parts, self.seed, self.fixed]

    def fit(self, train: Inputs, stop: Inputs | None) -> Inputs:
        self.model = self.make().fit(train, stop)
        if self.parts is None:
            return train
        return self._add(train, oof(self.make, train, self.parts, seed=self.seed))

    def apply(self, inputs: Inputs) -> Inputs:
        blind = replace(inputs, view=inputs.view.blind())
        return self._add(inputs, self.model.score(blind))

    def save(self, folder: Path) -> None:
        self.model.save(folder)

    def load(self, folder: Path) -> None:
        self.model = self._load(folder)

    def _add(self, inputs: Inputs, scores: Scores) -> Inputs:
        """Put the scorer's rank, node and gate under the names that later stages look for."""
        rows = {self.names[kind]: getattr(scores, kind) for kind in ("rank", "node") if kind in self.names}
        inputs = inputs.with_scores(**{n: v for n, v in rows.items() if v is not None})
        if "gate" in self.names and scores.gate is not None:
            inputs = inputs.with_gates(**{self.names["gate"]: np.asarray(scores.gate, dtype=np.float64)})
        return inputs


class FinalStage:
    """The last word: of all stages together, or of the last one alone; nothing is learned."""

    name = "final"
    epochs = None

    def __init__(self, settings: PipelineSettings) -> None:
        self.whose = settings.final

    def settings_key(self) -> Any:
        return self.whose

    def fit(self, train: Inputs, stop: Inputs | None) -> Inputs:
        return self.apply(train)

    def apply(self, inputs: Inputs) -> Inputs:
        fused = fuse(inputs) if self.whose == "mean" else last_word(inputs)
        node = fused.rank if fused.node is None else fused.node
        gate = best_candidate(inputs, "retrieve") if fused.gate is None else fused.gate
        return inputs.with_scores(final=fused.rank, final_node=node).with_gates(final=gate)

    def save(self, folder: Path) -> None:
        """Nothing is learned."""

    def load(self, folder: Path) -> None:
        """Nothing is learned."""


class CrossStage:
    """A cross-encoder that scores the pool; nothing is learned here."""

    name = "rerank"
    epochs = None

    def __init__(self, settings: PipelineSettings) -> None:
        from probative.rerank.cross import CrossEncoderReranker

        self.settings = settings.rerank.cross
        self.model = CrossEncoderReranker(self.settings)

    def settings_key(self) -> Any:
        return self.settings.model_dump(mode="json")

    def fit(self, train: Inputs, stop: Inputs | None) -> Inputs:
        return self.apply(train)

    def apply(self, inputs: Inputs) -> Inputs:
        scores = self.model.score(inputs)
        node = scores.rank if scores.node is None else scores.node
        return inputs.with_scores(rerank=scores.rank, rerank_node=node)

    def save(self, folder: Path) -> None:
        self.model.save(folder)

    def load(self, folder: Path) -> None:
        """Which model it is stands in the settings."""


def _reranker(settings: PipelineSettings) -> list[Stage]:
    rerank, seed = settings.rerank, settings.seed
    if rerank.kind == "none":
        return []
    if rerank.kind == "cross":
        return [CrossStage(settings)]
    alone = rerank.kind == "linear"
    linear = LearnedStage(
        "linear",
        rerank.linear,
        lambda: LinearReranker(rerank.linear, seed=seed),
        LinearReranker.load,
        {"rank": "rerank", "node": "linear"} if alone else {"rank": "linear"},
        parts=rerank.lambdarank.parts,
        seed=seed,
    )
    if alone:
        return [linear]
    trees = LearnedStage(
        "rerank",
        rerank.lambdarank,
        lambda: LambdaRanker(rerank.lambdarank, seed=seed),
        LambdaRanker.load,
        {"rank": "rerank", "node": "rerank_node", "gate": "rerank"},
        parts=None,  # no later stage learns from the trees, so TRAIN needs no scores of theirs
        seed=seed,
    )
    return [linear, trees]


def _graph(settings: PipelineSettings, epochs: Mapping[str, int] | None) -> list[Stage]:
    if not settings.graph.on:
        return []
    from probative.graph import GraphModel

    fixed = (epochs or {}).get("graph")
    return [
        LearnedStage(
            "graph",
            settings.graph,
            lambda: GraphModel(settings.graph, seed=settings.seed, epochs=fixed),
            GraphModel.load,
            {"rank": "graph", "node": "graph_node", "gate": "graph"},
            parts=None,
            seed=settings.seed,
            fixed=fixed,
        )
    ]


def make_stages(settings: PipelineSettings, epochs: Mapping[str, int] | None = None) -> list[Stage]:
    """The steps that the settings ask for; `epochs` fixes what STOP would choose."""
    return [RetrieveStage(settings), *_reranker(settings), *_graph(settings, epochs), FinalStage(settings)]


def load_stages(settings: PipelineSettings, folders: Mapping[str, Path]) -> list[Stage]:
    """The fitted steps of a model."""
    stages = make_stages(settings)
    for stage in stages:
        stage.load(folders[stage.name])
    return stages


def chain_context(settings: PipelineSettings) -> Any:
    """What decides the scores besides the stages' own settings and their inputs."""
    return {"encode": settings.encode.model_dump(mode="json", exclude={"threads"}), "threads": settings.threads}
