"""Rerankers: the linear model, trees over candidate features, and cross-encoders."""

from probative.rerank.lambdarank import LambdaRanker
from probative.rerank.linear import LinearReranker
from probative.rerank.settings import LambdaRankSettings, LinearSettings, RerankSettings

__all__ = ["LambdaRankSettings", "LambdaRanker", "LinearReranker", "LinearSettings", "RerankSettings"]
