"""Fitting one network: AdamW over shuffled graphs, averaged weights, epochs by STOP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from probative.graph.batches import Graphs
from probative.graph.losses import total_loss
from probative.graph.model import Batch, Network, Output
from probative.graph.settings import GraphSettings, LearnSettings
from probative.segments import BoolArray, IntArray
from probative.types import Vectors

AVERAGE = 0.98
"""How much of the averaged weights stays at each step; the network is judged and kept by the average."""
SCORING = 256


@dataclass(frozen=True, kw_only=True)
class Material:
    """Graphs with scaled features, their vectors, and the labels where they are known."""

    graphs: Graphs
    features: Vectors
    sentences: Vectors
    criteria: Vectors
    number: IntArray
    """(Q,) the criterion's number in training."""
    gold: BoolArray
    """(Q, n)"""
    known: BoolArray
    """(Q,) evidence, if any, is located."""
    evidence: BoolArray
    """(Q,)"""

    def batch(self, queries: IntArray) -> Batch:
        """These queries as tensors."""
        graphs = self.graphs
        sentence = graphs.sentence[queries]
        return Batch(
            sentences=torch.from_numpy(self.sentences[sentence]),
            criteria=torch.from_numpy(self.criteria[graphs.criterion[queries]]),
            number=torch.from_numpy(self.number[queries]),
            features=torch.from_numpy(self.features[queries]),
            base=torch.from_numpy(graphs.base[queries]),
            odds=torch.from_numpy(graphs.odds[queries]),
            adjacency=torch.from_numpy(graphs.adjacency[queries]).float(),
            mask=torch.from_numpy(graphs.mask[queries]),
        )

    def loss(self, output: Output, queries: IntArray, mask: Tensor, settings: GraphSettings) -> Tensor:
        """The summed loss of the heads on these queries."""
        gold, known, evidence = (torch.from_numpy(a[queries]) for a in (self.gold, self.known, self.evidence))
        return total_loss(output, gold, known, evidence, mask, settings)


def train(
    network: Network,
    material: Material,
    stop: Material | None,
    settings: GraphSettings,
    learn: LearnSettings,
    *,
    epochs: int | None,
    seed: int,
) -> int:
    """Fit in place and return the number of epochs kept: the best on STOP, or `epochs` where there is no STOP."""
    generator = np.random.default_rng(seed)
    torch.manual_seed(seed)
    queries = _learnable(network, material, settings)
    optimiser = torch.optim.AdamW(network.parameters(), lr=learn.rate, weight_decay=learn.weight_decay)
    average = {name: value.detach().clone() for name, value in network.state_dict().items()}
    best, best_epoch, best_loss = average, 0, np.inf
    planned = epochs or learn.epochs
    steps = 0
    for epoch in range(1, planned + 1):
        for some in _shuffled(queries, learn.batch, generator):
            steps += 1
            _step(network, optimiser, material, some, settings)
            _blend(average, network, min(AVERAGE, steps / (steps + 10)))
        if stop is not None:
            loss = _judge(network, average, stop, settings)
            if loss < best_loss:
                best, best_epoch, best_loss = {n: v.clone() for n, v in average.items()}, epoch, loss
            elif epoch - best_epoch >= learn.patience:
                break
        else:
            best, best_epoch = average, epoch
    network.load_state_dict(best)
    network.eval()
    return best_epoch


def outputs(network: Network, material: Material) -> dict[str, NDArray[np.float32]]:
    """What the heads say about all graphs: rank and node (Q, n), gate (Q,)."""
    found: dict[str, list[NDArray[np.float32]]] = {"rank": [], "node": [], "gate": []}
    network.eval()
    with torch.inference_mode():
        for start in range(0, len(material.number), SCORING):
            queries = np.arange(start, min(start + SCORING, len(material.number)), dtype=np.int64)
            output = network(material.batch(queries))
            for name, values in found.items():
                if (tensor := getattr(output, name)) is not None:
                    values.append(tensor.numpy())
    return {name: np.concatenate(values) for name, values in found.items() if values}


def _learnable(network: Network, material: Material, settings: GraphSettings) -> IntArray:
    """The graphs that teach something: with nodes and, where only P3 learns, with evidence."""
    chosen = material.graphs.mask.any(1)
    only_rank = network.heads.rank and not network.heads.node and not network.heads.gate
    if only_rank and settings.rank.positive_graphs_only:
        chosen &= material.gold.any(1)
    return np.flatnonzero(chosen)


def _shuffled(queries: IntArray, size: int, generator: np.random.Generator) -> Iterator[IntArray]:
    order = generator.permutation(queries)
    for start in range(0, len(order), size):
        yield order[start : start + size]


def _step(
    network: Network, optimiser: torch.optim.Optimizer, material: Material, some: IntArray, settings: GraphSettings
) -> None:
    network.train()
    batch = material.batch(some)
    loss = material.loss(network(batch), some, batch.mask, settings)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(network.parameters(), 5.0)
    optimiser.step()


@torch.no_grad()
def _blend(average: dict[str, Tensor], network: Network, keep: float) -> None:
    for name, value in network.state_dict().items():
        average[name].lerp_(value, 1 - keep)


def _judge(network: Network, average: dict[str, Tensor], stop: Material, settings: GraphSettings) -> float:
    """The averaged network's loss on STOP; the learning weights are put back afterwards."""
    learning = {name: value.detach().clone() for name, value in network.state_dict().items()}
    network.load_state_dict(average)
    network.eval()
    losses, sizes = [], []
    with torch.inference_mode():
        for start in range(0, len(stop.number), SCORING):
            queries = np.arange(start, min(start + SCORING, len(stop.number)), dtype=np.int64)
            batch = stop.batch(queries)
            losses.append(float(stop.loss(network(batch), queries, batch.mask, settings)))
            sizes.append(len(queries))
    network.load_state_dict(learning)
    return float(np.average(losses, weights=sizes)) if losses else np.inf
