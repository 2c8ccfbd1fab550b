"""The graph stage: fits P3, P2 and P4 on sentence graphs, and scores with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from probative import files, segments
from probative.errors import ConfigError, DataError, ModelError
from probative.graph.batches import Graphs, Sources, build_graphs, whole_base
from probative.graph.model import Heads, Network
from probative.graph.settings import GraphSettings, LearnSettings, TrunkSettings
from probative.graph.train import Material, outputs, train
from probative.segments import FloatArray
from probative.types import Floats, Inputs, Scores, Vectors, View

FACTS = "graph.json"
NOTHING = -20.0
"""Log-odds of a query without any candidate."""


class GraphModel:
    """Reorders the best candidates of the stage before, and says how likely each sentence and query is.

    It needs the scores of that stage, out-of-fold where it learns. `rank` is P3's fused score, `node` P2's log-odds and
    `gate` P4's; candidates outside a graph follow behind in the earlier order.
    """

    def __init__(self, settings: GraphSettings | None = None, *, seed: int = 0, epochs: int | None = None) -> None:
        self.settings = settings or GraphSettings()
        self.seed = seed
        self.epochs = epochs

    def fit(self, inputs: Inputs, stop: Inputs | None = None) -> Self:
        """Learn from the view's gold; `stop` picks the epochs, else `epochs` or the settings' number are run."""
        if inputs.view.gold is None or not inputs.view.gold.any():
            raise DataError(
                "No sentence of the training documents is marked as evidence, so the graph has nothing to learn. "
                "Check the gold table, or leave more documents for training."
            )
        self.sources_ = Sources.of(inputs)
        self.criteria_ = tuple(inputs.view.criterion_texts)
        self.width_ = inputs.sentence_vectors.shape[1]
        graphs = self._graphs(inputs)
        self.mean_, self.scale_ = _scaling(graphs)
        material = self._material(inputs, graphs)
        held = None if stop is None else self._material(stop, self._graphs(stop))
        self.networks_: dict[str, Network] = {}
        kept = []
        for name in _networks(self.settings):
            torch.manual_seed(self.seed)
            network = self._network(name)
            learn = _learn(self.settings, name)
            kept.append(train(network, material, held, self.settings, learn, epochs=self.epochs, seed=self.seed))
            self.networks_[name] = network
        self.epochs_ = max(1, round(float(np.mean(kept)))) if kept else 0
        return self

    def score(self, inputs: Inputs) -> Scores:
        """Score every row and query."""
        graphs = self._graphs(inputs)
        material = self._material(inputs, graphs)
        said: dict[str, NDArray[np.float32]] = {}
        for network in self.networks_.values():
            said |= outputs(network, material)
        view = inputs.view
        base = whole_base(inputs, self.sources_)
        node = _laid(view, graphs, said["node"], base) if "node" in said else None
        rank = _laid(view, graphs, said["rank"], base) if "rank" in said else (base if node is None else node)
        gate = np.where(graphs.mask.any(1), said["gate"], NOTHING).astype(np.float64) if "gate" in said else None
        return Scores(rank=rank, node=node, gate=gate)

    def save(self, folder: Path) -> None:
        """Write the networks as safetensors and the rest as JSON."""
        from safetensors.torch import save_file

        folder.mkdir(parents=True, exist_ok=True)
        states = {name: network.state_dict() for name, network in self.networks_.items()}
        tensors = {f"{name}.{key}": value.contiguous() for name in states for key, value in states[name].items()}
        tensors |= {"mean": torch.from_numpy(self.mean_), "scale": torch.from_numpy(self.scale_)}
        save_file(tensors, folder / "graph.safetensors")
        files.write_json(
            folder / FACTS,
            {
                "settings": self.settings.model_dump(mode="json"),
                "seed": self.seed,
                "epochs": self.epochs_,
                "sources": asdict(self.sources_),
                "criteria": list(self.criteria_),
                "width": self.width_,
            },
        )

    @classmethod
    def load(cls, folder: Path) -> GraphModel:
        """Read a fitted model."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            facts: Mapping[str, Any] = json.loads((folder / FACTS).read_text(encoding="utf-8"))
            tensors = load_file(folder / "graph.safetensors")
            made = cls(GraphSettings.model_validate(facts["settings"]), seed=facts["seed"])
            made.epochs_, made.width_ = facts["epochs"], facts["width"]
            sources = facts["sources"]
            made.sources_ = Sources(**{**sources, "features": tuple(sources["features"])})
            made.criteria_ = tuple(facts["criteria"])
            made.mean_, made.scale_ = tensors["mean"].numpy(), tensors["scale"].numpy()
            made.networks_ = {}
            for name in _networks(made.settings):
                network = made._network(name)
                part = {k.removeprefix(f"{name}."): v for k, v in tensors.items() if k.startswith(f"{name}.")}
                network.load_state_dict(part)
                made.networks_[name] = network.eval()
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            raise ModelError(f"{folder}: the graph model cannot be read ({error}). Fit it again.") from error
        return made

    def _graphs(self, inputs: Inputs) -> Graphs:
        if missing := self.sources_.missing(inputs):
            raise ConfigError(f"The graph was fitted with the scores {', '.join(missing)}, which are missing here.")
        return build_graphs(inputs, self.settings.pool, self.settings.edges, self.sources_)

    def _material(self, inputs: Inputs, graphs: Graphs) -> Material:
        view = inputs.view
        place = {text: i for i, text in enumerate(self.criteria_)}
        number = np.array([place.get(text, len(place)) for text in view.criterion_texts], dtype=np.int64)
        features = (graphs.features - self.mean_) / self.scale_ * graphs.mask[:, :, None]
        blind = view.gold is None or view.has_evidence is None
        gold = np.zeros(graphs.rows.shape, dtype=bool)
        if view.gold is not None and len(view.gold):
            gold = view.gold[np.where(graphs.mask, graphs.rows, 0)] & graphs.mask
        return Material(
            graphs=graphs,
            features=features.astype(np.float32),
            sentences=inputs.sentence_vectors.astype(np.float32, copy=False),
            criteria=inputs.criterion_vectors.astype(np.float32, copy=False),
            number=number[view.query_criterion],
            gold=gold,
            known=np.ones(view.n_queries, dtype=bool) if blind else ~view.unlocated,
            evidence=np.zeros(view.n_queries, dtype=bool) if view.has_evidence is None else view.has_evidence,
        )

    def _network(self, name: str) -> Network:
        heads = _networks(self.settings)[name]
        trunk = _trunk(self.settings, name)
        return Network(self.settings, trunk, heads, self.width_, len(self.mean_), len(self.criteria_))


