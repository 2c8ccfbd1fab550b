"""Every ranking metric from the ranks of the gold rows; queries without gold are never touched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from probative import segments
from probative.segments import BoolArray, FloatArray, IntArray

KS: tuple[int | str, ...] = (1, 3, 5, 10, 20, "all")
FAMILIES = ("recall", "precision", "precision_keff", "hit", "mrr", "map", "map_found", "map_gold", "ndcg")
_NEVER = np.int64(1) << 40


def gold_ranks(scores: ArrayLike, gold: ArrayLike, offsets: IntArray) -> tuple[IntArray, IntArray]:
    """Offsets (Q + 1,) into the gold rows and the rank of each, by counting the better candidates of its query.

    Equal scores keep the order of the rows. No sort: a gold row costs one look at its own query.
    """
    offsets = np.asarray(offsets)
    query, rank = _ranks(np.asarray(scores), np.asarray(gold, dtype=bool), offsets)
    return segments.from_lengths(np.bincount(query, minlength=len(offsets) - 1)), rank


def _ranks(scores: NDArray[Any], gold: BoolArray, offsets: IntArray) -> tuple[IntArray, IntArray]:
    """The query of every gold row, and its rank."""
    rows = np.flatnonzero(gold)
    if not len(rows):
        return rows, rows
    query = np.searchsorted(offsets, rows, side="right") - 1
    start = offsets[query]
    size = offsets[query + 1] - start
    local = segments.from_lengths(size)
    candidate = np.arange(local[-1]) + np.repeat(start - local[:-1], size)
    theirs, mine = scores.take(candidate), np.repeat(scores[rows], size)
    better = theirs > mine
    equal = theirs == mine
    if np.count_nonzero(equal) > len(rows):  # more than each gold row with itself
        better |= equal & (candidate < np.repeat(rows, size))
    return query, 1 + np.add.reduceat(better, local[:-1], dtype=np.int64)


def discount(length: int) -> FloatArray:
    """1 / log2(i + 1) for ranks 1 … length, with 0 in front."""
    table = np.zeros(length + 1)
    table[1:] = 1.0 / np.log2(np.arange(2, length + 2))
    return table


def divide(a: ArrayLike, b: ArrayLike) -> FloatArray:
    """a / b, and 0 where b is 0 (001 §5)."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    shape = a.shape if a.shape == b.shape else np.broadcast_shapes(a.shape, b.shape)
    out: FloatArray = np.divide(a, b, out=np.zeros(shape), where=b != 0)
    return out


def ranking(rank: IntArray, offsets: IntArray, n: IntArray, ks: Sequence[int | str] = KS) -> dict[str, FloatArray]:
    """Contract §2 for every query: id → (Q,).

    `rank` holds the rank of every gold row, from 1, and 0 for gold that is not in the ranking; `offsets` cuts the gold
    rows into queries; `n` is the number of candidates.
    """
    size = np.diff(offsets)
    some = np.flatnonzero(size)
    values = _with_gold(rank, offsets[np.append(some, len(size))], n[some], ks)
    if len(some) == len(size):
        return values
    return {name: _scatter(column, some, len(size)) for name, column in values.items()}


def _scatter(values: FloatArray, at: IntArray, size: int) -> FloatArray:
    out = np.zeros(size)
    out[at] = values
    return out


def _with_gold(rank: IntArray, offsets: IntArray, n: IntArray, ks: Sequence[int | str]) -> dict[str, FloatArray]:
    """The same for queries that all have gold."""
    size = np.diff(offsets)
    if not len(size):
        return {name: np.zeros(0) for name in ["mrr", *(f"{family}@{k}" for family in FAMILIES for k in ks)]}
    # Within its query by rank, those not found last; a query's ranks lie above those of the queries before it.
    never = int(rank.max()) + 1
    floor = np.repeat(np.arange(len(size)) * (never + 1), size)
    rank = np.sort(floor + np.where(rank > 0, rank, never)) - floor
    found = rank < never
    rank[~found] = _NEVER
    gain = np.zeros(len(rank))
    gain[found] = 1.0 / np.log2(rank[found] + 1.0)
    precision = np.where(found, (segments.within(offsets) + 1) / rank, 0.0)
    start = offsets[:-1]
    first = rank[start]
    reciprocal = np.where(first < _NEVER, 1.0 / first, 0.0)
    ideal = np.cumsum(discount(int(size.max())))
    values: dict[str, FloatArray] = {"mrr": reciprocal}
    for k in ks:
        cut = n if k == "all" else int(k)
        inside = rank <= (np.repeat(n, size) if k == "all" else cut)
        hits = np.add.reduceat(inside, start, dtype=np.float64)
        summed = np.add.reduceat(np.where(inside, precision, 0.0), start)
        best = np.minimum(size, cut)
        values[f"recall@{k}"] = hits / size
        values[f"precision@{k}"] = divide(hits, cut)
        values[f"precision_keff@{k}"] = divide(hits, np.minimum(cut, n))
        values[f"hit@{k}"] = (hits > 0).astype(np.float64)
        values[f"mrr@{k}"] = np.where(first <= cut, reciprocal, 0.0)
        values[f"map@{k}"] = divide(summed, best)
        values[f"map_found@{k}"] = divide(summed, hits)
        values[f"map_gold@{k}"] = summed / size
        values[f"ndcg@{k}"] = divide(np.add.reduceat(np.where(inside, gain, 0.0), start), ideal[best])
    return values


def pool_recall(
    rank: IntArray, in_pool: BoolArray, offsets: IntArray, n: IntArray, ks: Sequence[int | str] = KS
) -> dict[str, FloatArray]:
    """recall_inpool@K and pool_coverage for every query: id → (Q,)."""
    size = segments.total(np.ones(len(rank)), offsets)
    pooled = segments.total(in_pool, offsets)
    owner = segments.owner(offsets)
    values = {"pool_coverage": divide(pooled, size)}
    for k in ks:
        inside = in_pool & (rank > 0) & (rank <= (n[owner] if k == "all" else int(k)))
        values[f"recall_inpool@{k}"] = divide(segments.total(inside, offsets), pooled)
    return values


def evaluate_ranking(
    scores: ArrayLike, gold: ArrayLike, offsets: ArrayLike, ks: Sequence[int | str] = KS
) -> dict[str, tuple[float, float]]:
    """Straight from columns: id → (mean over queries with gold, mean over all queries).

    >>> import numpy as np
    >>> values = evaluate_ranking([0.9, 0.8, 0.1, 0.4, 0.3], [False, True, False, False, False], [0, 3, 5])
    >>> values["mrr"]
    (0.5, 0.25)
    """
    offsets = np.asarray(offsets, dtype=np.int64)
    query, rank = _ranks(np.asarray(scores), np.asarray(gold, dtype=bool), offsets)
    first = np.flatnonzero(np.diff(query, prepend=-1))
    some = query[first]
    values = _with_gold(rank, np.append(first, len(query)), offsets[some + 1] - offsets[some], ks)
    sums = {name: float(column.sum()) for name, column in values.items()}
    return {name: (total / max(len(some), 1), total / max(len(offsets) - 1, 1)) for name, total in sums.items()}


def trec_order(scores: NDArray[np.floating], uids: Sequence[str], offsets: IntArray) -> IntArray:
    """Rows of every query in trec_eval's order: falling score, equal scores by falling uid."""
    _, place = np.unique(np.asarray(uids), return_inverse=True)
    return segments.order(scores, offsets, ties=-place.reshape(-1))
