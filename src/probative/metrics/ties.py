"""Ranking metrics averaged over every order of equal scores."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from probative import segments
from probative.metrics.ranking import FAMILIES, KS, discount, divide
from probative.segments import BoolArray, FloatArray, IntArray


def expected(
    score: FloatArray,
    gold: BoolArray,
    offsets: IntArray,
    queries: IntArray,
    gold_size: IntArray,
    n: IntArray,
    ks: Sequence[int | str] = KS,
) -> dict[str, FloatArray]:
    """Contract §2 with tie-averaged values for the chosen queries: id → (L,).

    `score` and `gold` are the ranked rows, cut by `offsets`; `gold_size` and `n` say how much gold and how many
    candidates the chosen queries have, ranked or not.
    """
    names = ["mrr", *(f"{family}@{k}" for family in FAMILIES for k in ks)]
    values = {name: np.zeros(len(queries)) for name in names}
    for place, query in enumerate(queries):
        rows = slice(int(offsets[query]), int(offsets[query + 1]))
        ranked = Ranked(score[rows], gold[rows], int(gold_size[place]))
        values["mrr"][place] = ranked.reciprocal(rows.stop - rows.start)
        for k in ks:
            cut = int(n[place]) if k == "all" else int(k)
            for family, value in ranked.at(cut, int(n[place])).items():
                values[f"{family}@{k}"][place] = value
    return values


def pool_recall(
    score: FloatArray,
    offsets: IntArray,
    queries: IntArray,
    rank: IntArray,
    in_pool: BoolArray,
    gold_offsets: IntArray,
    n: IntArray,
    ks: Sequence[int | str] = KS,
) -> dict[str, FloatArray]:
    """Tie-averaged recall_inpool@K for the chosen queries: a gold row counts by its chance to be among the first K.

    `score` are the ranked rows, cut by `offsets`; `rank` and `in_pool` the gold rows of the chosen queries, cut by
    `gold_offsets`.
    """
    start, size = _groups(score, offsets)
    owner = segments.owner(gold_offsets)
    ranked = np.flatnonzero(in_pool & (rank > 0))
    row = offsets[queries[owner[ranked]]] + rank[ranked] - 1
    pooled = segments.total(in_pool, gold_offsets)
    values = {}
    for k in ks:
        cut = n[owner[ranked]] if k == "all" else int(k)
        chance = np.zeros(len(rank))
        chance[ranked] = np.clip(cut - start[row], 0, size[row]) / size[row]
        values[f"recall_inpool@{k}"] = divide(segments.total(chance, gold_offsets), pooled)
    return values


def _groups(score: FloatArray, offsets: IntArray) -> tuple[IntArray, IntArray]:
    """For every row how many of its query score higher, and how many score the same."""
    order = segments.order(score, offsets)
    ranked, query = score[order], segments.owner(offsets)
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = (ranked[1:] != ranked[:-1]) | (query[1:] != query[:-1])
    begins = np.flatnonzero(first)
    sizes = np.diff(np.append(begins, len(order)))
    start, size = np.empty(len(order), dtype=np.int64), np.empty(len(order), dtype=np.int64)
    start[order] = np.repeat(begins - offsets[query[begins]], sizes)
    size[order] = np.repeat(sizes, sizes)
    return start, size


class Ranked:
    """One query's ranking as groups of equal scores."""

    def __init__(self, score: FloatArray, gold: BoolArray, gold_size: int) -> None:
        order = np.argsort(-score, kind="stable")
        ranked = score[order]
        starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1])) if len(ranked) else np.zeros(0, np.int64)
        self.start = [int(start) for start in starts]
        self.size = [int(size) for size in np.diff(np.append(starts, len(ranked)))]
        self.gold = [int(g) for g in np.add.reduceat(gold[order].astype(np.int64), starts)] if len(ranked) else []
        self.total = gold_size

    def at(self, cut: int, n: int) -> dict[str, float]:
        """Every family at one cutoff; 0 where a denominator is 0."""
        hits, gain, summed = self._sums(cut)
        best = min(self.total, cut)
        ideal = float(discount(best).sum())
        return {
            "recall": _over(hits, self.total),
            "precision": _over(hits, cut),
            "precision_keff": _over(hits, min(cut, n)),
            "hit": self._hit(cut),
            "mrr": self.reciprocal(cut),
            "map": _over(summed, best),
            "map_found": self._found(cut),
            "map_gold": _over(summed, self.total),
            "ndcg": _over(gain, ideal),
        }

    def _groups(self, cut: int) -> list[tuple[int, int, int, int, int]]:
        """(start, size, gold, gold before, places inside the cutoff) of every group that reaches into it."""
        before, groups = 0, []
        for start, size, gold in zip(self.start, self.size, self.gold, strict=True):
            if start >= cut:
                break
            groups.append((start, size, gold, before, min(size, cut - start)))
            before += gold
        return groups

    def _sums(self, cut: int) -> tuple[float, float, float]:
        """Expected hits, DCG and sum of precisions at gold."""
        hits = gain = summed = 0.0
        for start, size, gold, before, inside in self._groups(cut):
            share = gold / size
            place = np.arange(start + 1, start + inside + 1)
            hits += share * inside
            gain += share * float((1 / np.log2(place + 1)).sum())
            summed += share * float(((before + 1 + _others(inside, gold, size)) / place).sum())
        return hits, gain, summed

    def _hit(self, cut: int) -> float:
        groups = self._groups(cut)
        if any(gold and inside == size for _, size, gold, _, inside in groups):
            return 1.0
        if not groups or not groups[-1][2]:
            return 0.0
        _, size, gold, _, inside = groups[-1]
        return 1.0 - comb(size - gold, inside) / comb(size, inside)

    def reciprocal(self, cut: int) -> float:
        """Expected 1 / rank of the first gold within the cutoff."""
        for start, size, gold, _, inside in self._groups(cut):
            if gold:
                chances = [comb(size - place, gold - 1) for place in range(1, min(inside, size - gold + 1) + 1)]
                return sum(ways / (start + place) for place, ways in enumerate(chances, 1)) / comb(size, gold)
        return 0.0

    def _found(self, cut: int) -> float:
        """Expected map_found: the group that the cutoff splits may hold any number of its gold inside."""
        groups = self._groups(cut)
        if not groups:
            return 0.0
        *before_it, (start, size, gold, before, inside) = groups
        whole = sum(_precisions(start, before, size, gold) for start, size, gold, before, _ in before_it)
        value = 0.0
        for held in range(max(0, gold - (size - inside)), min(gold, inside) + 1):
            if before + held == 0:
                continue
            chance = comb(gold, held) * comb(size - gold, inside - held) / comb(size, inside)
            value += chance * (whole + _precisions(start, before, inside, held)) / (before + held)
        return value


def _precisions(start: int, before: int, size: int, gold: int) -> float:
    """Expected sum of precisions at gold over a whole group."""
    place = np.arange(start + 1, start + size + 1)
    return gold / size * float(((before + 1 + _others(size, gold, size)) / place).sum())


def _others(inside: int, gold: int, size: int) -> FloatArray:
    """Expected gold among the earlier places of a group, given that this place is gold."""
    return np.arange(inside) * (gold - 1) / max(size - 1, 1)


def _over(a: float, b: float) -> float:
    return a / b if b else 0.0
