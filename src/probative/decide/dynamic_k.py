"""How many sentences to show: policies and limits over flat rows (contract §5).

A selection is always the head of the ranking, so a policy answers with one size a query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from probative import segments
from probative.errors import ConfigError
from probative.segments import BoolArray, FloatArray, IntArray

PolicyKind = Literal["mass", "threshold", "gap", "fixed"]
GAMMAS = (0.7, 0.8, 0.9, 0.95)
SLACK = 1e-9
"""n · ratio and a share of a sum are compared with room for rounding: 0.29 of 100 is 29."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How few and how many sentences a policy may show.

    >>> Limits().bounds([1, 3, 30])
    (array([1, 2, 2]), array([ 1,  2, 10]))
    """

    k_min: int = 2
    hard_cap: int = 10
    k_max_ratio: float = 0.5
    rounding: Literal["floor", "ceil"] = "floor"

    def __post_init__(self) -> None:
        if self.k_min < 0 or self.hard_cap < 0 or not 0 <= self.k_max_ratio <= 1:
            raise ConfigError(f"limits: k_min and hard_cap must not be negative and 0 ≤ k_max_ratio ≤ 1; got {self}.")

    def bounds(self, n_candidates: ArrayLike) -> tuple[IntArray, IntArray]:
        """The lowest and highest size of each query: k_min wins over k_max, then nothing exceeds n."""
        n = np.asarray(n_candidates, dtype=np.int64)
        part = n * self.k_max_ratio
        k_max = np.floor(part + SLACK) if self.rounding == "floor" else np.ceil(part - SLACK)
        low = np.minimum(self.k_min, n)
        high = np.minimum(np.maximum(np.minimum(k_max.astype(np.int64), self.hard_cap), self.k_min), n)
        return low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One way to choose K, with its limits.

    mass: the fewest sentences that hold the share `gamma` of the pool's node probability. threshold: as many as have a
    node probability of at least `tau`. gap: up to the deepest drop of node probability between neighbours in the
    ranking. fixed: `k`.
    """

    kind: PolicyKind = "mass"
    gamma: float = 0.9
    tau: float = 0.5
    k: int = 5
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        if self.kind not in ("mass", "threshold", "gap", "fixed"):
            raise ConfigError(f"policy: {self.kind!r} is unknown; known are mass, threshold, gap, fixed.")
        if not (0 <= self.gamma <= 1 and 0 <= self.tau <= 1 and self.k >= 0):
            raise ConfigError(f"policy: gamma and tau must lie in [0, 1] and k must not be negative; got {self}.")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Policy:
        return cls(**{**values, "limits": Limits(**values["limits"])})


def select(
    rank_order: IntArray,
    node_prob: FloatArray,
    pool: BoolArray | None,
    offsets: IntArray,
    policy: Policy,
    n_candidates: IntArray | None = None,
) -> IntArray:
    """(Q,) how many sentences from the head of each ranking to show.

    `rank_order` lists the rows of each query from first to last, query after query (`segments.order`); `node_prob` and
    `pool` stand in the rows' own order. `n_candidates` only differs from the number of rows when rankings are cut off.
    """
    length = segments.lengths(offsets)
    low, high = policy.limits.bounds(length if n_candidates is None else n_candidates)
    high = np.minimum(high, length)
    low = np.minimum(low, high)
    prob = np.asarray(node_prob, dtype=np.float64)
    if pool is not None:
        prob = np.where(pool, prob, 0.0)
    if policy.kind == "fixed":
        size = np.full(length.size, policy.k, dtype=np.int64)
    elif policy.kind == "threshold":
        passed = prob >= policy.tau
        size = segments.total(passed if pool is None else passed & pool, offsets).astype(np.int64)
    else:
        head = _head(prob, rank_order, offsets, int(high.max(initial=0)) + 1)
        size = (
            _mass(head, segments.total(prob, offsets), policy.gamma) if policy.kind == "mass" else _gap(head, low, high)
        )
    return np.clip(size, low, high)


def _head(prob: FloatArray, rank_order: IntArray, offsets: IntArray, width: int) -> FloatArray:
    """(Q, width) node probabilities from the first rank on; 0 behind the last row."""
    place = offsets[:-1, None] + np.arange(width)
    there = place < offsets[1:, None]
    head = np.zeros(place.shape)
    head[there] = prob[rank_order[place[there]]]
    return head


def _mass(head: FloatArray, total: FloatArray, gamma: float) -> IntArray:
    enough = np.cumsum(head, axis=1) >= (gamma * total * (1.0 - SLACK))[:, None]
    size = np.where(enough.any(axis=1), enough.argmax(axis=1) + 1, head.shape[1])
    # Nothing to hold: the limits alone decide.
    held: IntArray = np.where(total > 0, size, 0).astype(np.int64)
    return held


def _gap(head: FloatArray, low: IntArray, high: IntArray) -> IntArray:
    drop = head[:, :-1] - head[:, 1:]
    k = np.arange(1, head.shape[1])
    allowed = (k >= low[:, None]) & (k <= high[:, None])
    if not k.size:
        return low
    deepest: IntArray = np.where(allowed, drop, -np.inf).argmax(axis=1).astype(np.int64)
    return deepest + 1


def head_rows(rank_order: IntArray, sizes: IntArray, offsets: IntArray) -> BoolArray:
    """(N,) which rows the sizes select."""
    chosen = np.zeros(int(offsets[-1]), dtype=bool)
    chosen[rank_order[segments.within(offsets) < np.repeat(sizes, np.diff(offsets))]] = True
    return chosen


def choose_k(node_probs: ArrayLike, policy: Policy | None = None, *, n_candidates: int | None = None) -> int:
    """The size for one query, its node probabilities given in ranking order.

    >>> choose_k([0.9, 0.6, 0.1, 0.05, 0.05, 0.0], Policy(gamma=0.8))
    2
    """
    prob = np.asarray(node_probs, dtype=np.float64)
    sizes = select(
        np.arange(prob.size),
        prob,
        None,
        np.array([0, prob.size]),
        policy or Policy(),
        None if n_candidates is None else np.array([n_candidates]),
    )
    return int(sizes[0])


def equal_mean(sizes: IntArray, n_candidates: IntArray) -> IntArray:
    """Fixed K with exactly the same total as `sizes`: the rival every policy must beat.

    All queries get the same whole K where they have that many candidates; what is left over is dealt as one sentence
    more to queries evenly spaced in the given order. Nothing is drawn at random.

    >>> equal_mean(np.array([5, 1, 1]), np.array([9, 9, 9])).tolist()
    [2, 2, 3]
    """
    n = np.asarray(n_candidates, dtype=np.int64)
    total = int(np.sum(sizes))
    if total > int(n.sum()):
        raise ConfigError(f"sizes: {total} sentences are shown, but the queries have only {int(n.sum())} candidates.")
    low, high = 0, int(n.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if int(np.minimum(n, middle).sum()) <= total else (low, middle - 1)
    fixed = np.minimum(n, low)
    able = np.flatnonzero(n > low)
    rest = total - int(fixed.sum())
    if rest:
        steps = np.arange(able.size + 1) * rest // able.size
        fixed[able] += np.diff(steps)
    return fixed
