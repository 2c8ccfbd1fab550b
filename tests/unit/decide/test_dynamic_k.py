"""How many sentences are shown."""

from __future__ import annotations

import numpy as np
import pytest

from probative import segments
from probative.decide import Limits, Policy, choose_k, equal_mean, head_rows, select
from probative.errors import ConfigError

FREE = Limits(k_min=0, hard_cap=100, k_max_ratio=1.0)


@pytest.mark.parametrize(
    ("n", "low", "high"),
    [(0, 0, 0), (1, 1, 1), (2, 2, 2), (3, 2, 2), (5, 2, 2), (7, 2, 3), (20, 2, 10), (60, 2, 10)],
)
def test_the_default_limits_by_hand(n: int, low: int, high: int) -> None:
    assert (low, high) == tuple(int(side[0]) for side in Limits().bounds([n]))


def test_ceil_rounds_the_share_up() -> None:
    assert Limits(rounding="ceil").bounds([7])[1][0] == 4


@pytest.mark.parametrize(
    ("n", "ratio", "k_max"), [(100, 0.29, 29), (10, 0.7, 7), (5, 0.6, 3), (30, 0.1, 3), (100, 0.07, 7)]
)
def test_a_share_that_is_whole_is_not_lost_or_gained_to_rounding(n: int, ratio: float, k_max: int) -> None:
    for rounding in ("floor", "ceil"):
        limits = Limits(k_min=0, hard_cap=1000, k_max_ratio=ratio, rounding=rounding)  # type: ignore[arg-type]
        assert k_max == limits.bounds([n])[1][0]


def test_k_min_wins_over_k_max_and_nothing_exceeds_n() -> None:
    low, high = Limits(k_min=5, hard_cap=3, k_max_ratio=0.1).bounds([100, 4])
    assert (low.tolist(), high.tolist()) == ([5, 4], [5, 4])


@pytest.mark.parametrize(("gamma", "k"), [(0.0, 1), (0.5, 1), (0.51, 2), (0.8, 2), (0.9, 3), (1.0, 4)])
def test_mass_takes_the_fewest_that_hold_the_share(gamma: float, k: int) -> None:
    assert k == choose_k([0.5, 0.3, 0.1, 0.1, 0.0], Policy(gamma=gamma, limits=FREE))


def test_mass_counts_the_pool_only() -> None:
    prob = np.array([0.4, 0.4, 0.8])
    order, offsets = np.arange(3), np.array([0, 3])
    policy = Policy(gamma=1.0, limits=FREE)
    assert select(order, prob, None, offsets, policy).tolist() == [3]
    assert select(order, prob, np.array([True, True, False]), offsets, policy).tolist() == [2]


def test_mass_goes_by_the_ranking_not_by_the_probability() -> None:
    policy = Policy(gamma=0.6, limits=FREE)
    prob, offsets = np.array([0.1, 0.2, 0.7]), np.array([0, 3])
    assert select(np.array([0, 1, 2]), prob, None, offsets, policy).tolist() == [3]
    assert select(np.array([2, 1, 0]), prob, None, offsets, policy).tolist() == [1]


def test_a_share_of_everything_is_not_missed_by_rounding() -> None:
    # Added one by one, ten tenths stay below their sum in pairs.
    assert choose_k([0.1] * 10 + [0.0] * 5, Policy(gamma=1.0, limits=FREE)) == 10


def test_without_any_probability_the_limits_decide() -> None:
    assert choose_k([0.0] * 8, Policy(limits=FREE)) == 0
    assert choose_k([0.0] * 8) == 2
    assert choose_k([0.0] * 8, Policy(kind="threshold")) == 2


@pytest.mark.parametrize(("tau", "k"), [(0.0, 5), (0.5, 2), (0.6, 2), (0.95, 0)])
def test_threshold_takes_as_many_as_pass(tau: float, k: int) -> None:
    assert k == choose_k([0.9, 0.6, 0.3, 0.2, 0.1], Policy(kind="threshold", tau=tau, limits=FREE))


