"""Choosing a calibrator: by documents left out, and what happens when there is little to choose from."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from probative.decide import Calibrator, Isotonic, Platt, sigmoid
from probative.errors import ConfigError, DataError, ModelError


def documents(n: int = 60, per: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n), per)
    z = rng.normal(0.0, 2.0, n * per)
    return z, (rng.random(n * per) < sigmoid(1.3 * z - 0.8)).astype(int), group


def test_the_blend_is_a_millionth_of_the_raw_probability() -> None:
    z, y, group = documents()
    fitted = Calibrator(["platt"]).fit(z, y, group)
    expected = (1 - 1e-6) * Platt().fit(z, y).predict(z) + 1e-6 * sigmoid(z)
    assert expected.tolist() == fitted.predict(z).tolist()


def test_the_losses_are_those_of_documents_dealt_by_sorted_id() -> None:
    """The protocol written out once more with plain loops."""
    z, y, group = documents(n=23)
    names = np.array([f"doc{g}" for g in group])
    ids = sorted(set(names))
    part = np.array([ids.index(name) % 5 for name in names])
    means = []
    for fold in range(5):
        train, test = part != fold, part == fold
        method = Isotonic().fit(z[train], y[train])
        n = int(train.sum())
        losses = []
        for zi, yi in zip(z[test], y[test], strict=True):
            p = (1 - 1e-6) * float(method.predict([zi])[0]) + 1e-6 * float(sigmoid(zi))
            p = min(max(p, 1 / (n + 2)), 1 - 1 / (n + 2))
            losses.append(-math.log(p if yi else 1 - p))
        means.append(sum(losses) / len(losses))
    assert sum(means) / 5 == pytest.approx(Calibrator().fit(z, y, names).cv_log_loss_["isotonic"], rel=1e-12)


def test_the_lowest_loss_wins() -> None:
    fitted = Calibrator().fit(*documents())
    losses = {kind: loss for kind, loss in fitted.cv_log_loss_.items() if loss is not None}
    assert len(losses) == 3
    assert min(losses, key=losses.__getitem__) == fitted.kind_


def test_a_logistic_truth_prefers_a_logistic_curve_and_a_staircase_prefers_isotonic() -> None:
    z, y, group = documents(n=200)
    assert Calibrator().fit(z, y, group).kind_ == "platt"
    stairs = np.random.default_rng(1).random(z.size) < np.where(np.abs(z) < 1, 0.5, np.where(z < 0, 0.02, 0.6))
    assert Calibrator().fit(z, stairs, group).kind_ == "isotonic"


def test_the_order_of_rows_does_not_matter() -> None:
    z, y, group = documents()
    shuffled = np.random.default_rng(3).permutation(z.size)
    straight, mixed = Calibrator().fit(z, y, group), Calibrator().fit(z[shuffled], y[shuffled], group[shuffled])
    assert straight.kind_ == mixed.kind_
    np.testing.assert_allclose(straight.predict(z), mixed.predict(z), rtol=1e-9)


def test_neighbouring_scores_stay_apart_where_isotonic_is_flat() -> None:
    fitted = Calibrator(["isotonic"]).fit([-2, -1, 1, 2], [0, 1, 0, 1], ["a", "b", "c", "d"])
    p = fitted.predict([-1.0, -0.999, 0.0, 0.5, 1.0])
    assert (np.diff(p) > 0).all()


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_leaves_the_scores_as_they_are(label: int) -> None:
    fitted = Calibrator().fit([-1, 0, 2], [label] * 3, ["a", "b", "c"])
    np.testing.assert_allclose(fitted.predict([-1, 0, 2]), sigmoid([-1, 0, 2]), rtol=1e-15)
    assert "one class" in str(fitted.reason_)


def test_one_document_takes_the_plainest_method_and_says_so() -> None:
    fitted = Calibrator().fit([-1, 2, 1, -2], [0, 1, 0, 0], ["a"] * 4)
    assert (fitted.kind_, str(fitted.reason_)[:17]) == ("temperature", "one document only")
    assert fitted.cv_log_loss_ == {"isotonic": None, "platt": None, "temperature": None}


def test_separable_scores_leave_only_isotonic() -> None:
    z = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
    fitted = Calibrator().fit(z, z > 0, list("abcdef"))
    assert fitted.kind_ == "isotonic"
    assert fitted.cv_log_loss_["platt"] is None
    assert fitted.cv_log_loss_["temperature"] is None


def test_tied_scores_give_the_prevalence() -> None:
    fitted = Calibrator(["isotonic", "platt"]).fit([0.0] * 8, [1, 0, 0, 0] * 2, list("abcdefgh"))
    assert pytest.approx(fitted.predict([0.0])[0], abs=1e-6) == 0.25


def test_two_rows_of_two_documents_give_a_defined_answer() -> None:
    p = Calibrator().fit([1.0, 2.0], [0, 1], ["a", "b"]).predict([0.0, 1.5, 3.0])
    assert (np.diff(p) > 0).all()


def test_no_probability_reaches_one() -> None:
    fitted = Calibrator(["isotonic"]).fit([-1, 1, 2, 3], [0, 1, 1, 1], list("abcd"))
    assert fitted.predict([800.0])[0] < 1.0


def test_the_saved_form_survives_json_and_predicts_the_same() -> None:
    z, y, group = documents()
    for kinds in (["isotonic"], ["platt"], ["temperature"]):
        fitted = Calibrator(kinds).fit(z, y, group)  # type: ignore[arg-type]
        again = Calibrator.from_dict(json.loads(json.dumps(fitted.to_dict())))
        assert fitted.predict(z).tolist() == again.predict(z).tolist()
        assert fitted.to_dict() == again.to_dict()


def test_unknown_kinds_and_altered_forms_are_refused() -> None:
    with pytest.raises(ConfigError, match="beta is unknown"):
        Calibrator(["beta"]).fit([0, 1], [0, 1])  # type: ignore[list-item]
    with pytest.raises(ModelError, match="'beta' is unknown"):
        Calibrator.from_dict({"kind": "beta"})
    with pytest.raises(ModelError, match="'b' of kind 'platt' is missing"):
        Calibrator.from_dict({"kind": "platt", "a": 1.0, "delta": 1e-6})


def test_a_score_that_is_not_a_number_is_refused_when_predicting() -> None:
    with pytest.raises(DataError, match="logits: 1 of 1 values are not finite"):
        Calibrator().fit([-1, 1], [0, 1]).predict([np.nan])
