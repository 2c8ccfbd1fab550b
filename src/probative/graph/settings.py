"""Settings of the sentence graph: its edges, its layers, its three heads and how they learn."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from probative.settings import Settings


class EdgeSettings(Settings):
    """Which sentences of a query inform each other."""

    nearest: int = Field(default=5, ge=0)
    """Nearest sentences by cosine; 0 draws no semantic edge."""
    min_cosine: float = Field(default=0.5, ge=-1, le=1)
    adjacent: bool = True
    """An edge between neighbours in the text."""


class TrunkSettings(Settings):
    """The layers that carry messages."""

    layer: Literal["sage", "gcn", "gat"] = "sage"
    layers: int = Field(default=2, ge=1)
    hidden: int = Field(default=128, ge=4)
    heads: int = Field(default=4, ge=1)
    """Attention heads of a gat layer."""
    dropout: float = Field(default=0.2, ge=0, lt=1)
    residual: bool = True


class LearnSettings(Settings):
    """One run of AdamW."""

    rate: float = Field(default=5e-4, gt=0)
    weight_decay: float = Field(default=0.01, ge=0)
    batch: int = Field(default=64, ge=1)
    epochs: int = Field(default=12, ge=1)
    patience: int = Field(default=2, ge=1)
    """Epochs without a better STOP score after which learning ends."""


class RankHead(Settings):
    """P3: the order of a query's candidates."""

    on: bool = True
    loss: Literal["pairwise", "listwise"] = "listwise"
    margin: float = Field(default=0.1, ge=0)
    pairs: int = Field(default=10, ge=1)
    """Evidence sentences, and others, of a graph that the pairwise loss compares."""
    fusion: float = Field(default=0.65, gt=0, lt=1)
    """Where the learnable share of the graph in the fused score starts."""
    positive_graphs_only: bool = True


class NodeHead(Settings):
    """P2: the log-odds that a sentence is evidence."""

    on: bool = True
    margin_weight: float = Field(default=0.0, ge=0)
    """Weight of a pairwise margin beside the pointwise loss."""


class GateHead(Settings):
    """P4: the log-odds that a query has evidence."""

    on: bool = True
    focal: float = Field(default=0.0, ge=0)
    """Focal loss exponent; 0 is plain cross-entropy."""
    criterion_embedding: int = Field(default=0, ge=0)
    """Dimensions of a learned vector a criterion; 0 leaves the criterion to its text."""


class GraphSettings(Settings):
    """The graph stage."""

    on: bool = True
    pool: int = Field(default=24, ge=1)
    """Nodes of a graph: the best candidates of the stage before."""
    edges: EdgeSettings = EdgeSettings()
    rank: RankHead = RankHead()
    node: NodeHead = NodeHead()
    gate: GateHead = GateHead()
    together: bool = True
    """One trunk learns for all heads; otherwise every head has a trunk of its own."""
    trunk: TrunkSettings = TrunkSettings()
    learn: LearnSettings = LearnSettings()
    node_trunk: TrunkSettings | None = None
    """Where heads learn apart: the trunk of P2; absent, as `trunk`. The same for the next three."""
    gate_trunk: TrunkSettings | None = None
    node_learn: LearnSettings | None = None
    gate_learn: LearnSettings | None = None
