"""Platt's curve and the temperature: against scikit-learn, and where no finite answer exists."""

from __future__ import annotations

import math

import numpy as np
import pytest

from probative.decide import Platt, Temperature, UnfitError, sigmoid
from probative.errors import ModelError


def noisy(seed: int, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    z = rng.normal(1.0, 3.0, n)
    return z, (rng.random(n) < sigmoid(0.7 * z - 1.5)).astype(int)


def test_sigmoid_is_exact_at_the_ends_and_does_not_overflow() -> None:
    assert [0.0, math.exp(-40) / (1 + math.exp(-40)), 0.5, 1.0] == sigmoid([-1e308, -40, 0, 1e308]).tolist()


def test_two_scores_are_answered_by_their_frequencies() -> None:
    # At 0 one of four, at 1 three of four: σ(b) = 1/4 and σ(a + b) = 3/4, so b = −ln 3 and a = 2 ln 3.
    fitted = Platt().fit([0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 0, 1, 1, 1])
    assert (2 * math.log(3), -math.log(3)) == pytest.approx((fitted.a_, fitted.b_), abs=1e-10)


def test_one_score_size_is_answered_by_its_temperature() -> None:
    # |z| = 1 with three of four on the right side: σ(1 / T) = 3/4, so T = 1 / ln 3.
    assert 1 / math.log(3) == pytest.approx(Temperature().fit([1, 1, 1, -1], [1, 1, 0, 0]).t_, abs=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_scikit_learn_without_regularisation_gives_the_same_platt_curve(seed: int) -> None:
    peer = pytest.importorskip("sklearn.linear_model")
    z, y = noisy(seed)
    model = peer.LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(z[:, None], y)
    fitted = Platt().fit(z, y)
    assert (model.coef_[0, 0], model.intercept_[0]) == pytest.approx((fitted.a_, fitted.b_), rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_scikit_learn_without_an_intercept_gives_the_same_temperature(seed: int) -> None:
    peer = pytest.importorskip("sklearn.linear_model")
    z, y = noisy(seed)
    model = peer.LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cholesky", fit_intercept=False)
    assert 1 / model.fit(z[:, None], y).coef_[0, 0] == pytest.approx(Temperature().fit(z, y).t_, rel=1e-7)


def test_scores_far_from_zero_are_fitted_as_well() -> None:
    z, y = noisy(1)
    near, far = Platt().fit(z, y), Platt().fit(z * 1e-4 + 1e3, y)
    assert near.a_ * 1e4 == pytest.approx(far.a_, rel=1e-6)


@pytest.mark.parametrize(
    ("z", "y", "message"),
    [
        ([1, 2, 3], [1, 1, 1], "one class"),
        ([1, 2, 3, 4], [0, 0, 1, 1], "separate"),
        ([1, 2, 2, 4], [0, 0, 1, 1], "separate"),
        ([2, 2, 2], [0, 1, 1], "equal"),
        ([1, 2, 3, 4, 5], [1, 1, 0, 1, 0], "do not go with"),
    ],
)
def test_platt_says_why_it_has_no_answer(z: list[float], y: list[int], message: str) -> None:
    with pytest.raises(UnfitError, match=message):
        Platt().fit(z, y)


@pytest.mark.parametrize(
    ("z", "y", "message"),
    [
        ([1, 2], [0, 0], "one class"),
        ([-1, 2], [0, 1], "separates"),
        ([0, 0], [0, 1], "away"),
        ([-3, 2], [1, 0], "away"),
    ],
)
def test_the_temperature_says_why_it_has_no_answer(z: list[float], y: list[int], message: str) -> None:
    with pytest.raises(UnfitError, match=message):
        Temperature().fit(z, y)


def test_saved_forms_predict_the_same_and_altered_ones_are_refused() -> None:
    z, y = noisy(2)
    for fitted in (Platt().fit(z, y), Temperature().fit(z, y)):
        assert fitted.predict(z).tolist() == type(fitted).from_dict(fitted.to_dict()).predict(z).tolist()
    with pytest.raises(ModelError, match="Platt"):
        Platt.from_dict({"a": -1.0, "b": 0.0})
    with pytest.raises(ModelError, match="temperature"):
        Temperature.from_dict({"t": 0.0})
