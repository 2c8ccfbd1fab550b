"""The contract as data."""

from __future__ import annotations

import json

import pytest

from probative.errors import ConfigError
from probative.evaluation import contract
from probative.metrics import ENTRIES, lookup, suggest

CONTRACT = """
recall@K recall_inpool@K pool_coverage precision@K precision_keff@K hit@K mrr mrr@K map@K map_found@K map_gold@K ndcg@K
n_queries n_positive positive_rate auroc auroc_raw auprc auroc_candidates auprc_candidates auroc_within auprc_within
tpr@fpr=α curve_threshold@fpr=α tpr_transfer@fpr=α fpr_transfer@fpr=α
tp fp tn fn sensitivity specificity fpr precision npv f1 mcc balanced_accuracy
tp@p=0.5 fp@p=0.5 tn@p=0.5 fn@p=0.5 sensitivity@p=0.5 specificity@p=0.5 fpr@p=0.5 precision@p=0.5 npv@p=0.5 f1@p=0.5
mcc@p=0.5 balanced_accuracy@p=0.5
brier brier_skill ece ece_dropone mce ece_equalmass calibration_slope calibration_intercept
evidence_recall evidence_recall_all evidence_recall_micro evidence_recall_micro_passed evidence_precision
evidence_precision_all evidence_f1 k_mean k_median k_std k_min k_max k_p25 k_p75 k_p90 k_mean_passed
deploy_tp deploy_fp deploy_tn deploy_fn deploy_fpr deploy_fnr deploy_precision deploy_recall deploy_f1
neg_rate uncertain_rate pos_rate alerts_per_1000 screening_sensitivity screening_fn_per_1000
screening_fn_per_1000_positives alert_precision alert_recall aurc
exact_match hamming_score hamming_loss f1_macro f1_weighted f1_micro f1_macro_document f1_weighted_document
"""
BOLD = """
recall@K precision@K hit@K mrr map@K ndcg@K auroc auprc tpr@fpr=α tpr_transfer@fpr=α fpr_transfer@fpr=α brier ece
evidence_recall evidence_precision screening_sensitivity screening_fn_per_1000 alert_precision f1_macro f1_weighted
"""


def test_every_id_of_the_contract_has_one_entry_and_there_is_no_other() -> None:
    assert sorted(CONTRACT.split()) == sorted(entry.id for entry in ENTRIES)


def test_the_default_readings_are_those_in_bold() -> None:
    assert sorted(BOLD.split()) == sorted(entry.id for entry in ENTRIES if entry.default)


def test_every_entry_says_what_a_reader_needs() -> None:
    for entry in ENTRIES:
        assert all((entry.formula, entry.populations, entry.interpretation, entry.example, entry.inputs, entry.section))
        assert entry.interpretation.endswith(".")
        assert set(entry.sources) <= {"000", "001", "002", "003", "004", "–"}
        assert entry.sources


@pytest.mark.parametrize(
    ("id", "pattern"),
    [
        ("map@10", "map@K"),
        ("recall@all", "recall@K"),
        ("mrr", "mrr"),
        ("mrr@7", "mrr@K"),
        ("tpr@fpr=0.05", "tpr@fpr=α"),
        ("tpr_transfer@fpr=0.1", "tpr_transfer@fpr=α"),
        ("sensitivity@p=0.5", "sensitivity@p=0.5"),
    ],
)
def test_lookup_fills_in_cutoffs_and_budgets(id: str, pattern: str) -> None:  # noqa: A002
    assert lookup(pattern).formula == lookup(id).formula
    assert id == lookup(id).id


@pytest.mark.parametrize("id", ["map@0", "map@ten", "tpr@fpr=0.050", "tpr@fpr=2", "auroc@10", "ndgc@10", ""])
def test_unknown_ids_are_refused(id: str) -> None:  # noqa: A002
    with pytest.raises(ConfigError, match="metrics list"):
        lookup(id)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("ndgc@5", "ndcg@5"),
        ("AUROC", "auroc"),
        ("recal@10", "recall@10"),
        ("tpr@fpr=5%", "tpr@fpr=0.05"),
        ("screening_sensitivty", "screening_sensitivity"),
        ("zzzz", None),
    ],
)
def test_the_nearest_id_is_suggested(typed: str, meant: str | None) -> None:
    assert meant == suggest(typed)


def test_open_ends_of_ranges_are_printed_as_such_and_null_in_json() -> None:
    assert ["[0, 1]", "[0, ∞)"] == [lookup(name).range for name in ("recall@5", "tp")]
    assert ["(−∞, 1]", "(−∞, ∞)"] == [lookup(name).range for name in ("brier_skill", "calibration_slope")]
    assert json.loads(json.dumps(contract.as_json(), allow_nan=False))[0]["id"] == ENTRIES[0].id


def test_targets_and_reference_ranges_are_those_of_the_contract() -> None:
    targets = {entry.id: str(entry.target) for entry in ENTRIES if entry.target}
    assert {
        "auroc": "≥ 0.85",
        "auprc": "≥ 0.55",
        "ece": "< 0.05",
        "brier": "< 0.1",
        "evidence_recall": "≥ 0.7",
        "screening_sensitivity": "≥ 0.995",
        "screening_fn_per_1000": "≤ 5",
        "alert_precision": "≥ 0.9",
    } == targets
    assert ((0.70, 0.80), (0.85, 0.90)) == (lookup("ndcg@10").baseline, lookup("ndcg@10").good)
    assert (None, None) == (lookup("ndcg@3").baseline, lookup("tpr@fpr=0.1").good), "000 gives K = 10 and α = 0.05"
    assert not lookup("ece").target.met(0.05)
    assert lookup("screening_fn_per_1000").target.met(5.0)
