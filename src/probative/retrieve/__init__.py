"""The first scorer: words, vectors, or both, within the document."""

from probative.retrieve.retriever import Retriever
from probative.retrieve.settings import RetrieveSettings

__all__ = ["RetrieveSettings", "Retriever"]