def test_threshold_counts_the_pool_only() -> None:
    policy = Policy(kind="threshold", tau=0.0, limits=FREE)
    rows = np.arange(3), np.array([0.9, 0.8, 0.7]), np.array([True, False, True]), np.array([0, 3])
    assert select(*rows, policy).tolist() == [2]


def test_gap_cuts_at_the_deepest_drop_between_the_limits() -> None:
    prob = [0.9, 0.5, 0.45, 0.44, 0.1, 0.05, 0.04, 0.03]
    assert choose_k(prob, Policy(kind="gap", limits=FREE)) == 1
    assert choose_k(prob, Policy(kind="gap")) == 4


def test_gap_takes_the_first_of_equal_drops() -> None:
    assert choose_k([0.8, 0.8, 0.5, 0.2, 0.2, 0.2], Policy(kind="gap")) == 2


def test_fixed_is_limited_too() -> None:
    assert (choose_k([0.5] * 6, Policy(kind="fixed", k=5)), choose_k([0.5] * 6, Policy(kind="fixed", k=0))) == (3, 2)


def test_limits_count_all_candidates_even_of_a_ranking_that_was_cut_off() -> None:
    prob = [0.5, 0.4, 0.3, 0.2]
    assert (choose_k(prob), choose_k(prob, n_candidates=40)) == (2, 4)


def test_no_more_is_shown_than_the_ranking_lists() -> None:
    assert choose_k([0.5, 0.4], Policy(kind="fixed", k=5), n_candidates=40) == 2


def test_a_query_is_answered_alike_alone_and_in_company() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 40, 200)
    offsets = segments.from_lengths(sizes)
    prob, pool = rng.random(offsets[-1]), rng.random(offsets[-1]) < 0.6
    order = segments.order(rng.random(offsets[-1]), offsets)
    for kind in ("mass", "threshold", "gap", "fixed"):
        policy = Policy(kind=kind, gamma=0.8)  # type: ignore[arg-type]
        together = select(order, prob, pool, offsets, policy)
        for q in range(200):
            rows = slice(offsets[q], offsets[q + 1])
            alone = select(order[rows] - offsets[q], prob[rows], pool[rows], np.array([0, sizes[q]]), policy)
            assert [together[q]] == alone.tolist()


def test_no_queries_and_empty_documents_are_fine() -> None:
    none = np.array([], dtype=np.int64)
    assert select(none, np.array([]), None, np.array([0]), Policy()).tolist() == []
    assert select(none, np.array([]), None, np.array([0, 0, 0]), Policy(kind="gap")).tolist() == [0, 0]


def test_the_rows_shown_are_the_heads_of_the_rankings() -> None:
    chosen = head_rows(np.array([2, 0, 1, 4, 3]), np.array([2, 1]), np.array([0, 3, 5]))
    assert chosen.tolist() == [True, False, True, False, True]


def test_equal_mean_shows_exactly_as_many_sentences() -> None:
    assert equal_mean(np.array([7, 0, 0]), np.array([9, 9, 9])).tolist() == [2, 2, 3]
    # Short documents cannot take their share: the others show more, the total stays.
    assert equal_mean(np.array([1, 3, 4]), np.array([1, 9, 9])).tolist() == [1, 3, 4]


def test_equal_mean_spreads_the_remainder_evenly() -> None:
    assert equal_mean(np.full(8, 1) + (np.arange(8) < 4), np.full(8, 9)).tolist() == [1, 2, 1, 2, 1, 2, 1, 2]


def test_equal_mean_refuses_more_sentences_than_there_are() -> None:
    with pytest.raises(ConfigError, match="5 sentences are shown, but the queries have only 3"):
        equal_mean(np.array([5]), np.array([3]))


@pytest.mark.parametrize("wrong", [{"kind": "best"}, {"gamma": 1.1}, {"tau": -0.1}, {"k": -1}])
def test_impossible_policies_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="policy"):
        Policy(**wrong)  # type: ignore[arg-type]


def test_impossible_limits_are_refused() -> None:
    with pytest.raises(ConfigError, match="limits"):
        Limits(k_max_ratio=1.5)


def test_the_saved_form_is_the_same_policy() -> None:
    policy = Policy(kind="gap", limits=Limits(k_min=3))
    assert policy == Policy.from_dict(policy.to_dict())
