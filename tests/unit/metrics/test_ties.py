"""Tie-averaged values are the mean over every order of the equal scores."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from probative import metrics
from probative.metrics import ties

CASES = [
    ([1.0, 1.0, 1.0, 1.0], [1, 0, 0, 0], 1, 4),
    ([0.9, 0.5, 0.5, 0.5, 0.1], [0, 1, 1, 0, 1], 3, 5),
    ([0.9, 0.9, 0.5, 0.5, 0.5], [1, 0, 1, 0, 1], 4, 7),
    ([0.3, 0.2, 0.1], [0, 0, 1], 1, 3),
    ([0.3, 0.3], [0, 0], 2, 4),
]


@pytest.mark.parametrize(("score", "gold", "gold_size", "n"), CASES)
def test_expected_is_the_mean_over_all_orders(score: list[float], gold: list[int], gold_size: int, n: int) -> None:
    scores, marks = np.array(score), np.array(gold, dtype=bool)
    ks = (1, 2, 3, 10, "all")
    orders = [o for o in permutations(range(len(score))) if all(np.diff(scores[list(o)]) <= 0)]
    each: dict[str, list[float]] = {}
    for order in orders:
        found = np.flatnonzero(marks[list(order)]) + 1
        rank = np.append(found, np.zeros(gold_size - len(found), dtype=np.int64))
        values = metrics.ranking(rank, np.array([0, gold_size]), np.array([n]), ks)
        for name, value in values.items():
            each.setdefault(name, []).append(float(value[0]))
    offsets, one = np.array([0, len(score)]), np.array([0])
    ours = ties.expected(scores, marks, offsets, one, np.array([gold_size]), np.array([n]), ks)
    for name, values_of in each.items():
        assert np.mean(values_of) == pytest.approx(ours[name][0], abs=1e-12), name


@pytest.mark.parametrize(("score", "gold", "gold_size", "n"), CASES)
def test_gold_in_the_pool_counts_by_its_chance_to_be_shown(
    score: list[float], gold: list[int], gold_size: int, n: int
) -> None:
    scores, marks = np.array(score), np.array(gold, dtype=bool)
    ks = (1, 2, 3, 10, "all")
    pooled = np.arange(gold_size) % 2 == 0
    listed = np.append(np.flatnonzero(marks) + 1, np.zeros(gold_size - marks.sum(), dtype=np.int64))
    gold_offsets = np.array([0, gold_size])
    each: dict[str, list[float]] = {}
    for order in permutations(range(len(score))):
        if all(np.diff(scores[list(order)]) <= 0):
            rank = np.array([order.index(place - 1) + 1 if place else 0 for place in listed])
            for name, value in metrics.pool_recall(rank, pooled, gold_offsets, np.array([n]), ks).items():
                each.setdefault(name, []).append(float(value[0]))
    del each["pool_coverage"]
    # A query in front shows that rows are looked up in the right one.
    row_offsets, behind = np.array([0, 2, 2 + len(score)]), np.array([1])
    rows = np.append([0.5, 0.5], scores)
    ours = ties.pool_recall(rows, row_offsets, behind, listed, pooled, gold_offsets, np.array([n]), ks)
    assert sorted(each) == sorted(ours)
    for name, values_of in each.items():
        assert np.mean(values_of) == pytest.approx(ours[name][0], abs=1e-12), name
