"""What an evaluation says, and what it says when there is little to say it about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from probative.errors import DataError
from probative.evaluation.engine import evaluate
from probative.evaluation.invariants import check_invariants
from probative.evaluation.predictions import Predictions, Selection
from probative.evaluation.records import MetricsMaster
from probative.evaluation.settings import EvaluateSettings

POINT = EvaluateSettings(bootstrap=0)
QUICK = EvaluateSettings(bootstrap=200)


def predictions(documents: int = 30, criteria: int = 4, seed: int = 0, **changes: Any) -> Predictions:
    """Every query has 6 candidates; gold stands at random ranks."""
    rng = np.random.default_rng(seed)
    n = documents * criteria
    positive = rng.random(n) < 0.4
    prob = np.round(np.clip(rng.normal(0.35 + 0.3 * positive, 0.2), 0, 1), 2)
    state = np.where(prob < 0.2, 0, np.where(prob < 0.6, 1, 2))
    size = np.where(state > 0, 2, 0)
    doc = np.repeat(np.arange(documents), criteria)
    given: dict[str, Any] = {
        "doc_ids": tuple(f"d{i:03d}" for i in range(documents)),
        "criterion_ids": tuple(f"c{i}" for i in range(criteria)),
        "doc": doc,
        "criterion": np.tile(np.arange(criteria), documents),
        "fold": doc % 3,
        "n_candidates": np.full(n, 6),
        "n_ranked": np.full(n, 6),
        "gold_offsets": np.concatenate([[0], np.cumsum(positive)]),
        "gold_rank": rng.integers(1, 7, int(positive.sum())),
        "positive": positive,
        "located": positive,
        "prob": prob,
        "prob_raw": prob * 0.9,
        "prior": np.full(n, 0.4),
        "predicted": prob >= 0.5,
        "state": state,
        "selections": {"triage": Selection(size=size, hits=np.minimum(size, 1) * positive)},
    }
    return Predictions(**{**given, **changes})


@pytest.fixture(scope="module")
def master() -> MetricsMaster:
    return evaluate(predictions(), QUICK)


def test_every_interval_holds_its_value_and_says_its_method(master: MetricsMaster) -> None:
    known = [record for record in master.metrics if record["ci_low"] is not None]
    assert len(known) > 1000
    assert {"percentile", "clopper_pearson_docs"} == {record["ci_method"] for record in known}
    assert all(record["ci_low"] <= record["ci_high"] for record in known)
    exact = [record for record in known if record["ci_method"] == "clopper_pearson_docs"]
    assert all(record["ci_low"] - 1e-9 <= record["value"] <= record["ci_high"] + 1e-9 for record in exact)


def test_thresholds_and_extremes_have_no_interval_and_undefined_values_neither(master: MetricsMaster) -> None:
    for record in master.metrics:
        if record["reason"] or record["id"].startswith(("k_min", "k_max", "curve_threshold")):
            assert record["ci_low"] is record["ci_high"] is record["ci_method"] is None


def test_every_other_value_has_one(master: MetricsMaster) -> None:
    free = ("k_min", "k_max", "curve_threshold")
    without = [r for r in master.metrics if r["ci_low"] is None and not r["reason"] and not r["id"].startswith(free)]
    assert [] == without


def test_without_resamples_intervals_are_null() -> None:
    assert all(record["ci_low"] is None for record in evaluate(predictions(), POINT).metrics)


def test_the_same_seed_gives_the_same_bytes_and_another_other_intervals(master: MetricsMaster) -> None:
    assert master.to_json() == evaluate(predictions(), QUICK).to_json()
    other = evaluate(predictions(), EvaluateSettings(bootstrap=200, seed=1))
    assert master.value("auroc") == other.value("auroc")
    assert master.get("auroc")["ci_low"] != other.get("auroc")["ci_low"]  # type: ignore[index]


def test_a_written_document_reads_back_as_it_was(master: MetricsMaster, tmp_path: Any) -> None:
    path = tmp_path / "metrics_master.json"
    path.write_text(master.to_json(), encoding="utf-8")
    assert master.to_dict() == MetricsMaster.read(path).to_dict()


def test_another_document_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "metrics_master.json"
    path.write_text('{"schema_version": 99}', encoding="utf-8")
    with pytest.raises(DataError, match="99"):
        MetricsMaster.read(path)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(DataError, match="probative evaluate"):
        MetricsMaster.read(path)


def test_permuting_the_documents_changes_nothing() -> None:
    plain = predictions()
    order = np.argsort(-plain.doc, kind="stable")
    gold = np.concatenate([np.arange(plain.gold_offsets[q], plain.gold_offsets[q + 1]) for q in order])
    per_query = ("criterion", "fold", "positive", "located", "prob", "prob_raw", "prior", "predicted", "state")
    turned = replace(
        plain,
        doc=29 - plain.doc[order],
        gold_offsets=np.concatenate([[0], np.cumsum(plain.positive[order])]),
        gold_rank=plain.gold_rank[gold.astype(int)],
        selections={m: Selection(size=s.size[order], hits=s.hits[order]) for m, s in plain.selections.items()},
        **{name: getattr(plain, name)[order] for name in per_query},
    )
    one, two = evaluate(plain, POINT), evaluate(turned, POINT)
    for a, b in zip(one.metrics, two.metrics, strict=True):
        assert a["id"] == b["id"]
        assert a["value"] == pytest.approx(b["value"], abs=1e-12)


def test_one_class_keeps_its_own_record_and_enters_no_mean() -> None:
    table = predictions()
    lone = table.criterion == 0
    positive = np.where(lone, False, table.positive)
    keep = np.repeat(~lone, np.diff(table.gold_offsets))
    master = evaluate(
        replace(
            table,
            positive=positive,
            located=positive,
            gold_offsets=np.concatenate([[0], np.cumsum(positive)]),
            gold_rank=table.gold_rank[keep],
            selections={},
        ),
        QUICK,
    )
    record = master.get("auroc", "criterion:c0")
    assert record is not None
    assert (0.5, "one class only: 0.5 by convention") == (record["value"], record["reason"])
    assert 0.0 == master.value("auprc", "criterion:c0")
    macro = master.get("auroc", "criterion_macro")
    assert macro is not None
    assert (3, 1) == (macro["averaged"], macro["left_out"])
    assert macro["value"] == pytest.approx(np.mean([master.value("auroc", f"criterion:c{i}") for i in (1, 2, 3)]))


def test_no_gold_at_all_has_a_defined_result() -> None:
    none = np.zeros(120, dtype=bool)
    master = evaluate(
        predictions(
            positive=none,
            located=none,
            gold_offsets=np.zeros(121, dtype=np.int64),
            gold_rank=np.zeros(0, dtype=np.int64),
            selections={},
        ),
        QUICK,
    )
    assert (0.0, "no query with a gold sentence") == tuple(master.get("ndcg@10")[key] for key in ("value", "reason"))  # type: ignore[index]
    assert (0.0, None) == tuple(
        master.get("ndcg@10", population="all_queries")[key]  # type: ignore[index]
        for key in ("value", "reason")
    )
    assert [] == master.meta["invariants"]


def test_one_query_has_a_defined_result() -> None:
    master = evaluate(predictions(documents=1, criteria=1, fold=None), QUICK)
    assert 1.0 == master.value("n_queries")
    assert [] == master.meta["invariants"]


def test_all_tied_scores_know_nothing() -> None:
    assert 0.5 == evaluate(predictions(prob=np.full(120, 0.3), predicted=np.zeros(120, bool)), POINT).value("auroc")


def test_unlocated_queries_are_in_detection_and_out_of_ranking_and_extraction() -> None:
    table = predictions()
    lost = int(np.flatnonzero(table.positive)[0])
    located = table.located.copy()
    located[lost] = False
    master = evaluate(
        replace(
            table,
            located=located,
            gold_offsets=np.concatenate([[0], np.cumsum(located)]),
            gold_rank=table.gold_rank[1:],
        ),
        POINT,
    )
    n = int(table.positive.sum())
    assert n == master.value("n_positive")
    assert (n - 1, n - 1, 119, 120) == tuple(
        master.get(name, population=population, mode=mode)["n"]  # type: ignore[index]
        for name, population, mode in (
            ("ndcg@10", "positives_only", None),
            ("evidence_recall", "positives_only", "triage"),
            ("k_mean", "all_queries", "triage"),
            ("deploy_recall", "all_queries", "triage"),
        )
    )
    assert 1 == master.meta["counts"]["n_unlocated"]


def test_what_is_absent_is_listed_with_the_missing_column() -> None:
    bare = predictions(prob=None, prob_raw=None, prior=None, predicted=None, state=None, selections={}, fold=None)
    master = evaluate(bare, POINT)
    missing = {entry["missing"] for entry in master.meta["not_computed"]}
    assert {"prob", "prob_raw", "prior", "pool_uids", "ranked_scores", "selected_triage", "fold"} <= missing
    assert master.get("auroc") is None
    assert master.get("ndcg@10") is not None
    assert {"n_queries", "mrr"} <= {record["id"] for record in master.metrics}


def test_the_prior_row_knows_the_rate_alone(master: MetricsMaster) -> None:
    assert 0.5 == master.value("auroc", stage="prior")
    assert 0.0 == master.value("brier_skill", stage="prior")
    assert master.get("ndcg@10", stage="prior") is None


def test_small_criteria_are_marked(master: MetricsMaster) -> None:
    assert all(record.get("small") for record in master.metrics if record["scope"].startswith("criterion:"))
    large = evaluate(predictions(documents=100), POINT)
    assert not any(record.get("small") for record in large.metrics)


def test_excluded_criteria_stay_in_the_headline_and_leave_the_second_set() -> None:
    master = evaluate(predictions(excluded=frozenset({"c3"})), POINT)
    assert (120.0, 90.0) == (master.value("n_queries"), master.value("n_queries", criteria="trained"))
    assert master.get("auroc", "criterion:c3") is not None
    averaged = [master.get("auroc", "criterion_macro", criteria=which) for which in ("all", "trained")]
    assert [4, 3] == [record["averaged"] for record in averaged if record]


def test_many_criteria_write_no_records_for_each() -> None:
    master = evaluate(predictions(), EvaluateSettings(bootstrap=0, criteria_limit=3))
    assert not any(record["scope"].startswith("criterion") for record in master.metrics)
    assert "criteria_limit" in master.meta["not_computed"][-1]["missing"]


def test_query_level_intervals_are_shorter_here_and_labelled() -> None:
    table = predictions(documents=80, seed=1)
    prob = np.round((np.repeat(np.random.default_rng(1).random(80), 4) + table.positive) / 2, 2)
    table = replace(table, prob=prob, predicted=prob >= 0.5)
    by_document = evaluate(table, QUICK).get("brier")
    master = evaluate(table, EvaluateSettings(bootstrap=200, resample="queries"))
    by_query = master.get("brier")
    assert by_document is not None
    assert by_query is not None
    assert "percentile_queries" == by_query["ci_method"]
    assert by_query["ci_high"] - by_query["ci_low"] < by_document["ci_high"] - by_document["ci_low"]
    assert "too short" in master.meta["bootstrap"]["note"]
    assert master.get("exact_match")["ci_low"] is None  # type: ignore[index]


def test_means_over_folds_carry_both_deviations(master: MetricsMaster) -> None:
    values = [master.value("auroc", f"fold:{i}") for i in range(3)]
    record = master.get("auroc", "fold_mean")
    assert record is not None
    assert np.std(values) == pytest.approx(record["std_pop"])
    assert np.std(values, ddof=1) == pytest.approx(record["std_sample"])


def test_a_gap_between_pooled_and_raw_auroc_is_flagged(master: MetricsMaster) -> None:
    assert ["Pooled auroc" in flag for flag in master.meta["flags"]] in ([], [True])
    shifted = predictions(documents=200)
    raw = np.where(shifted.fold == 0, shifted.prob / 10, shifted.prob)
    table = replace(shifted, prob=raw, prob_raw=raw, predicted=raw >= 0.5)
    assert "differ by more than 0.01" in evaluate(table, POINT).meta["flags"][0]


def test_stages_are_measured_beside_the_final_ranking() -> None:
    final = predictions()
    worse = replace(final, gold_rank=np.full(len(final.gold_rank), 6), prob=None, prob_raw=None, selections={})
    master = evaluate(final, POINT, stages={"retrieve": worse})
    assert master.value("mrr", stage="retrieve") == pytest.approx(1 / 6)
    assert master.value("mrr") > 1 / 6  # type: ignore[operator]


def test_a_stage_with_other_queries_is_refused() -> None:
    with pytest.raises(DataError, match="retrieve"):
        evaluate(predictions(), POINT, stages={"retrieve": predictions(documents=29)})


def test_series_hold_what_is_not_one_number(master: MetricsMaster) -> None:
    recall = master.curve("recall_by_k")
    assert recall is not None
    assert [1, 2, 3, 4, 5, 6] == [row[0] for row in recall["rows"]]
    assert recall["rows"][2][1] == pytest.approx(master.value("recall@3"))
    oracle = [row[6] for row in recall["rows"]]
    assert all(row[1] <= best + 1e-12 for row, best in zip(recall["rows"], oracle, strict=True))
    states = master.curve("state_by_evidence")
    assert states is not None
    assert 120 == sum(row[2] for row in states["rows"])
    errors = master.curve("errors")
    assert errors is not None
    found = dict(errors["rows"])
    assert found["misses"] == sum(r[2] for r in states["rows"] if r[:2] == ["NEG", "evidence"])
    assert found["alarms"] == sum(r[2] for r in states["rows"] if r[:2] == ["POS", "no_evidence"])
    assert 0 < found["needless"] < sum(r[2] for r in states["rows"] if r[0] == "UNCERTAIN")
    bins = master.curve("reliability", "criterion:c1")
    assert bins is not None
    assert 30 == sum(row[2] for row in bins["rows"])
    flow = master.curve("gold_flow")
    assert flow is not None
    assert ["annotated", len(predictions().gold_rank), 1.0] == flow["rows"][0]


def test_expected_ties_average_over_equal_scores() -> None:
    """Six candidates with one score, one of them gold: every rank is equally likely."""
    one = predictions(documents=1, criteria=1, fold=None, selections={})
    table = replace(
        one,
        positive=np.array([True]),
        located=np.array([True]),
        gold_offsets=np.array([0, 1]),
        gold_rank=np.array([6]),
        row_offsets=np.array([0, 6]),
        row_score=np.full(6, 0.5),
        row_gold=np.array([0, 0, 0, 0, 0, 1], dtype=bool),
    )
    assert 0.0 == evaluate(table, POINT).value("hit@3")
    expected = evaluate(table, EvaluateSettings(bootstrap=0, ties="expected"))
    assert 0.5 == pytest.approx(expected.value("hit@3"))
    assert expected.value("mrr") == pytest.approx(sum(1 / i for i in range(1, 7)) / 6)


def test_expected_ties_without_scores_are_refused() -> None:
    with pytest.raises(DataError, match="ranked_scores"):
        evaluate(predictions(), EvaluateSettings(bootstrap=0, ties="expected"))


def test_intervals_of_calibration_errors_are_marked_as_biased(master: MetricsMaster) -> None:
    for scope in ("pooled", "fold_mean", "criterion_macro"):
        for name in ("ece", "mce"):
            assert "biased upward" in master.get(name, scope)["note"]  # type: ignore[index]
    assert "note" not in master.get("brier")  # type: ignore[operator]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value": 1.5}, "outside"),
        ({"id": "ndgc@10"}, "no such id"),
        ({"id": "hit@1", "value": 0.9}, "must agree"),
        ({"id": "recall@20", "value": 0.1}, "above"),
        ({"id": "tp", "value": 3.0}, "n_queries"),
        ({"id": "sensitivity", "value": 0.123}, "but tp / (tp + fn)"),
        ({"id": "neg_rate", "value": 0.9}, "sum to"),
        ({"id": "n_queries", "scope": "fold:0", "value": 9.0}, "over folds"),
    ],
)
def test_a_broken_invariant_is_found(master: MetricsMaster, change: dict[str, Any], words: str) -> None:
    name, scope = change.get("id", "recall@3"), change.get("scope", "pooled")
    target = master.get("recall@3" if name == "ndgc@10" else name, scope)
    records = [{**record, **change} if record is target else record for record in master.metrics]
    assert any(words in problem for problem in check_invariants(replace(master, metrics=records)))


def test_a_value_in_two_places_is_found(master: MetricsMaster) -> None:
    twice = replace(master, metrics=[*master.metrics, {**master.metrics[0], "value": 1.0}])
    assert any("two places" in problem for problem in check_invariants(twice))


def test_the_line_of_almost_equal_probabilities_keeps_its_honest_interval() -> None:
    """Their log-odds differ in the fifth digit: sums that cancel would pretend to know the slope."""
    rng = np.random.default_rng(1)
    some = predictions(documents=200, criteria=1)
    prob = 0.02 + rng.random(some.n_queries) * 1e-5
    slope = next(
        record
        for record in evaluate(replace(some, prob=prob), EvaluateSettings(bootstrap=400)).metrics
        if record["id"] == "calibration_slope" and record["scope"] == "pooled"
    )
    spread = float(np.std(np.log(prob / (1 - prob))))
    share = float(some.positive.mean())
    error = 1 / (spread * np.sqrt(some.n_queries * share * (1 - share)))
    assert slope["ci_high"] - slope["ci_low"] == pytest.approx(2 * 1.96 * error, rel=0.25)
