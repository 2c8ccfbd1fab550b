"""Drift is told apart from what resampling explains."""

from __future__ import annotations

import numpy as np
import pytest

from probative.pipeline.drift import Profile, Share, compare, warning
from probative.types import State


def some(rng: np.random.Generator, documents: int, shift: float = 0.0) -> tuple[np.ndarray, list[State], np.ndarray]:
    doc = np.repeat(np.arange(documents), 10)
    gate = rng.normal(shift, 1.0, len(doc)) + rng.normal(0, 1.0, documents)[doc]
    states = [State.POS if g > 2 else State.UNCERTAIN if g > 0 else State.NEG for g in gate]
    return gate, states, doc


def test_the_rate_and_its_error_are_those_of_the_ratio_estimator() -> None:
    share = Share()
    share.add(np.array([1.0, 2.0, 0.0]), np.array([4.0, 4.0, 2.0]))
    assert share.rate == pytest.approx(0.3)
    residuals = np.array([1 - 0.3 * 4, 2 - 0.3 * 4, 0 - 0.3 * 2])
    expected = (residuals @ residuals) * 3 / 2 / 10**2
    assert share.variance == pytest.approx(max(expected, (1 / 4) ** 2))


def test_adding_in_pieces_is_adding_at_once() -> None:
    gate, states, doc = some(np.random.default_rng(1), 30)
    whole = Profile.of(gate, states, doc)
    pieces = whole.like()
    pieces.add(gate[:100], states[:100], doc[:100])
    pieces.add(gate[100:], states[100:], doc[100:])
    for name, share in whole.shares.items():
        assert share.to_dict() == pytest.approx(pieces.shares[name].to_dict())
    assert Profile.from_dict(whole.to_dict()).to_dict() == whole.to_dict()


def test_like_documents_raise_no_warning_and_others_do() -> None:
    rng = np.random.default_rng(7)
    tune = Profile.of(*some(rng, 200))
    alike, other = tune.like(), tune.like()
    alike.add(*some(rng, 200))
    other.add(*some(rng, 200, shift=1.0))
    assert warning(compare(tune, alike)) is None
    said = warning(compare(tune, other))
    assert said is not None
    assert "guarantee" in said


def test_false_alarms_are_rare() -> None:
    rng = np.random.default_rng(3)
    alarms = 0
    for _ in range(100):
        tune = Profile.of(*some(rng, 60))
        alike = tune.like()
        alike.add(*some(rng, 60))
        alarms += warning(compare(tune, alike)) is not None
    assert alarms <= 5
