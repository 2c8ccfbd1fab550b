"""The outcome of a comparison, as records and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from probative.evaluation.totals import Key

SCHEMA_VERSION = 1
MARKS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemValue:
    """One metric of one system."""

    system: str
    key: Key
    value: float | None
    ci_low: float | None
    ci_high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One metric of one system against the base. The difference is other minus base."""

    base: str
    other: str
    key: Key
    base_value: float | None
    other_value: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p: float | None
    effect: float | None
    """The difference in standard deviations of a document's share in it."""
    record: tuple[int, int, int] | None
    """Documents on which the other system is better, equal, worse."""
    n: int
    dropped: int = 0
    p_holm: float | None = None

    def with_holm(self, p_holm: float | None) -> Row:
        return replace(self, p_holm=p_holm)

    @property
    def mark(self) -> str:
        """Stars by the adjusted p: .05, .01, .001."""
        return next((mark for limit, mark in MARKS if self.p_holm is not None and self.p_holm < limit), "")

    def to_dict(self) -> dict[str, Any]:
        wins, ties, losses = self.record if self.record else (None, None, None)
        return {
            **_named(self.key),
            "base": self.base,
            "other": self.other,
            "base_value": self.base_value,
            "other_value": self.other_value,
            "difference": self.difference,
            "ci_low": self.ci_low,
            "ci_high": self.ci_high,
            "p": self.p,
            "p_holm": self.p_holm,
            "effect_size": self.effect,
            "wins": wins,
            "ties": ties,
            "losses": losses,
            "n": self.n,
            "dropped": self.dropped,
        }


def _named(key: Key) -> dict[str, Any]:
    return {"id": key.id, "population": key.population, **({"mode": key.mode} if key.mode else {})}


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Every system against the first one."""

    systems: Sequence[str]
    values: Sequence[SystemValue]
    rows: Sequence[Row]
    not_computed: Sequence[str]
    n_queries: int
    n_docs: int
    resamples: int
    seed: int
    unit: str
    level: float

    @property
    def keys(self) -> list[Key]:
        """The compared metrics, in order."""
        return list(dict.fromkeys(value.key for value in self.values))

    def value(self, system: str, key: Key) -> SystemValue:
        return next(value for value in self.values if value.system == system and value.key == key)

    def row(self, other: str, key: Key) -> Row | None:
        """A system against the base; None for the base itself."""
        return next((row for row in self.rows if row.other == other and row.key == key), None)

    @property
    def one(self) -> str:
        """What is drawn and swapped, in words."""
        return "a query" if self.unit == "queries" else "a document"

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain values."""
        return {
            "schema_version": SCHEMA_VERSION,
            "meta": {
                "systems": list(self.systems),
                "n_queries": self.n_queries,
                "n_docs": self.n_docs,
                "resamples": self.resamples,
                "seed": self.seed,
                "resample": self.unit,
                "level": self.level,
                "test": f"swap of the two systems' predictions of {self.one}; p = (b + 1) / (B + 1)",
                "adjustment": "Holm over all rows",
                "not_computed": list(self.not_computed),
            },
            "systems": [
                {
                    "system": value.system,
                    **_named(value.key),
                    "value": value.value,
                    "ci_low": value.ci_low,
                    "ci_high": value.ci_high,
                }
                for value in self.values
            ],
            "comparisons": [row.to_dict() for row in self.rows],
        }
