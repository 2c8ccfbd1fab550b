"""What the contract says about one metric."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Better = Literal["higher", "lower", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A goal that a value meets or does not meet."""

    at_least: float | None = None
    at_most: float | None = None
    below: float | None = None

    def met(self, value: float) -> bool:
        """Whether a value reaches the goal."""
        if self.at_least is not None:
            return value >= self.at_least
        if self.at_most is not None:
            return value <= self.at_most
        return self.below is not None and value < self.below

    def __str__(self) -> str:
        if self.at_least is not None:
            return f"≥ {self.at_least:g}"
        return f"≤ {self.at_most:g}" if self.at_most is not None else f"< {self.below:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One metric: what it is, on whom, by whose definition, and how to read it.

    `id` is a pattern until `lookup` fills it in: `ndcg@K`, `tpr@fpr=α`.
    """

    id: str
    section: str
    formula: str
    populations: tuple[str, ...]
    interpretation: str
    example: str
    sources: tuple[str, ...]
    """The documents that define it so; – is ours."""
    inputs: tuple[str, ...]
    """Columns of per_query that it needs."""
    conventions: str = ""
    low: float | None = 0.0
    high: float | None = 1.0
    better: Better = "higher"
    default: bool = False
    """The reading that headline tables use."""
    by_mode: bool = False
    """Computed for raw, gate and triage; triage is the headline."""
    target: Target | None = None
    baseline: tuple[float, float] | None = None
    good: tuple[float, float] | None = None
    """Reference ranges of 000 §7, for K = 10 and α = 0.05."""

    @property
    def population(self) -> str:
        """The headline population."""
        return self.populations[0]

    @property
    def range(self) -> str:
        """The possible values, as an interval."""
        low = f"[{self.low:g}" if self.low is not None else "(−∞"
        high = f"{self.high:g}]" if self.high is not None else "∞)"
        return f"{low}, {high}"

    def is_default(self, population: str, mode: str | None = None) -> bool:
        """Whether a record of this metric belongs into headline tables."""
        return self.default and population == self.population and mode in (None, "triage")

    def named(self, id: str) -> Entry:  # noqa: A002 - the contract's word
        """The same entry under a filled-in id; the reference ranges hold for one cutoff and one budget only."""
        known = id.endswith(("@10", "=0.05"))
        return replace(self, id=id, baseline=self.baseline if known else None, good=self.good if known else None)
