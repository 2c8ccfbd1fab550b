"""What `tune` may change: every setting that is searched, with its range, in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from probative.experiment.settings import RunSettings
from probative.settings import flatten


class Asks(Protocol):
    """What a trial offers."""

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float: ...
    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int: ...
    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """One setting between two values, or one of some values."""

    name: str
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    whole: bool = False
    options: tuple[Any, ...] = ()

    def ask(self, trial: Asks) -> Any:
        """A value of the trial's choice."""
        if self.options:
            return trial.suggest_categorical(self.name, self.options)
        if self.whole:
            return trial.suggest_int(self.name, int(self.low), int(self.high), log=self.log)
        return trial.suggest_float(self.name, self.low, self.high, log=self.log)

    def holds(self, value: Any) -> bool:
        """Whether a value lies in the range."""
        return value in self.options if self.options else self.low <= value <= self.high


SPACE = (
    Range(name="retrieve.k1", low=0.4, high=2.0),
    Range(name="retrieve.b", low=0.0, high=1.0),
    Range(name="rerank.linear.vector_weight", low=0.3, high=30.0, log=True),
    Range(name="rerank.linear.term_weight", low=0.5, high=50.0, log=True),
    Range(name="rerank.lambdarank.depth", low=20, high=80, whole=True),
    Range(name="rerank.lambdarank.rank_trees", low=40, high=400, log=True, whole=True),
    Range(name="rerank.lambdarank.node_trees", low=40, high=400, log=True, whole=True),
    Range(name="rerank.lambdarank.learning_rate", low=0.02, high=0.2, log=True),
    Range(name="rerank.lambdarank.leaves", low=4, high=63, log=True, whole=True),
    Range(name="rerank.lambdarank.min_leaf", low=10, high=200, log=True, whole=True),
    Range(name="graph.pool", options=(16, 20, 24, 32, 48)),
    Range(name="graph.edges.nearest", low=0, high=8, whole=True),
    Range(name="graph.edges.min_cosine", low=0.2, high=0.8),
    Range(name="graph.trunk.layers", low=1, high=3, whole=True),
    Range(name="graph.trunk.hidden", options=(64, 128, 256)),
    Range(name="graph.trunk.dropout", low=0.0, high=0.5),
    Range(name="graph.learn.rate", low=3e-5, high=2e-3, log=True),
    Range(name="graph.learn.weight_decay", low=1e-6, high=0.1, log=True),
    Range(name="graph.learn.batch", options=(32, 64, 128)),
)
"""Values outside a range, and everything that is not named here, stay as the configuration has them."""


def space(settings: RunSettings) -> tuple[Range, ...]:
    """The ranges of the stages that these settings switch on."""
    off = [] if settings.graph.on else ["graph."]
    if settings.rerank.kind != "lambdarank":
        off.append("rerank.lambdarank.")
    if settings.rerank.kind in ("cross", "none"):
        off.append("rerank.linear.")
    if settings.retrieve.method == "dense":
        off.append("retrieve.")
    return tuple(one for one in SPACE if not one.name.startswith(tuple(off)))


def present(settings: RunSettings) -> dict[str, Any]:
    """The configuration's own values, where they lie in their ranges: the trial to beat."""
    values = flatten(settings.model_dump(mode="json"))
    return {one.name: values[one.name] for one in space(settings) if one.holds(values[one.name])}


def changed(settings: RunSettings, chosen: Mapping[str, Any]) -> RunSettings:
    """The settings with some dotted names changed, checked again."""
    values = settings.model_dump(mode="json")
    for name, value in chosen.items():
        *path, leaf = name.split(".")
        inside = values
        for part in path:
            inside = inside[part]
        inside[leaf] = value
    return RunSettings.model_validate(values)