def _networks(settings: GraphSettings) -> dict[str, Heads]:
    """Network name → its heads: one network for all, or one a head."""
    on = {"rank": settings.rank.on, "node": settings.node.on, "gate": settings.gate.on}
    if settings.together:
        return {"shared": Heads(**on)} if any(on.values()) else {}
    return {name: Heads(**{other: other == name for other in on}) for name, is_on in on.items() if is_on}


def _trunk(settings: GraphSettings, name: str) -> TrunkSettings:
    own = {"node": settings.node_trunk, "gate": settings.gate_trunk}.get(name)
    return own or settings.trunk


def _learn(settings: GraphSettings, name: str) -> LearnSettings:
    own = {"node": settings.node_learn, "gate": settings.gate_learn}.get(name)
    return own or settings.learn


def _scaling(graphs: Graphs) -> tuple[Vectors, Vectors]:
    there = graphs.features[graphs.mask]
    mean = there.mean(0, dtype=np.float64)
    scale = there.std(0, dtype=np.float64)
    return mean.astype(np.float32), np.where(scale > 1e-6, scale, 1).astype(np.float32)


def _laid(view: View, graphs: Graphs, said: Floats, base: FloatArray) -> FloatArray:
    """Node values on their rows; the other rows below them in the order of the stage before."""
    values = np.full(view.n_rows, np.nan)
    values[graphs.rows[graphs.mask]] = said[graphs.mask]
    rest = np.isnan(values)
    floor = segments.minimum(np.where(rest, np.inf, values), view.offsets)
    ceiling = segments.maximum(np.where(rest, base, -np.inf), view.offsets)
    start = np.where(np.isfinite(floor), floor - 1e-3, NOTHING)
    query = view.query[rest]
    values[rest] = start[query] + np.minimum(base[rest] - ceiling[query], 0)
    return values
