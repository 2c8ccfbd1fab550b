"""Drift in plain sight: are new documents like those that the thresholds were chosen on?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from probative.segments import FloatArray, IntArray
from probative.types import State

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
LIMIT = 3.0
"""Standard errors, over documents, beyond which a difference is more than resampling explains."""


@dataclass(kw_only=True)
class Share:
    """A share of queries, with what its standard error over documents needs; grows document by document."""

    documents: int = 0
    hits: float = 0.0
    queries: float = 0.0
    hits2: float = 0.0
    queries2: float = 0.0
    product: float = 0.0

    def add(self, hits: FloatArray, queries: FloatArray) -> None:
        """Count documents: `hits` of their `queries`."""
        self.documents += len(hits)
        self.hits += float(hits.sum())
        self.queries += float(queries.sum())
        self.hits2 += float(hits @ hits)
        self.queries2 += float(queries @ queries)
        self.product += float(hits @ queries)

    @property
    def rate(self) -> float:
        return self.hits / self.queries if self.queries else 0.0

    @property
    def variance(self) -> float:
        """Of the rate, over documents (the linearised ratio estimator); never below that of one document more."""
        if self.documents < 2 or not self.queries:
            return 0.25
        r = self.rate
        squares = max(0.0, self.hits2 - 2 * r * self.product + r * r * self.queries2)
        observed = squares * self.documents / (self.documents - 1) / self.queries**2
        return max(observed, (1.0 / (self.documents + 1)) ** 2)

    def to_dict(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in ("documents", "hits", "queries", "hits2", "queries2", "product")}


@dataclass(kw_only=True)
class Profile:
    """State rates and the spread of scores over some documents."""

    cuts: Sequence[float]
    """TUNE's quantiles of the raw score."""
    shares: dict[str, Share] = field(default_factory=dict)

    @classmethod
    def of(cls, gate: FloatArray, states: Sequence[State], doc: IntArray) -> Profile:
        """The profile of TUNE, which sets the cuts."""
        profile = cls(cuts=[float(q) for q in np.quantile(gate, QUANTILES)])
        profile.add(gate, states, doc)
        return profile

    def like(self) -> Profile:
        """An empty profile with the same cuts."""
        return Profile(cuts=self.cuts)

    def add(self, gate: FloatArray, states: Sequence[State], doc: IntArray) -> None:
        """Count more documents; `doc` numbers the document of every query."""
        if not len(doc):
            return
        _, place = np.unique(doc, return_inverse=True)
        asked: FloatArray = np.bincount(place).astype(np.float64)
        named = np.array([str(s) for s in states])
        marks = {f"state {s}": named == str(s) for s in State}
        marks |= {f"score above q{q:g}": gate > cut for q, cut in zip(QUANTILES, self.cuts, strict=True)}
        for name, mark in marks.items():
            hits = np.bincount(place, weights=mark.astype(np.float64), minlength=len(asked)).astype(np.float64)
            self.shares.setdefault(name, Share()).add(hits, asked)

    def to_dict(self) -> dict[str, Any]:
        return {"cuts": list(self.cuts), "shares": {name: share.to_dict() for name, share in self.shares.items()}}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Profile:
        shares = {name: Share(**share) for name, share in values["shares"].items()}
        return cls(cuts=values["cuts"], shares=shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """One share beside TUNE's."""

    name: str
    tune: float
    here: float
    errors: float
    """The difference in standard errors."""

    @property
    def is_drift(self) -> bool:
        return abs(self.errors) > LIMIT


def compare(tune: Profile, here: Profile) -> list[Shift]:
    """Every share of the new documents beside TUNE's."""
    shifts = []
    for name, share in here.shares.items():
        before = tune.shares[name]
        spread = float(np.sqrt(before.variance + share.variance))
        gap = share.rate - before.rate
        shifts.append(Shift(name=name, tune=before.rate, here=share.rate, errors=gap / spread))
    return shifts


def warning(shifts: Sequence[Shift]) -> str | None:
    """What to tell a person when the documents differ more than resampling explains."""
    drifted = sorted((s for s in shifts if s.is_drift), key=lambda s: -abs(s.errors))
    if not drifted:
        return None
    named = "; ".join(f"{s.name}: {s.here:.1%} here, {s.tune:.1%} when the thresholds were chosen" for s in drifted[:3])
    return (
        f"These documents differ from those the thresholds were chosen on, more than resampling explains ({named}). "
        "Any guarantee assumes documents like those; label a sample of these and fit again before relying on it."
    )
