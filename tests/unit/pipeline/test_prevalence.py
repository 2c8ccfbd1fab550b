"""Decisions moved to another prevalence follow Bayes' rule."""

from __future__ import annotations

import pytest

from probative import ConfigError
from probative.decide import Decider
from probative.pipeline.prevalence import Prevalence, shifted


def test_the_odds_change_by_the_ratio_of_the_prior_odds() -> None:
    # Prior odds 1/4 → 1/99; odds 3 → 3 * (1/99) / (1/4) = 12/99; probability 12/111.
    assert 12 / 111 == pytest.approx(shifted(0.75, 0.2, 0.01))


@pytest.mark.parametrize("probability", [0.0, 0.3, 1.0])
def test_the_same_prevalence_changes_nothing(probability: float) -> None:
    assert probability == pytest.approx(shifted(probability, 0.2, 0.2))


def test_there_and_back_is_where_one_began() -> None:
    assert 0.4 == pytest.approx(shifted(shifted(0.4, 0.2, 0.7), 0.7, 0.2))


@pytest.mark.parametrize(("before", "after"), [(0.2, 0.0), (0.2, 1.0), (0.2, -1.0), (0.0, 0.5), (1.0, 0.5)])
def test_an_impossible_prevalence_is_refused(before: float, after: float) -> None:
    with pytest.raises(ConfigError, match="--prevalence"):
        Prevalence(before=before, after=after, decider=Decider())
