"""Settings of the rerankers that learn."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from probative.rerank.cross import CrossSettings
from probative.settings import Settings


class LinearSettings(Settings):
    """The regularised logistic regression."""

    vector_weight: float = Field(default=3.0, gt=0)
    """How freely a criterion's own weights on sentence vectors may grow."""
    term_weight: float = Field(default=5.0, ge=0)
    """The same for words and word pairs; 0 leaves them out."""
    min_count: int = Field(default=3, ge=1)
    """Sentences a term must stand in."""
    max_terms: int = Field(default=20_000, ge=1)
    min_documents: int = Field(default=5, ge=2)
    """Documents a criterion must be asked of before it gets weights of its own."""
    iterations: int = Field(default=18, ge=1)
    examples: int = Field(default=40_000, ge=100)
    """Rows that the shared weights are fitted on: all evidence, and sampled sentences that are not."""


class LambdaRankSettings(Settings):
    """The gradient-boosted trees: one model for the order, one for comparable log-odds."""

    depth: int = Field(default=40, ge=1)
    """Candidates of a query that the trees see: the best by the linear score."""
    rank_trees: int = Field(default=150, ge=1)
    node_trees: int = Field(default=200, ge=1)
    learning_rate: float = Field(default=0.05, gt=0, le=1)
    leaves: int = Field(default=15, ge=2)
    min_leaf: int = Field(default=40, ge=1)
    parts: int = Field(default=5, ge=2)
    """Parts of TRAIN for the out-of-fold linear scores that the trees learn on."""


class RerankSettings(Settings):
    """Which reranker stands behind the retriever, and its parts."""

    kind: Literal["lambdarank", "linear", "cross", "none"] = "lambdarank"
    linear: LinearSettings = LinearSettings()
    lambdarank: LambdaRankSettings = LambdaRankSettings()
    cross: CrossSettings = CrossSettings()
