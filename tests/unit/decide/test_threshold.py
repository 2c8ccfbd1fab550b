"""The threshold at a budget of false alarms."""

from __future__ import annotations

import numpy as np
import pytest

from probative.decide import OperatingPoint, choose_threshold


@pytest.mark.parametrize(
    ("budget", "raw", "tpr", "fpr"),
    [
        # scores .9+ .8− .7+ .6− .5+ .4− .3− .2−: three positives, five negatives
        (0.0, 0.9, 1 / 3, 0.0),
        (0.1, 0.9, 1 / 3, 0.0),
        (0.2, 0.7, 2 / 3, 0.2),
        (0.4, 0.5, 1.0, 0.4),
        (1.0, 0.5, 1.0, 0.4),
    ],
)
def test_the_largest_tpr_within_the_budget_by_hand(budget: float, raw: float, tpr: float, fpr: float) -> None:
    point = choose_threshold([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2], [1, 0, 1, 0, 1, 0, 0, 0], budget)
    assert (raw, tpr, fpr) == (point.raw, point.tpr, point.fpr)


def test_a_budget_that_is_met_exactly_is_kept() -> None:
    scores = np.arange(21)
    point = choose_threshold(scores, [0] * 18 + [1, 0, 1], 0.1)
    assert (point.raw, point.tpr) == (18.0, 1.0)


def test_no_score_that_qualifies_predicts_nothing() -> None:
    point = choose_threshold([0.9, 0.5, 0.1], [0, 1, 0], 0.05)
    assert (point.raw, point.value, point.tpr) == (None, None, 0.0)
    assert not point.predict([0.99]).any()


def test_no_positives_predict_nothing() -> None:
    assert choose_threshold([0.9, 0.5], [0, 0], 0.5).raw is None


def test_no_negatives_predict_everything() -> None:
    assert (
        choose_threshold([0.9, 0.5], [1, 1], 0.05).raw,
        choose_threshold([0.9, 0.5], [1, 1], 0.05).tpr,
    ) == (0.5, 1.0)


def test_equal_scores_stand_or_fall_together() -> None:
    assert choose_threshold([0.7, 0.7, 0.7], [1, 0, 1], 0.5).raw is None


def test_the_calibrated_threshold_belongs_to_the_same_row() -> None:
    point = choose_threshold([3.0, 2.0, 1.0], [1, 1, 0], 0.1, values=[0.8, 0.6, 0.1])
    assert (point.raw, point.value) == (2.0, 0.6)
    assert point.predict([0.8, 0.6, 0.1]).tolist() == [True, True, False]


def test_scores_that_calibration_cannot_tell_apart_share_a_cut() -> None:
    # At .7 the first two rows would pass together, one of them negative: the budget would be broken.
    assert choose_threshold([3.0, 2.0, 1.0], [1, 0, 0], 0.1, values=[0.7, 0.7, 0.1]).raw is None


def test_the_saved_form_is_the_same_point() -> None:
    point = choose_threshold([0.9, 0.5, 0.1], [1, 1, 0], 0.05)
    assert point == OperatingPoint.from_dict(point.to_dict())
