"""Evidence retrieval with abstention."""

__version__ = "0.1.0"
