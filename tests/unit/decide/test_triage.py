"""Three states and their two thresholds."""

from __future__ import annotations

import json

import numpy as np
import pytest

from probative.decide import Targets, Triage, assign_states, sigmoid, triage_by_grid, triage_by_guarantee, triage_table
from probative.errors import ConfigError, DataError

# Ten queries in falling order, their evidence, and what cutting at each would give:
SCORES = [0.95, 0.90, 0.85, 0.80, 0.70, 0.60, 0.50, 0.40, 0.30, 0.20]
LABELS = [1, 1, 0, 1, 0, 0, 1, 0, 0, 0]


def test_the_borders_belong_to_the_state_above() -> None:
    assert assign_states([0.1, 0.2, 0.5, 0.6, 1.0], 0.2, 0.6).tolist() == [0, 1, 1, 2, 2]


def test_equal_thresholds_leave_no_uncertain_queries() -> None:
    assert assign_states([0.1, 0.2], 0.2, 0.2).tolist() == [0, 2]


def test_thresholds_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(ConfigError, match="must not exceed"):
        assign_states([0.5], 0.6, 0.4)


def test_as_much_is_skipped_as_the_sensitivity_allows() -> None:
    assert triage_by_grid(SCORES, LABELS, Targets(screening_sensitivity=0.995)).tau_neg == 0.5
    assert triage_by_grid(SCORES, LABELS, Targets(screening_sensitivity=0.75)).tau_neg == 0.8


def test_as_much_evidence_is_alerted_to_as_the_precision_allows() -> None:
    assert triage_by_grid(SCORES, LABELS, Targets(alert_precision=0.9)).tau_pos == 0.9
    assert triage_by_grid(SCORES, LABELS, Targets(alert_precision=0.75)).tau_pos == 0.8


def test_the_alert_threshold_is_not_below_the_skip_threshold() -> None:
    found = triage_by_grid(SCORES, LABELS, Targets(screening_sensitivity=0.75, alert_precision=0.1))
    assert (found.tau_neg, found.tau_pos) == (0.8, 0.8)


def test_a_limit_on_false_alerts_binds() -> None:
    assert triage_by_grid(SCORES, LABELS, Targets(alert_precision=0.5)).tau_pos == 0.5
    assert triage_by_grid(SCORES, LABELS, Targets(alert_precision=0.5, alert_fpr=0.2)).tau_pos == 0.8


def test_targets_met_and_missed_are_named() -> None:
    found = triage_by_grid(SCORES, LABELS, Targets(alert_precision=0.9, alert_recall=0.9))
    assert found.met == {"screening_sensitivity": True, "alert_precision": True, "alert_recall": False}
    assert found.reasons == ("alert_recall cannot be reached on TUNE together with the other targets.",)
    assert found.tau_pos == 0.9


def test_a_precision_out_of_reach_gives_the_highest_there_is_and_says_so() -> None:
    found = triage_by_grid([0.9, 0.8, 0.7, 0.6], [0, 1, 1, 0], Targets(alert_precision=0.9))
    assert (found.tau_pos, found.met["alert_precision"]) == (0.7, False)
    assert found.reasons[0] == "alert_precision ≥ 0.9 cannot be reached on TUNE; taken is the highest, 0.667."


def test_without_positives_nothing_is_skipped_and_nothing_alerted_to() -> None:
    found = triage_by_grid([0.9, 0.1], [0, 0])
    assert found.assign([0.0, 0.5, 0.999]).tolist() == [1, 1, 1]
    assert "No query of TUNE has evidence" in found.reasons[0]
    assert (found.raw_tau_neg, found.raw_tau_pos) == (None, None)


def test_without_negatives_everything_is_kept() -> None:
    found = triage_by_grid([0.9, 0.1], [1, 1])
    assert found.assign([0.9, 0.1]).tolist() == [2, 2]


