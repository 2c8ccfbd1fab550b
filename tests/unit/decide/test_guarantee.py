"""The promise over documents."""

from __future__ import annotations

import numpy as np
import pytest

from probative.decide import Guarantee, certify, documents_needed, upper_bound
from probative.errors import ConfigError


def corpus(n: int, misses: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """n documents with one positive at 2 and one negative at −2; `misses` of them have their positive at −5."""
    scores = np.tile([2.0, -2.0], n)
    scores[: 2 * misses : 2] = -5.0
    return scores, np.tile([1, 0], n), np.repeat(np.arange(n), 2)


@pytest.mark.parametrize(
    ("target", "confidence", "n"),
    [(0.995, 0.95, 598), (0.99, 0.95, 299), (0.95, 0.95, 59), (0.9, 0.9, 22), (0.5, 0.5, 1)],
)
def test_documents_needed_without_a_miss(target: float, confidence: float, n: int) -> None:
    assert n == documents_needed(target, confidence)
    assert target**n <= 1 - confidence + 1e-12 < target ** (n - 1) + 1e-12


def test_scipy_gives_the_same_upper_bounds() -> None:
    from scipy.stats import binomtest

    for n, k in [(1, 0), (10, 0), (10, 3), (10, 10), (598, 0), (598, 5)]:
        expected = binomtest(k, n, alternative="less").proportion_ci(0.95, method="exact").high
        assert expected == pytest.approx(float(upper_bound(k, n, 0.95)), rel=1e-10)


def test_nothing_is_known_without_documents() -> None:
    assert float(upper_bound(0, 0)) == 1.0


def test_598_documents_certify_what_597_do_not() -> None:
    enough = certify(*corpus(598))
    assert (enough.certified, enough.certified_target, enough.raw, enough.documents_missing) == (True, 0.995, 2.0, 0)
    short = certify(*corpus(597))
    assert (short.certified, short.documents_missing) == (False, 1)
    assert pytest.approx(short.certified_target) == 0.05 ** (1 / 597)


def test_what_cannot_be_certified_is_spelt_out() -> None:
    reason = certify(*corpus(100)).reason
    assert "Not certifiable: 99.5 % of documents at 95 % confidence" in reason
    assert "it needs 598 TUNE documents with positives and no miss, there are 100: 498 are missing" in reason
    assert "The largest certifiable share is 97.05 %." in reason


def test_the_sequence_stops_at_the_first_failure() -> None:
    # Ten of 600 documents are lost from −5 on: too many for 99.5 %, so the last candidate before stands.
    found = certify(*corpus(600, misses=10))
    assert (found.certified, found.raw, found.n_missed) == (True, -5.0, 0)
    # 99 % would bear one miss, not ten; 97 % bears ten.
    assert certify(*corpus(600, misses=10), target=0.97).raw == 2.0


def test_with_too_few_documents_no_miss_is_allowed() -> None:
    assert certify(*corpus(100, misses=1)).raw == -5.0


def test_a_document_is_lost_when_any_of_its_positives_is() -> None:
    scores, labels, group = [5.0, 1.0, 4.0, 3.0], [1, 1, 1, 1], ["a", "a", "b", "b"]
    assert certify(scores, labels, group, target=0.2, candidates=[0, 1, 2, 3, 4, 5]).raw == 1.0


def test_documents_without_positives_prove_nothing() -> None:
    scores, labels, group = corpus(100)
    more = certify(
        np.append(scores, np.zeros(900)), np.append(labels, np.zeros(900)), np.append(group, np.arange(900) + 500)
    )
    assert more.n_documents == 100


def test_no_positives_at_all_promise_nothing() -> None:
    found = certify([1.0, 2.0], [0, 0], ["a", "b"])
    assert (found.certified, found.raw, found.certified_target, found.documents_missing) == (False, None, None, 598)
    assert "Nothing is skipped." in found.reason


def test_a_first_candidate_that_already_fails_skips_nothing() -> None:
    found = certify(*corpus(700), candidates=[3.0])
    assert (None, "even the first candidate" in found.reason) == (found.raw, True)


def test_the_candidates_are_tried_from_the_least_negative_whatever_their_order() -> None:
    data = corpus(600)
    assert certify(*data, candidates=[3, -1, 1, 0]) == certify(*data, candidates=[-1, 0, 1, 3])


def test_impossible_promises_are_refused() -> None:
    with pytest.raises(ConfigError, match="between 0 and 1"):
        certify(*corpus(3), target=1.0)
    with pytest.raises(ConfigError, match="candidate"):
        certify(*corpus(3), candidates=[])


def test_the_saved_form_is_the_same_promise() -> None:
    found = certify(*corpus(100))
    assert found == Guarantee.from_dict(found.to_dict())


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_the_promise_is_broken_in_at_most_7_percent_of_500_draws(correlation: float) -> None:
    rng = np.random.default_rng(11)

    def world(n: int) -> np.ndarray:
        """(n, 5) scores of positives whose fate is partly their document's."""
        shared, own = rng.normal(size=(n, 1)), rng.normal(size=(n, 5))
        return np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own

    truth = np.sort(world(200_000).min(axis=1))
    group = np.repeat(np.arange(150), 5)
    broken = 0
    for _ in range(500):
        found = certify(world(150).ravel(), np.ones(750), group, target=0.9)
        assert found.raw is not None
        broken += np.searchsorted(truth, found.raw) / truth.size > 0.1
    assert 0 < broken <= 35


@pytest.mark.parametrize("seed", range(4))
def test_mapie_finds_the_same_threshold_given_one_row_a_document(seed: int) -> None:
    peer = pytest.importorskip("mapie.risk_control")
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(800), 4)
    positive = rng.random(3200) < 0.4
    p = 1 / (1 + np.exp(-rng.normal(1.5, 1.0, 3200) - rng.normal(0, 1, 800)[group]))
    tried = np.round(np.arange(0.001, 1, 0.004), 3)
    lowest = np.array([p[(group == d) & positive].min() for d in np.unique(group[positive])])
    controller = peer.BinaryClassificationController(
        lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]]),
        "recall",
        0.9,
        confidence_level=0.95,
        list_predict_params=tried,
        fwer_method="fixed_sequence",
    ).calibrate(lowest[:, None], np.ones(lowest.size))
    ours = certify(p, positive, group, target=0.9, candidates=tried)
    assert ours.certified
    assert controller.valid_predict_params.max() == pytest.approx(ours.raw)
