"""Message passing over padded dense batches: graphs (B, n, h), adjacency (B, n, n) without self loops."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from probative.graph.settings import TrunkSettings


class Sage(nn.Module):
    """GraphSAGE: a node's own state, and the mean of its neighbours'."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.own = nn.Linear(hidden, hidden)
        self.others = nn.Linear(hidden, hidden, bias=False)

    def forward(self, state: Tensor, adjacency: Tensor) -> Tensor:
        degree = adjacency.sum(-1, keepdim=True).clamp(min=1)
        out: Tensor = self.own(state) + self.others(torch.bmm(adjacency, state) / degree)
        return out


class Gcn(nn.Module):
    """Graph convolution with self loops and symmetric normalisation."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Linear(hidden, hidden)

    def forward(self, state: Tensor, adjacency: Tensor) -> Tensor:
        looped = adjacency + torch.eye(adjacency.shape[-1])
        norm = looped.sum(-1).rsqrt()
        out: Tensor = self.weight(torch.bmm(looped * norm[:, :, None] * norm[:, None, :], state))
        return out


class Gat(nn.Module):
    """Graph attention with self loops."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.weight = nn.Linear(hidden, hidden, bias=False)
        self.sender = nn.Parameter(torch.empty(heads, hidden // heads))
        self.receiver = nn.Parameter(torch.empty(heads, hidden // heads))
        self.bias = nn.Parameter(torch.zeros(hidden))
        nn.init.xavier_uniform_(self.sender)
        nn.init.xavier_uniform_(self.receiver)

    def forward(self, state: Tensor, adjacency: Tensor) -> Tensor:
        graphs, nodes, hidden = state.shape
        value = self.weight(state).view(graphs, nodes, self.heads, -1)
        sent = (value * self.sender).sum(-1).transpose(1, 2)
        received = (value * self.receiver).sum(-1).transpose(1, 2)
        score = nn.functional.leaky_relu(received[:, :, :, None] + sent[:, :, None, :], 0.2)
        looped = (adjacency + torch.eye(nodes)) > 0
        share = score.masked_fill(~looped[:, None], float("-inf")).softmax(-1)
        mixed = torch.einsum("bhij,bjhd->bihd", share, value)
        return mixed.reshape(graphs, nodes, hidden) + self.bias


class Trunk(nn.Module):
    """Layers with GELU, dropout and, where wanted, residual connections."""

    def __init__(self, settings: TrunkSettings) -> None:
        super().__init__()
        self.residual = settings.residual
        self.layers = nn.ModuleList(_layer(settings) for _ in range(settings.layers))
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, state: Tensor, adjacency: Tensor) -> Tensor:
        for layer in self.layers:
            after = self.dropout(nn.functional.gelu(layer(state, adjacency)))
            state = state + after if self.residual else after
        return state


def _layer(settings: TrunkSettings) -> nn.Module:
    if settings.layer == "sage":
        return Sage(settings.hidden)
    if settings.layer == "gcn":
        return Gcn(settings.hidden)
    return Gat(settings.hidden, settings.heads)


class AttentionPool(nn.Module):
    """A graph's state: the mean of its nodes' weighted by learned attention."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.score = nn.Sequential(nn.Linear(hidden, hidden // 2), nn.Tanh(), nn.Linear(hidden // 2, 1))

    def forward(self, state: Tensor, mask: Tensor) -> Tensor:
        score = self.score(state).squeeze(-1).masked_fill(~mask, -1e9)
        return torch.bmm(score.softmax(-1)[:, None], state).squeeze(1)