def test_tied_scores_share_a_state() -> None:
    found = triage_by_grid([0.3] * 6, [1, 0, 0, 0, 0, 0], Targets(alert_precision=0.9))
    assert len(set(found.assign([0.3] * 6).tolist())) == 1


def test_the_calibrated_thresholds_belong_to_the_raw_ones() -> None:
    z = np.array([3.0, 2.0, 1.0, -1.0, -2.0])
    found = triage_by_grid(z, [1, 1, 0, 1, 0], values=[0.9, 0.8, 0.5, 0.2, 0.1])
    assert (found.raw_tau_neg, found.tau_neg, found.raw_tau_pos, found.tau_pos) == (-1.0, 0.2, 2.0, 0.8)


def documents(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.tile([2.0, -2.0], n), np.tile([1, 0], n), np.repeat(np.arange(n), 2)


def test_the_guaranteed_thresholds_come_from_the_candidates() -> None:
    found = triage_by_guarantee(*documents(700), candidates=[-3, 0, 1.5, 2.5])
    assert (found.method, found.raw_tau_neg, found.tau_neg) == ("guaranteed", 1.5, sigmoid([1.5])[0])
    assert found.guarantee is not None
    assert found.guarantee.certified
    assert found.reached["screening_sensitivity"] == 1.0


def test_a_guarantee_out_of_reach_is_told_in_the_reasons() -> None:
    found = triage_by_guarantee(*documents(50))
    assert "548 are missing" in found.reasons[0]


def test_a_guarantee_without_positives_skips_nothing() -> None:
    found = triage_by_guarantee([1.0, 2.0], [0, 0], ["a", "b"])
    assert (found.raw_tau_neg, found.tau_neg, found.tau_pos) == (None, 0.0, 1.0)


def test_a_calibrator_maps_scores_and_candidates_alike() -> None:
    found = triage_by_guarantee(*documents(700), candidates=[0.0, 2.0, 3.0], calibrate=lambda z: sigmoid(z / 2))
    assert (found.raw_tau_neg, found.tau_neg) == (2.0, sigmoid([1.0])[0])
    assert found.tau_neg <= found.tau_pos


def test_scores_that_are_no_probabilities_need_values() -> None:
    with pytest.raises(DataError, match="must be probabilities"):
        triage_by_grid([2.0, -1.0], [1, 0])


def test_the_words_say_what_is_kept_and_what_is_alerted_to() -> None:
    words = triage_by_grid(SCORES, LABELS).words()
    assert (
        words[0] == "Below 0.5 a query is skipped: 30.0 % of TUNE's queries; 100.0 % of those with evidence are kept."
    )
    assert words[1] == "From 0.9 on a query is an alert: 20.0 % of TUNE's queries; 100.0 % of the alerts have evidence."


def test_the_saved_form_survives_json() -> None:
    for found in (triage_by_grid(SCORES, LABELS), triage_by_guarantee(*documents(50))):
        assert found == Triage.from_dict(json.loads(json.dumps(found.to_dict())))


def test_the_table_counts_what_each_pair_of_thresholds_would_show() -> None:
    ones = np.ones(10, dtype=np.int64)
    (row,) = triage_table(
        SCORES, LABELS, sizes_uncertain=2 * ones, sizes_pos=5 * ones, tau_negs=(0.5,), tau_poss=(0.9,)
    )
    # seven queries are kept, two of them alerts: 5 · 2 + 2 · 5 sentences
    assert (row["screening_sensitivity"], row["alert_precision"], row["sentences_shown"]) == (1.0, 1.0, 20.0)


def test_the_table_leaves_out_pairs_in_the_wrong_order_and_says_null_without_alerts() -> None:
    ones = np.ones(10, dtype=np.int64)
    rows = triage_table(SCORES, LABELS, sizes_uncertain=ones, sizes_pos=ones, tau_negs=(0.5,), tau_poss=(0.4, 0.99))
    assert [row["alert_precision"] for row in rows] == [None]
