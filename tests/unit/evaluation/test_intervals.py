"""Weights, percentiles and the boundary."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from probative.evaluation import intervals
from probative.evaluation.resample import Draw
from probative.evaluation.totals import Events


def test_every_fold_is_drawn_as_often_as_it_has_documents() -> None:
    draw = Draw(np.array([0, 0, 0, 1, 1]), 100, 7)
    _, weights = next(draw.blocks())
    assert (weights[:3].sum(axis=0) == 3).all()
    assert (weights[3:].sum(axis=0) == 2).all()


def test_the_same_seed_draws_the_same_weights_and_another_does_not() -> None:
    stratum = np.zeros(50, dtype=np.int64)
    one, same, other = (Draw(stratum, 2048 + 10, seed).block(1) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert (50, 10) == one.shape


def test_weights_have_the_mean_and_variance_of_a_multinomial() -> None:
    weights = Draw(np.zeros(40, dtype=np.int64), 20_000, 0)
    every = np.concatenate([block for _, block in weights.blocks()], axis=1)
    np.testing.assert_allclose(every.mean(axis=1), 1.0, atol=0.04)
    np.testing.assert_allclose(every.var(axis=1), 1 - 1 / 40, atol=0.06)


def test_percentiles_are_those_of_numpy_and_undefined_resamples_are_dropped() -> None:
    values = np.random.default_rng(0).random((3, 1000)).astype(np.float32)
    values[1, ::2] = np.nan
    values[2] = np.nan
    expected = [np.quantile(row[np.isfinite(row)].astype(float), [0.025, 0.975]) for row in values[:2]]
    found = intervals.percentile(values, 0.95)
    np.testing.assert_allclose(np.stack([found.low, found.high], axis=1)[:2], expected, atol=1e-7)
    assert [0, 500, 1000] == found.dropped.tolist()
    assert np.isnan(found.low[2])


def test_clopper_pearson_agrees_with_scipy() -> None:
    for hits, n in ((0, 30), (30, 30), (3, 140), (137, 140)):
        peer = stats.binomtest(hits, n).proportion_ci(method="exact")
        low, high = intervals.clopper_pearson(np.array([hits / n]), np.array([float(n)]), 0.95)
        assert (peer.low, peer.high) == pytest.approx((low[0], high[0]), abs=1e-9)


def test_598_documents_without_a_miss_certify_995() -> None:
    low, _ = intervals.clopper_pearson(np.array([1.0]), np.array([598.0]), 0.90)
    assert low[0] >= 0.995


@pytest.mark.parametrize(("events", "near"), [(0, True), (5, True), (6, False), (94, False), (95, True), (100, True)])
def test_five_events_from_either_end_is_the_boundary(events: int, near: bool) -> None:
    assert near == intervals.at_boundary(Events(events=events, trials=100, units=50))


def test_trials_count_once_a_document() -> None:
    assert 50.0 == Events(events=1, trials=100, units=50).effective
