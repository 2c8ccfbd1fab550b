"""Contract §2 once more, one query at a time, straight from the definitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from probative.audit.queries import Query


@dataclass(frozen=True, slots=True)
class Seen:
    """What a ranking metric may know about one query."""

    ranks: Sequence[int]
    """Ranks of the gold sentences that the ranking holds, rising, from 1."""
    gold: int
    n: int
    pool_ranks: Sequence[int] | None
    pool_gold: int


def look(query: Query) -> Seen:
    """Find the gold of one query in its ranking."""
    wanted = set(query.gold)
    ranks = [place for place, uid in enumerate(query.ranked, start=1) if uid in wanted]
    if query.pool is None:
        return Seen(ranks, len(wanted), query.n, None, 0)
    pool = wanted.intersection(query.pool)
    inside = [rank for rank in ranks if query.ranked[rank - 1] in pool]
    return Seen(ranks, len(wanted), query.n, inside, len(pool))


def _found(seen: Seen, k: int) -> int:
    return sum(1 for rank in seen.ranks if rank <= k)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def recall(seen: Seen, k: int) -> float:
    return _share(_found(seen, k), seen.gold)


def recall_inpool(seen: Seen, k: int) -> float:
    return _share(sum(1 for rank in seen.pool_ranks or () if rank <= k), seen.pool_gold)


def precision(seen: Seen, k: int) -> float:
    return _share(_found(seen, k), k)


def precision_keff(seen: Seen, k: int) -> float:
    return _share(_found(seen, k), min(k, seen.n))


def hit(seen: Seen, k: int) -> float:
    return float(_found(seen, k) > 0)


def mrr(seen: Seen, k: int) -> float:
    return 1.0 / seen.ranks[0] if seen.ranks and seen.ranks[0] <= k else 0.0


def _precisions(seen: Seen, k: int) -> float:
    return math.fsum(count / rank for count, rank in enumerate(seen.ranks, start=1) if rank <= k)


def map_(seen: Seen, k: int) -> float:
    return _share(_precisions(seen, k), min(seen.gold, k))


def map_found(seen: Seen, k: int) -> float:
    return _share(_precisions(seen, k), _found(seen, k))


def map_gold(seen: Seen, k: int) -> float:
    return _share(_precisions(seen, k), seen.gold)


def _discount(rank: int) -> float:
    return 1.0 / math.log2(rank + 1)


def ndcg(seen: Seen, k: int) -> float:
    ideal = math.fsum(_discount(rank) for rank in range(1, min(seen.gold, k) + 1))
    return _share(math.fsum(_discount(rank) for rank in seen.ranks if rank <= k), ideal)


AT_K: dict[str, Callable[[Seen, int], float]] = {
    "recall": recall,
    "recall_inpool": recall_inpool,
    "precision": precision,
    "precision_keff": precision_keff,
    "hit": hit,
    "mrr": mrr,
    "map": map_,
    "map_found": map_found,
    "map_gold": map_gold,
    "ndcg": ndcg,
}
NEEDS_POOL = frozenset({"recall_inpool", "pool_coverage"})
CUTOFFS = ("1", "3", "5", "10", "20", "all")


def measure(metric: str) -> Callable[[Seen], float] | None:
    """The per-query function of a ranking id, or None when there is no such id."""
    if metric == "mrr":
        return lambda seen: mrr(seen, seen.ranks[0]) if seen.ranks else 0.0
    if metric == "pool_coverage":
        return lambda seen: _share(seen.pool_gold, seen.gold)
    family, at, cutoff = metric.partition("@")
    function = AT_K.get(family)
    if function is None or not at or not (cutoff == "all" or cutoff.isdigit()):
        return None
    if cutoff == "all":
        return lambda seen: function(seen, seen.n)
    k = int(cutoff)
    return lambda seen: function(seen, k)
