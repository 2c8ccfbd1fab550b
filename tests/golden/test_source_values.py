"""Values that the source documents print."""

from __future__ import annotations

import numpy as np
import pytest

from probative import metrics

Y = np.array([1, 1, 0, 0, 1])
P = np.array([0.9, 0.7, 0.4, 0.2, 0.8])


def test_the_checksum_of_000_section_8() -> None:
    assert 1.0 == metrics.auroc(Y, P)
    assert 1.0 == metrics.auprc(Y, P)


def test_one_class_follows_the_conventions_of_000_and_001() -> None:
    assert 0.5 == metrics.auroc([1, 1], [0.2, 0.7])
    assert 1.0 == metrics.auprc([1, 1], [0.2, 0.7])
    assert 0.0 == metrics.auprc([0, 0], [0.2, 0.7])


def test_the_threshold_is_the_highest_that_reaches_the_best_tpr() -> None:
    assert (0.7, 1.0, 0.0) == metrics.compute_threshold_at_fpr(P, Y, 0.05)


def test_no_threshold_qualifies_when_the_top_score_is_shared_with_a_negative() -> None:
    assert (None, 0.0, 0.0) == metrics.compute_threshold_at_fpr([0.9, 0.9, 0.1], [1, 0, 0], 0.05)


def test_ece_of_000_drops_certain_predictions_and_004_does_not() -> None:
    assert 0.1 == pytest.approx(metrics.compute_ece([1.0, 0.2], [0, 0]))
    assert 0.6 == pytest.approx(metrics.ece([0, 0], [1.0, 0.2]))


def test_states_follow_004_section_5() -> None:
    assert ["NEG", "UNCERTAIN", "UNCERTAIN", "POS"] == [
        metrics.assign_state(p, 0.1, 0.8) for p in (0.05, 0.1, 0.79, 0.8)
    ]


def test_evidence_at_selected_k_follows_004_section_4() -> None:
    assert 1 / 3 == metrics.evidence_recall_at_selected_k({"b", "d", "e"}, {"a", "b"})
    assert 1 / 2 == metrics.evidence_precision_at_selected_k({"b", "d", "e"}, {"a", "b"})
    assert 0.0 == metrics.evidence_precision_at_selected_k({"b"}, set())
    assert 0.0 == metrics.evidence_recall_at_selected_k(set(), {"b"})


def test_the_gate_reports_what_001_and_004_ask_for() -> None:
    values = metrics.NEGateMetrics.compute(Y, P)
    assert (3.0, 0.0, 2.0, 0.0) == tuple(values[cell] for cell in ("tp", "fp", "tn", "fn"))
    assert (1.0, 1.0, 1.0) == (values["auroc"], values["mcc"], values["tpr@fpr=0.05"])
    assert 0.7 == values["curve_threshold@fpr=0.05"]
    assert 0.068 == pytest.approx(values["brier"])


def test_the_original_printed_what_the_invariants_forbid() -> None:
    """003 prints nDCG@1 .6497 beside precision@1 .6605: on queries with gold they are one number."""
    values = metrics.ranking(np.array([1, 3, 2]), np.array([0, 1, 2, 3]), np.array([5, 5, 5]), (1,))
    assert values["ndcg@1"].tolist() == values["precision@1"].tolist() == values["hit@1"].tolist()
