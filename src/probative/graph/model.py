"""The network: sentence, criterion and scores of every node, a trunk, and the heads that are switched on."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from probative.graph.layers import AttentionPool, Trunk
from probative.graph.settings import GraphSettings, TrunkSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """B graphs of n nodes as tensors."""

    sentences: Tensor
    """(B, n, d)"""
    criteria: Tensor
    """(B, d)"""
    number: Tensor
    """(B,) the criterion's number in training; the last number is `unknown`."""
    features: Tensor
    base: Tensor
    odds: Tensor
    adjacency: Tensor
    mask: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """Which heads a network has."""

    rank: bool
    node: bool
    gate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What the heads say; None where a head is off."""

    rank: Tensor | None
    node: Tensor | None
    gate: Tensor | None


class Network(nn.Module):
    """One trunk with its heads. P2 and P4 correct the log-odds of the stage before rather than start from nothing."""

    def __init__(
        self, settings: GraphSettings, trunk: TrunkSettings, heads: Heads, width: int, features: int, criteria: int
    ) -> None:
        super().__init__()
        hidden = trunk.hidden
        self.sentence = nn.Linear(width, hidden)
        self.criterion = nn.Linear(width, hidden, bias=False)
        self.match_sentence = nn.Linear(width, hidden // 2, bias=False)
        self.match_criterion = nn.Linear(width, hidden // 2, bias=False)
        self.match = nn.Linear(hidden // 2, hidden, bias=False)
        self.scores = nn.Linear(features, hidden)
        self.dropout = nn.Dropout(trunk.dropout)
        self.trunk = Trunk(trunk)
        self.scale = width**0.5
        if heads.rank:
            self.rank_out = _head(hidden, 1)
            start = torch.tensor(settings.rank.fusion)
            self.fusion = nn.Parameter(torch.log(start / (1 - start)))
        if heads.node:
            self.node_out = _head(hidden, 1)
            self.node_trust = nn.Parameter(torch.tensor(1.0))
        if heads.gate:
            named = settings.gate.criterion_embedding
            self.named = nn.Embedding(criteria + 1, named) if named else None
            self.pool = AttentionPool(hidden)
            self.gate_out = _head(2 * hidden + named, 1)
            self.gate_trust = nn.Parameter(torch.tensor(1.0))
        self.heads = heads

    def forward(self, batch: Batch) -> Output:
        state = self._encode(batch)
        rank = node = gate = None
        if self.heads.rank:
            share = torch.sigmoid(self.fusion)
            rank = share * self.rank_out(state).squeeze(-1) + (1 - share) * batch.base
        if self.heads.node:
            node = self.node_out(state).squeeze(-1) + self.node_trust * batch.odds
        if self.heads.gate:
            gate = self._gate(state, batch)
        return Output(rank=rank, node=node, gate=gate)

    def _encode(self, batch: Batch) -> Tensor:
        sentences, criteria = batch.sentences * self.scale, batch.criteria * self.scale
        match = self.match_sentence(sentences) * self.match_criterion(criteria)[:, None]
        state = self.sentence(sentences) + self.criterion(criteria)[:, None] + self.match(match)
        state = self.dropout(nn.functional.gelu(state + self.scores(batch.features)))
        encoded: Tensor = self.trunk(state * batch.mask[:, :, None], batch.adjacency)
        return encoded

    def _gate(self, state: Tensor, batch: Batch) -> Tensor:
        pooled = [self.pool(state, batch.mask), state.masked_fill(~batch.mask[:, :, None], -30.0).amax(1)]
        if self.named is not None:
            pooled.append(self.named(batch.number))
        best = batch.odds.masked_fill(~batch.mask, -30.0).amax(1)
        logit: Tensor = self.gate_out(torch.cat(pooled, dim=1)).squeeze(-1) + self.gate_trust * best
        return logit


def _head(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, 64), nn.GELU(), nn.Linear(64, outputs))
