"""Evidence retrieval with abstention: which sentences are evidence, is there any, and how sure can one be."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from probative.version import __version__ as __version__

if TYPE_CHECKING:
    from probative.api import compare, evaluate, run
    from probative.data import Corpus
    from probative.errors import (
        CheckFailed,
        ConfigError,
        DataError,
        ModelError,
        NotInstalled,
        ProbativeError,
        Unreachable,
    )
    from probative.pipeline import Pipeline

_HOME = {
    "Corpus": "probative.data",
    "Pipeline": "probative.pipeline",
    "compare": "probative.api",
    "evaluate": "probative.api",
    "run": "probative.api",
    "CheckFailed": "probative.errors",
    "ConfigError": "probative.errors",
    "DataError": "probative.errors",
    "ModelError": "probative.errors",
    "NotInstalled": "probative.errors",
    "ProbativeError": "probative.errors",
    "Unreachable": "probative.errors",
}

__all__ = [
    "CheckFailed",
    "ConfigError",
    "Corpus",
    "DataError",
    "ModelError",
    "NotInstalled",
    "Pipeline",
    "ProbativeError",
    "Unreachable",
    "compare",
    "evaluate",
    "run",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import probative` costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'probative' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
