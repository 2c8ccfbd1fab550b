"""Comparisons: the swap test against enumeration, Holm, wins and losses, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

from probative.errors import ConfigError, DataError
from probative.evaluation import comparison_table
from probative.evaluation.api import compare
from probative.evaluation.compare import names
from probative.evaluation.swap import holm
from probative.metrics import detection


def table(ranks: list[int], probs: list[float] | None = None, positives: int | None = None) -> pl.DataFrame:
    """One query a document, ten candidates, gold at the given rank; later ones without gold."""
    kept = len(ranks) if positives is None else positives
    rows = []
    for i, rank in enumerate(ranks):
        uids = [f"s{j}" for j in range(2, 11)]
        uids.insert(rank - 1, "gold")
        row = {"doc_id": f"d{i}", "criterion_id": "A", "ranked_uids": uids, "gold_uids": ["gold"] if i < kept else []}
        rows.append({**row, **({} if probs is None else {"prob": probs[i]})})
    return pl.DataFrame(rows, schema_overrides={"gold_uids": pl.List(pl.String)})


def test_differences_marks_wins_and_losses_by_hand() -> None:
    found = compare(table([2, 2, 2, 4]), table([1, 1, 2, 5]), metrics=["mrr"], bootstrap=500)
    row = found.rows[0]
    assert row.base_value == pytest.approx((0.5 + 0.5 + 0.5 + 0.25) / 4)
    assert row.difference == pytest.approx((0.5 + 0.5 + 0.0 - 0.05) / 4)
    assert (2, 1, 1) == row.record
    assert row.ci_low is not None
    assert row.ci_low < row.difference < (row.ci_high or 0)


def test_the_sign_flip_of_a_mean_is_that_of_enumeration() -> None:
    base, other = [2, 2, 2, 4, 5, 9], [1, 1, 2, 5, 4, 2]
    gaps = np.array([1 / b - 1 / a for a, b in zip(base, other, strict=True)])
    flips = np.array(list(itertools.product([1, -1], repeat=6)))
    exact = float((np.abs(flips @ gaps) >= abs(gaps.sum()) - 1e-12).mean())
    found = compare(table(base), table(other), metrics=["mrr"], bootstrap=20_000).rows[0].p
    assert found == pytest.approx(exact, abs=0.015)


def test_the_swap_of_auroc_is_that_of_enumeration() -> None:
    y = [1, 1, 1, 0, 0, 0, 0]
    a = np.array([0.9, 0.4, 0.35, 0.5, 0.3, 0.2, 0.45])
    b = np.array([0.8, 0.7, 0.6, 0.3, 0.65, 0.1, 0.2])
    gaps = []
    for kept in itertools.product([True, False], repeat=7):
        side = np.array(kept)
        gaps.append(detection.auroc(y, np.where(side, b, a)) - detection.auroc(y, np.where(side, a, b)))
    exact = float((np.abs(gaps) >= abs(gaps[0]) - 1e-12).mean())
    ranks = [1] * 7
    found = compare(table(ranks, list(a), 3), table(ranks, list(b), 3), metrics=["auroc"], bootstrap=20_000).rows[0]
    assert found.difference == pytest.approx(detection.auroc(y, b) - detection.auroc(y, a))
    assert found.p == pytest.approx(exact, abs=0.015)


def test_a_system_against_itself_differs_in_nothing() -> None:
    row = compare(table([1, 3, 2]), table([1, 3, 2]), metrics=["ndcg@10"], bootstrap=300).rows[0]
    assert row.difference == 0
    assert row.p == 1
    assert (0, 3, 0) == row.record
    assert row.effect is None


def test_p_is_never_zero() -> None:
    found = compare(table([9] * 40), table([1] * 40), metrics=["mrr"], bootstrap=99)
    assert found.rows[0].p == pytest.approx(1 / 100)


def test_the_paired_interval_is_that_of_the_same_resamples() -> None:
    base, other = [2, 2, 2, 4, 5, 9], [1, 1, 2, 5, 4, 2]
    both = compare(table(base), table(other), metrics=["mrr"], bootstrap=4000).rows[0]
    gaps = np.array([1 / b - 1 / a for a, b in zip(base, other, strict=True)])
    drawn = np.random.default_rng(1).integers(0, 6, size=(4000, 6))
    low, high = np.quantile(gaps[drawn].mean(axis=1), [0.025, 0.975])
    assert both.ci_low == pytest.approx(low, abs=0.03)
    assert both.ci_high == pytest.approx(high, abs=0.03)


def test_holm_by_hand() -> None:
    np.testing.assert_allclose([0.03, 0.06, 0.06, np.nan], holm(np.array([0.01, 0.04, 0.03, np.nan])))


def test_several_systems_share_one_holm() -> None:
    found = compare(table([4] * 12), table([1] * 12), table([1] * 12), metrics=["mrr"], bootstrap=999)
    assert len(found.rows) == 2
    assert all(row.p_holm == pytest.approx(2 * (row.p or 0)) for row in found.rows)


def test_other_queries_are_refused_and_named() -> None:
    with pytest.raises(DataError, match=r"different queries: 1 only in predictions \(1\) \(d2 / A\)"):
        compare(table([1, 2, 3]), table([1, 2]), metrics=["mrr"])


def test_other_gold_is_refused_and_named() -> None:
    with pytest.raises(DataError, match=r"different gold for 1 queries \(d1 / A\)"):
        compare(table([1, 2]), table([1, 2], positives=1), metrics=["mrr"])


def test_other_gold_sentences_of_the_same_number_are_refused() -> None:
    moved = table([1, 2]).with_columns(gold_uids=pl.Series([["gold"], ["s2"]]))
    with pytest.raises(DataError, match=r"different gold for 1 queries \(d1 / A\)"):
        compare(table([1, 2]), moved, metrics=["mrr"])


def test_the_order_of_gold_does_not_matter() -> None:
    both = [table([1, 2]).with_columns(gold_uids=pl.Series([gold, gold])) for gold in (["gold", "s2"], ["s2", "gold"])]
    assert compare(*both, metrics=["mrr"], bootstrap=0).rows[0].difference == 0


def test_queries_that_one_system_does_not_score_are_refused_and_named() -> None:
    scores = {("d1", "A"): {"s1": 0.9}, ("d2", "A"): {"s1": 0.9}}
    gold = {("d1", "A"): ["s1"], ("d2", "A"): ["s1"]}
    fewer = {("d1", "A"): {"s1": 0.9}}
    with pytest.raises(DataError, match=r"scores \(2\) has no candidates for 1 .* \(d2 / A\)"):
        compare(scores, fewer, gold=gold, metrics=["mrr"])


def test_expected_ties_without_scores_are_refused() -> None:
    with pytest.raises(DataError, match="ranked_scores"):
        compare(table([1]), table([2]), metrics=["mrr"], ties="expected")


def test_resampled_queries_are_called_queries() -> None:
    found = compare(table([1, 2]), table([2, 2]), metrics=["mrr"], bootstrap=10, resample="queries")
    assert "deviations of a query's share in it. w / t / l: queries on which" in comparison_table.note(found)
    assert "predictions of a query" in found.to_dict()["meta"]["test"]


def test_one_table_of_probabilities_a_system_is_needed() -> None:
    with pytest.raises(ConfigError, match="2 systems need 2 tables of probabilities"):
        compare(table([1]), table([1]), probs=[table([1])])


def test_an_unknown_metric_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="Did you mean ndcg@10"):
        compare(table([1]), table([1]), metrics=["ndgc@10"])


def test_a_population_may_be_chosen_and_an_impossible_one_is_refused() -> None:
    found = compare(table([1, 2], positives=1), table([2, 2], positives=1), metrics=["mrr:all_queries"], bootstrap=0)
    assert found.rows[0].difference == pytest.approx(-0.25)
    assert found.rows[0].p is None
    with pytest.raises(ConfigError, match="mrr is there for"):
        compare(table([1]), table([1]), metrics=["mrr:documents"])


def test_a_metric_without_its_column_is_told() -> None:
    found = compare(table([1, 2]), table([1, 1]), metrics=["mrr", "auroc"], bootstrap=10)
    assert ("auroc",) == tuple(found.not_computed)
    assert "auroc: needs prob" in comparison_table.render(found, 100).plain


def test_tables_carry_the_marks() -> None:
    found = compare(table([4] * 12), table([1] * 12), metrics=["mrr"], names=["old", "new_one"], bootstrap=999)
    assert "*" in comparison_table.render(found, 100).plain
    grid = comparison_table.grid(found)
    assert r"new\_one & 1.0000**" in grid.latex()
    assert "| new_one | 1.0000\\*\\* |" in grid.markdown()


def test_the_json_of_a_comparison_names_everything() -> None:
    found = compare(table([4] * 3), table([1] * 3), metrics=["mrr"], names=["old", "new"], bootstrap=99).to_dict()
    assert found["meta"]["systems"] == ["old", "new"]
    row = found["comparisons"][0]
    assert ("mrr", "positives_only", "old", "new") == tuple(row[k] for k in ("id", "population", "base", "other"))
    assert (3, 0, 0) == (row["wins"], row["ties"], row["losses"])


def test_names_are_short_where_they_can_be() -> None:
    assert ["base", "mine"] == names(["runs/base.csv", "runs/mine.csv"])
    assert ["a/q.csv", "b/q.csv"] == names(["a/q.csv", "b/q.csv"])


def test_a_metric_that_depends_on_the_number_of_queries_gets_no_p() -> None:
    """Twelve positives of a criterion are too few for auroc_within; two systems stacked would have twenty-four."""
    ranks, probs = [1] * 24, list(np.linspace(0.9, 0.1, 24))
    one = table(ranks, probs, 12)
    other = one.with_columns(prob=pl.Series(probs[::-1]))
    assert [None] == [row.p for row in compare(one, other, metrics=["auroc_within"], bootstrap=50).rows]
