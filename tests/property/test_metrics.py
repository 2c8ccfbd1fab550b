"""What must hold for every ranking and every gate."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from probative import metrics

KS = (1, 2, 3, 5, 10, "all")
RISING = ("recall", "hit", "mrr", "map_gold")
ranks = st.lists(st.integers(0, 12), min_size=1, max_size=6).map(
    lambda given_: [r if r == 0 or r not in given_[:i] else 0 for i, r in enumerate(given_)]
)
labelled = st.lists(st.tuples(st.booleans(), st.integers(0, 10)), min_size=1, max_size=40)


def measured(rank: list[int], n: int = 12) -> dict[str, float]:
    values = metrics.ranking(np.array(rank), np.array([0, len(rank)]), np.array([n]), KS)
    return {name: float(value[0]) for name, value in values.items()}


@given(ranks)
def test_recall_hit_mrr_and_map_gold_never_fall_as_k_grows(rank: list[int]) -> None:
    values = measured(rank)
    for family in RISING:
        row = [values[f"{family}@{k}"] for k in KS]
        assert row == sorted(row)


@given(ranks)
def test_every_ranking_metric_lies_between_0_and_1(rank: list[int]) -> None:
    assert all(0 <= value <= 1 + 1e-12 for value in measured(rank).values())


@given(ranks)
def test_the_order_of_the_gold_rows_changes_nothing(rank: list[int]) -> None:
    assert measured(rank) == measured(rank[::-1])


@given(ranks, st.integers(0, 5))
def test_more_candidates_behind_the_ranking_change_no_recall(rank: list[int], more: int) -> None:
    short, long = measured(rank), measured(rank, 12 + more)
    assert all(short[f"recall@{k}"] == long[f"recall@{k}"] for k in KS)


@given(ranks)
def test_at_1_hit_precision_and_ndcg_are_one_number(rank: list[int]) -> None:
    values = measured(rank)
    assert values["hit@1"] == values["precision@1"] == values["ndcg@1"]


@given(labelled)
def test_a_higher_threshold_never_raises_sensitivity(rows: list[tuple[bool, int]]) -> None:
    y, p = [r[0] for r in rows], [r[1] / 10 for r in rows]
    values = [metrics.NEGateMetrics.compute(y, p, threshold)["sensitivity"] for threshold in (0.2, 0.5, 0.8)]
    assert values == sorted(values, reverse=True)


@given(labelled)
def test_reversing_the_scores_mirrors_auroc(rows: list[tuple[bool, int]]) -> None:
    y, p = [r[0] for r in rows], np.array([r[1] for r in rows]) / 10
    assert abs(metrics.auroc(y, p) + metrics.auroc(y, 1 - p) - 1) < 1e-12


@given(labelled)
@settings(max_examples=50)
def test_a_larger_budget_never_lowers_tpr_and_is_kept(rows: list[tuple[bool, int]]) -> None:
    y, p = np.array([r[0] for r in rows]), np.array([r[1] / 10 for r in rows])
    found = [metrics.compute_threshold_at_fpr(p, y, alpha) for alpha in (0.01, 0.1, 0.5)]
    assert [f[1] for f in found] == sorted(f[1] for f in found)
    assert all(f[2] <= alpha for f, alpha in zip(found, (0.01, 0.1, 0.5), strict=True))
