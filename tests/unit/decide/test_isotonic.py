"""Isotonic calibration: by hand, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

from probative.decide import Isotonic
from probative.errors import ModelError


def test_neighbours_that_fall_are_pooled_to_their_mean() -> None:
    # 0 | 1 0 | 1: the middle two fall, their mean is 1/2.
    fitted = Isotonic().fit([1, 2, 3, 4], [0, 1, 0, 1])
    assert fitted.predict([1, 2, 3, 4]).tolist() == [0.0, 0.5, 0.5, 1.0]
    assert fitted.predict([0, 1.5, 2.5, 3.5, 9]).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_equal_scores_are_pooled_before_anything_else() -> None:
    assert Isotonic().fit([2, 2, 2], [0, 0, 1]).predict([-5, 5]).tolist() == [1 / 3, 1 / 3]


def test_scores_in_the_wrong_order_give_the_prevalence_everywhere() -> None:
    assert Isotonic().fit([1, 2, 3, 4], [1, 1, 0, 0]).predict([0, 9]).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_gives_its_own_label(label: int) -> None:
    assert [float(label)] == Isotonic().fit([1, 2, 3], [label] * 3).predict([2]).tolist()


@pytest.mark.parametrize("seed", range(8))
def test_scikit_learn_gives_the_same_curve(seed: int) -> None:
    peer = pytest.importorskip("sklearn.isotonic")
    rng = np.random.default_rng(seed)
    z = rng.normal(size=400).round(1 if seed % 2 else 6)
    y = (rng.random(400) < 1 / (1 + np.exp(-z))).astype(int)
    x = np.linspace(-4, 4, 301)
    expected = peer.IsotonicRegression(out_of_bounds="clip").fit(z, y).predict(x)
    np.testing.assert_allclose(Isotonic().fit(z, y).predict(x), expected, atol=1e-12)


def test_the_saved_form_predicts_the_same() -> None:
    fitted = Isotonic().fit([1, 2, 3, 4], [0, 1, 0, 1])
    x = np.linspace(0, 5, 21)
    assert fitted.predict(x).tolist() == Isotonic.from_dict(fitted.to_dict()).predict(x).tolist()


@pytest.mark.parametrize("params", [{"x": [], "y": []}, {"x": [2, 1], "y": [0, 1]}, {"x": [1, 2], "y": [1, 0]}])
def test_an_altered_saved_form_is_refused(params: dict[str, list[float]]) -> None:
    with pytest.raises(ModelError, match="isotonic"):
        Isotonic.from_dict(params)
