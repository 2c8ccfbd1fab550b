"""Ranking metrics by hand. The queries are small enough to check on paper."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from probative import metrics

RANKED = ["a", "b", "c", "d", "e"]
GOLD = {"b", "d", "x"}
"""b at rank 2, d at rank 4, x is not in the ranking."""


@pytest.mark.parametrize(
    ("function", "k", "value"),
    [
        (metrics.recall_at_k, 1, 0.0),
        (metrics.recall_at_k, 3, 1 / 3),
        (metrics.recall_at_k, 10, 2 / 3),
        (metrics.precision_at_k, 3, 1 / 3),
        (metrics.precision_at_k, 10, 2 / 10),
        (metrics.mrr_at_k, 1, 0.0),
        (metrics.mrr_at_k, 3, 1 / 2),
        (metrics.map_at_k, 2, (1 / 2) / 2),
        (metrics.map_at_k, 5, (1 / 2 + 2 / 4) / 3),
        (metrics.average_precision_at_k, 2, (1 / 2) / 3),
        (metrics.ndcg_at_k, 3, (1 / math.log2(3)) / (1 + 1 / math.log2(3) + 1 / 2)),
        (metrics.ndcg_at_k, 1, 0.0),
    ],
)
def test_one_query_by_hand(function: object, k: int, value: float) -> None:
    assert value == pytest.approx(function(GOLD, RANKED, k))  # type: ignore[operator]


@pytest.mark.parametrize(
    "function",
    [
        metrics.recall_at_k,
        metrics.precision_at_k,
        metrics.mrr_at_k,
        metrics.map_at_k,
        metrics.ndcg_at_k,
        metrics.average_precision_at_k,
    ],
)
def test_empty_gold_and_empty_rankings_score_0(function: object) -> None:
    assert 0.0 == function(set(), RANKED, 3)  # type: ignore[operator]
    assert 0.0 == function(GOLD, [], 3)  # type: ignore[operator]


def test_the_three_readings_of_map_differ_as_their_documents_do() -> None:
    """Two of three golds within K = 5, at ranks 2 and 4: sums of precision are 1."""
    offsets, n = np.array([0, 3]), np.array([5])
    values = metrics.ranking(np.array([2, 4, 0]), offsets, n, (2, 5))
    assert [1 / 3, 1 / 2, 1 / 3] == pytest.approx([values[f"{name}@5"][0] for name in ("map", "map_found", "map_gold")])
    assert [1 / 4, 1 / 2, 1 / 6] == pytest.approx([values[f"{name}@2"][0] for name in ("map", "map_found", "map_gold")])


def test_a_short_document_is_not_held_to_k_by_keff() -> None:
    values = metrics.ranking(np.array([1, 2]), np.array([0, 2]), np.array([2]), (10, "all"))
    assert 0.2 == values["precision@10"][0]
    assert 1.0 == values["precision_keff@10"][0]
    assert 1.0 == values["precision@all"][0]


def test_gold_outside_the_ranking_stays_in_the_denominator() -> None:
    values = metrics.ranking(np.array([1, 0]), np.array([0, 2]), np.array([30]), ("all",))
    assert 0.5 == values["recall@all"][0]
    assert values["ndcg@all"][0] < 1.0


def test_pool_coverage_shows_what_recall_in_the_pool_hides() -> None:
    values = metrics.pool_recall(np.array([1, 4]), np.array([True, False]), np.array([0, 2]), np.array([5]), (3, "all"))
    assert 0.5 == values["pool_coverage"][0]
    assert 1.0 == values["recall_inpool@3"][0]
    assert 1.0 == values["recall_inpool@all"][0]


def test_equal_scores_keep_the_order_of_the_rows() -> None:
    offsets, rank = metrics.gold_ranks([0.5, 0.5, 0.5], [False, True, True], np.array([0, 3]))
    assert [2, 3] == rank.tolist()
    assert [0, 2] == offsets.tolist()


def test_both_protocols_stand_side_by_side() -> None:
    gold: dict[str, set[str]] = {"q1": {"b"}, "q2": set()}
    both = metrics.dual_evaluate(gold, {"q1": ["a", "b"], "q2": ["a"]}, ks=(3,))
    assert 0.5 == both["positives_only"]["mrr@3"]
    assert 0.25 == both["all_queries"]["mrr@3"]
    assert (1.0, 2.0) == (both["positives_only"]["n_queries"], both["all_queries"]["n_queries"])


def test_arrays_of_numbers_are_identifiers_too() -> None:
    gold = {"q1": np.array([1, 2]), "q2": np.array([], dtype=int)}
    ranked: dict[str, Any] = {"q1": np.array([3, 1, 2]), "q2": [3]}
    both = metrics.dual_evaluate(gold, ranked, ks=(3,))
    assert (0.5, 0.25) == (both["positives_only"]["mrr@3"], both["all_queries"]["mrr@3"])


def test_functions_of_004_take_the_names_that_it_gives() -> None:
    uids: dict[str, Any] = {"gold_sent_uids": {"b"}, "ranked_sent_uids": ["a", "b"]}
    assert 0.5 == metrics.mrr_single_query(**uids)
    assert 0.5 == metrics.average_precision_at_k(**uids, k=2)


def test_ndcg_from_labels_and_scores_equals_ndcg_from_lists() -> None:
    assert metrics.ndcg_at_k({"b"}, ["a", "b", "c"], 10) == pytest.approx(
        metrics.compute_ndcg_at_k([0, 1, 0], [0.9, 0.5, 0.1])
    )


def test_mrr_of_a_single_query() -> None:
    assert 0.5 == metrics.mrr_single_query(GOLD, RANKED)
    assert 0.0 == metrics.mrr_single_query({"x"}, RANKED)
    assert 0.0 == metrics.mrr_single_query({"x"}, [])


def test_k_eff_is_the_smaller_one() -> None:
    assert 5 == metrics.compute_k_eff(10, 5)
    assert 3 == metrics.compute_k_eff(3, 5)
