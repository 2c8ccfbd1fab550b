"""A promise over documents: how rarely a document's evidence is skipped, with a stated confidence (contract §7).

The loss of a document with positives is 1 when any of its positives is NEG. Candidate thresholds are fixed before TUNE
is seen and tried from the least to the most NEG; the first one whose Clopper–Pearson upper bound exceeds the allowed
rate ends the sequence. Because only one test can be the first false acceptance, no correction for many tests is due.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from probative.decide.labelled import Labelled, finite
from probative.errors import ConfigError
from probative.segments import FloatArray, IntArray

CANDIDATES: FloatArray = np.round(np.linspace(-40.0, 40.0, 8001), 2)
"""The default sequence, in log-odds: every hundredth from −40 to 40."""


def documents_needed(target: float, confidence: float = 0.95) -> int:
    """The fewest documents with positives that certify the target when none is missed.

    >>> documents_needed(0.995, 0.95)
    598
    """
    _check(target, confidence)
    needed = max(1, math.ceil(math.log(1.0 - confidence) / math.log(target)) - 1)
    while float(upper_bound(0, needed, confidence)) > 1.0 - target:
        needed += 1
    return needed


def upper_bound(missed: ArrayLike, n: int, confidence: float = 0.95) -> FloatArray:
    """The one-sided Clopper–Pearson upper bound of a rate after `missed` of n."""
    from scipy.special import betaincinv

    k = np.asarray(missed, dtype=np.float64)
    if n == 0:
        return np.ones_like(k)
    bound = betaincinv(np.minimum(k, n - 1) + 1.0, np.maximum(n - k, 1.0), confidence)
    return np.asarray(np.where(k >= n, 1.0, bound), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """What may be promised: of the documents with positives, at least `certified_target` have none of them skipped."""

    target: float
    confidence: float
    certified: bool
    """Whether the target that was asked for is the one promised."""
    certified_target: float | None
    """The share promised: the target, else the largest the number of documents allows, else None."""
    raw: float | None
    """The threshold on raw scores; None skips nothing."""
    n_documents: int
    n_missed: int
    upper_bound: float
    """Of the rate of documents with a skipped positive, at the threshold chosen."""
    documents_needed: int
    documents_missing: int
    n_candidates: int

    @property
    def reason(self) -> str:
        """The promise in words, or why there is none."""
        asked = f"{100 * self.target:g} % of documents at {100 * self.confidence:g} % confidence"
        if self.certified:
            return (
                f"Certified: {asked}. In TUNE {self.n_missed} of {self.n_documents} documents with positives "
                f"have a skipped one; the upper bound of that rate is {100 * self.upper_bound:.2f} %."
            )
        if self.documents_missing:
            why = (
                f"it needs {self.documents_needed} TUNE documents with positives and no miss, there are "
                f"{self.n_documents}: {self.documents_missing} are missing"
            )
        else:
            why = "even the first candidate threshold skips positives of too many documents"
        if self.certified_target is None:
            return f"Not certifiable: {asked}; {why}. Nothing is skipped."
        return f"Not certifiable: {asked}; {why}. The largest certifiable share is {100 * self.certified_target:.2f} %."

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "reason": self.reason}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Guarantee:
        return cls(**{name: value for name, value in values.items() if name != "reason"})


def certify(
    scores: ArrayLike,
    labels: ArrayLike,
    groups: ArrayLike,
    *,
    target: float = 0.995,
    confidence: float = 0.95,
    candidates: ArrayLike = CANDIDATES,
) -> Guarantee:
    """The highest skip threshold among `candidates` that the documents of TUNE certify.

    `candidates` must not depend on these scores or labels: a grid, or quantiles of scores of other documents.

    >>> scores, labels, documents = [2.0, -1.0, 3.0, -2.0], [1, 0, 1, 0], ["a", "a", "b", "b"]
    >>> found = certify(scores, labels, documents, target=0.2, candidates=[-3, 0, 1, 2.5])
    >>> found.raw, found.certified, round(found.upper_bound, 3)
    (1.0, True, 0.776)
    """
    _check(target, confidence)
    tried = np.unique(finite(candidates, "candidates"))
    if not tried.size:
        raise ConfigError("candidates: at least one candidate threshold is needed.")
    lowest = Labelled.of(scores, labels, groups).lowest_positive()
    needed = documents_needed(target, confidence)
    n = lowest.size
    # How many documents there are, unlike which of them are missed, may decide what is asked of them.
    reachable = target if n >= needed else 1.0 - float(upper_bound(0, n, confidence))
    missed: IntArray = np.searchsorted(lowest, tried, side="left")
    bounds = upper_bound(missed, n, confidence)
    passed = bounds <= 1.0 - reachable if n >= needed else missed == 0
    last = int(np.argmin(np.append(passed, False))) - 1
    found = n > 0 and last >= 0
    return Guarantee(
        target=target,
        confidence=confidence,
        certified=found and n >= needed,
        certified_target=reachable if found else None,
        raw=float(tried[last]) if found else None,
        n_documents=n,
        n_missed=int(missed[last]) if found else 0,
        upper_bound=float(bounds[last]) if found else float(upper_bound(0, n, confidence)),
        documents_needed=needed,
        documents_missing=max(0, needed - n),
        n_candidates=tried.size,
    )


def _check(target: float, confidence: float) -> None:
    if not (0 < target < 1 and 0 < confidence < 1):
        raise ConfigError(f"guarantee: target and confidence must lie between 0 and 1; got {target} and {confidence}.")
