"""The sentence-graph model: reranker (P3), node probability (P2), gate (P4)."""

from typing import TYPE_CHECKING, Any

from probative.graph.settings import GraphSettings

if TYPE_CHECKING:
    from probative.graph.reranker import GraphModel

__all__ = ["GraphModel", "GraphSettings"]


def __getattr__(name: str) -> Any:
    if name == "GraphModel":  # torch is loaded only when a graph is
        from probative.graph.reranker import GraphModel

        return GraphModel
    raise AttributeError(name)
