"""All decisions together: learned on TUNE, applied, saved and read back."""

from __future__ import annotations

import json

import numpy as np
import pytest

from probative import segments
from probative.decide import Decider, DecideSettings, sigmoid
from probative.errors import ConfigError, DataError, ModelError

TUNE = 150


def tune(seed: int = 0, n: int = TUNE) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    group = np.array([f"doc{i:04d}" for i in np.repeat(np.arange(n), 8)])
    labels = rng.random(group.size) < 0.2
    return rng.normal(np.where(labels, 2.5, -2.0), 1.5), labels, group


def rows(n_queries: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    offsets = segments.from_lengths(rng.integers(1, 30, n_queries))
    scores = rng.random(offsets[-1])
    return segments.order(scores, offsets), sigmoid(rng.normal(-1, 2, offsets[-1])), scores > 0.2, offsets


def test_decisions_follow_from_the_columns_that_are_written() -> None:
    decider = Decider().fit(*tune())
    logits = np.random.default_rng(5).normal(0, 3, 400)
    found = decider.decide(logits, *rows(400))
    assert found.threshold is not None
    assert (found.prob >= found.threshold).tolist() == found.predicted.tolist()
    expected = np.where(found.prob < found.tau_neg, 0, np.where(found.prob < found.tau_pos, 1, 2))
    assert expected.tolist() == found.state.tolist()
    assert sigmoid(logits).tolist() == found.prob_raw.tolist()
    assert list(found.budget_thresholds) == ["0.01", "0.03", "0.05", "0.1"]


def test_the_budgets_are_kept_on_tune_by_the_calibrated_thresholds() -> None:
    logits, labels, group = tune()
    decider = Decider().fit(logits, labels, group)
    p = decider.calibrator_.predict(logits)
    for name, point in decider.thresholds_.items():
        passed = point.predict(p)
        assert passed.tolist() == (logits >= point.raw).tolist()
        assert passed[~labels].mean() == point.fpr <= float(name)


def test_nothing_is_shown_where_the_gate_or_the_state_says_no() -> None:
    found = Decider().fit(*tune()).decide(np.linspace(-6, 6, 300), *rows(300))
    assert {0} == set(found.size["gate"][~found.predicted].tolist())
    assert {0} == set(found.size["triage"][found.state == 0].tolist())
    assert (found.size["raw"] > 0).all()
    assert (found.size["triage"][found.state > 0] > 0).all()
    assert found.size["raw"][found.predicted].tolist() == found.size["gate"][found.predicted].tolist()


@pytest.mark.parametrize(("state", "low", "cap", "ratio"), [(1, 5, 12, 0.7), (2, 3, 12, 0.6)])
def test_each_state_has_its_own_limits(state: int, low: int, cap: int, ratio: float) -> None:
    order, prob, pool, offsets = rows(500)
    found = Decider().fit(*tune()).decide(np.linspace(-4, 4, 500), order, prob, pool, offsets)
    chosen = found.state == state
    n, size = np.diff(offsets)[chosen], found.size["triage"][chosen]
    assert chosen.sum() > 20
    assert (size >= np.minimum(low, n)).all()
    assert (size <= np.minimum(n, np.maximum(low, np.minimum(cap, np.floor(n * ratio + 1e-9))))).all()


def test_the_rows_shown_are_as_many_as_the_sizes_say() -> None:
    order, prob, pool, offsets = rows(50)
    found = Decider().fit(*tune()).decide(np.linspace(-4, 4, 50), order, prob, pool, offsets)
    for mode in ("raw", "gate", "triage"):
        assert found.size[mode].tolist() == segments.total(found.selected(mode), offsets).astype(int).tolist()


def test_the_manifest_entry_survives_json_and_decides_the_same() -> None:
    settings = DecideSettings.model_validate(
        {"fpr_budget": 0.03, "triage": {"method": "guaranteed", "screening_sensitivity": 0.9, "confidence": 0.9},
         "policy": {"kind": "gap", "states": {"pos": {"k_min": 4}}}}
    )  # fmt: skip
    decider = Decider(settings).fit(*tune())
    entry = json.loads(json.dumps(decider.to_dict(), allow_nan=False))
    assert list(entry) == ["calibrator", "thresholds", "operating", "triage", "policy"]
    assert entry["triage"]["guarantee"]["confidence"] == 0.9
    again = Decider.from_dict(entry)
    logits, columns = np.linspace(-4, 4, 80), rows(80)
    before, after = decider.decide(logits, *columns), again.decide(logits, *columns)
    assert decider.to_dict() == again.to_dict()
    assert before.prob.tolist() == after.prob.tolist()
    assert before.state.tolist() == after.state.tolist()
    assert before.size["triage"].tolist() == after.size["triage"].tolist()


def test_an_altered_entry_is_refused() -> None:
    entry = Decider().fit(*tune()).to_dict()
    del entry["operating"]
    with pytest.raises(ModelError, match="operating"):
        Decider.from_dict(entry)


def test_a_guarantee_from_cross_fitted_scores_is_refused() -> None:
    settings = DecideSettings.model_validate({"triage": {"method": "guaranteed"}})
    with pytest.raises(ConfigError, match="holdout"):
        Decider(settings).fit(*tune(), out_of_fold=True)
    Decider().fit(*tune(), out_of_fold=True)


def test_the_guarantee_does_not_depend_on_the_calibrator() -> None:
    data = tune(n=700)
    found = [
        Decider(DecideSettings.model_validate({"triage": {"method": "guaranteed"}, "calibration": [kind]})).fit(*data)
        for kind in ("isotonic", "platt", "temperature")
    ]
    assert len({decider.triage_.raw_tau_neg for decider in found}) == 1
    logits = np.linspace(-6, 6, 500)
    states = [(decider.triage_.assign(decider.calibrator_.predict(logits)) == 0).tolist() for decider in found]
    assert states[0] == states[1] == states[2]


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_in_tune_gives_defined_decisions(label: int) -> None:
    decider = Decider().fit([-1.0, 0.0, 2.0], [label] * 3, ["a", "b", "c"])
    found = decider.decide([-3.0, 3.0], *rows(2))
    assert [bool(label)] * 2 == [bool(found.predicted[1]), bool(found.state[1] == 2)]
    json.dumps(decider.to_dict(), allow_nan=False)


def test_tied_scores_and_one_document_give_defined_decisions() -> None:
    for groups in (["a"] * 6, list("abcdef")):
        decider = Decider().fit([0.3] * 6, [1, 0, 0, 1, 0, 0], groups)
        assert decider.operating_.value is None
        assert decider.decide([0.3], *rows(1)).size["gate"][0] == 0


def test_a_logit_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(DataError, match="scores: 1 of 2 values are not finite"):
        Decider().fit([np.nan, 1.0], [0, 1], ["a", "b"])
    with pytest.raises(DataError, match="gate_logits: 1 of 1"):
        Decider().fit(*tune()).decide([np.nan], *rows(1))


def test_the_rows_of_tune_may_come_in_any_order() -> None:
    logits, labels, group = tune()
    mixed = np.random.default_rng(9).permutation(logits.size)
    straight, other = Decider().fit(logits, labels, group), Decider().fit(logits[mixed], labels[mixed], group[mixed])
    assert straight.operating_.raw == other.operating_.raw
    assert straight.triage_.raw_tau_neg == other.triage_.raw_tau_neg
