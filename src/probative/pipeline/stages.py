"""The chain's steps: each room's scorer as a Stage, with out-of-fold scores wherever one feeds another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from probative import segments
from probative.pipeline.crossfit import oof
from probative.pipeline.ranking import STAGES
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
    """What the last stage says becomes the final ranking; the gate, where there is none, is the best candidate."""

    name = "final"
    epochs = None

    def settings_key(self) -> Any:
        return None

    def fit(self, train: Inputs, stop: Inputs | None) -> Inputs:
        return self.apply(train)

    def apply(self, inputs: Inputs) -> Inputs:
        stage = next(name for name in reversed(STAGES) if name in inputs.scores)
        node = next(inputs.scores[n] for n in (f"{stage}_node", "linear", "dense", "bm25") if n in inputs.scores)
        gate = inputs.gates.get(stage)
        if gate is None:
            gate = segments.maximum(np.asarray(node, dtype=np.float64), inputs.view.offsets, empty=float(node.min()))
        return inputs.with_scores(final=inputs.scores[stage].copy(), final_node=node.copy()).with_gates(final=gate)

    def save(self, folder: Path) -> None:
        """Nothing is learned."""

    def load(self, folder: Path) -> None:
        """Nothing is learned."""


def _learned(settings: PipelineSettings) -> list[LearnedStage]:
    rerank, seed = settings.rerank, settings.seed
    made: list[LearnedStage] = []
    if rerank.kind in ("linear", "lambdarank"):
        trees = rerank.kind == "lambdarank"
        names = {"rank": "linear"} if trees else {"rank": "linear", "node": "rerank_node"}
        made.append(
            LearnedStage(
                "linear",
                rerank.linear,
                lambda: LinearReranker(rerank.linear, seed=seed),
                LinearReranker.load,
                names,
                parts=rerank.lambdarank.parts,
                seed=seed,
            )
        )
        if trees:
            made.append(
                LearnedStage(
                    "rerank",
                    rerank.lambdarank,
                    lambda: LambdaRanker(rerank.lambdarank, seed=seed),
                    LambdaRanker.load,
                    {"rank": "rerank", "node": "rerank_node"},
                    parts=rerank.lambdarank.parts,
                    seed=seed,
                )
            )
    return made


def _graph(settings: PipelineSettings, epochs: Mapping[str, int] | None) -> list[LearnedStage]:
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
    return [RetrieveStage(settings), *_learned(settings), *_graph(settings, epochs), FinalStage()]


def load_stages(settings: PipelineSettings, folders: Mapping[str, Path]) -> list[Stage]:
    """The fitted steps of a model."""
    stages = make_stages(settings)
    for stage in stages:
        stage.load(folders[stage.name])
    return stages


def chain_context(settings: PipelineSettings) -> Any:
    """What decides the scores besides the stages' own settings and their inputs."""
    return {"encode": settings.encode.model_dump(mode="json", exclude={"threads"}), "threads": settings.threads}
