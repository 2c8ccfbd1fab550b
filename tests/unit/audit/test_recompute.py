"""The second implementation against numbers worked out by hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from probative.audit import calibrators, detection, extraction, ranking, reliability
from probative.audit.exact import bounds
from probative.audit.frame import Frame
from probative.audit.queries import Query, read_query
from probative.audit.recompute import Key, Recomputation
from probative.audit.states import upper_bound


def query(ranked: list[str], gold: list[str], **more: object) -> Query:
    given = {"doc_id": "d", "criterion_id": "c", "ranked_uids": ranked, "gold_uids": gold, **more}
    return read_query(given, 1)


SEEN = ranking.look(query(["a", "b", "c", "d", "e"], ["b", "d", "x"]))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("recall@3", 1 / 3),
        ("recall@all", 2 / 3),
        ("precision@3", 1 / 3),
        ("precision@10", 0.2),
        ("precision_keff@10", 0.4),
        ("precision@all", 0.4),
        ("hit@1", 0.0),
        ("hit@3", 1.0),
        ("mrr", 0.5),
        ("mrr@1", 0.0),
        ("map@3", (1 / 2) / 3),
        ("map@5", (1 / 2 + 2 / 4) / 3),
        ("map_found@5", (1 / 2 + 2 / 4) / 2),
        ("map_gold@3", (1 / 2) / 3),
        ("ndcg@3", 0.6309297535714574 / (1 + 0.6309297535714574 + 0.5)),
        ("ndcg@1", 0.0),
    ],
)
def test_ranking_values_follow_from_the_definitions(metric: str, expected: float) -> None:
    function = ranking.measure(metric)
    assert function is not None
    assert expected == pytest.approx(function(SEEN), abs=1e-15)


def test_gold_outside_the_pool_counts_in_recall_but_not_in_recall_inpool() -> None:
    seen = ranking.look(query(["a", "b", "c"], ["a", "c"], pool_uids=["a", "b"]))
    assert (0.5, 1.0, 0.5) == (ranking.recall(seen, 2), ranking.recall_inpool(seen, 2), seen.pool_gold / seen.gold)


def test_an_unknown_id_has_no_function() -> None:
    assert ranking.measure("recall@") is None
    assert ranking.measure("rekall@3") is None


def test_auroc_counts_ties_half() -> None:
    found = detection.steps([0.9, 0.5, 0.5, 0.1], [True, True, False, False])
    assert 0.875 == detection.auroc(found)


def test_average_precision_treats_tied_scores_as_one_step() -> None:
    found = detection.steps([0.9, 0.5, 0.5, 0.1], [False, True, False, True])
    assert pytest.approx((1 / 3 + 2 / 4) / 2) == detection.average_precision(found)


def test_tpr_at_a_budget_takes_the_higher_of_two_equal_thresholds() -> None:
    found = detection.steps([0.9, 0.8, 0.4, 0.2], [True, False, False, True])
    assert (0.9, 0.5) == detection.at_budget(found, 0.5)
    assert (None, 0.0) == detection.at_budget(detection.steps([0.9, 0.1], [False, True]), 0.5)


def test_a_probability_of_one_stays_in_the_last_bin_and_only_there() -> None:
    assert 0.0 == pytest.approx(detection.ece([1.0, 1.0], [True, True]))
    assert 0.0 == detection.ece_dropone([1.0, 1.0], [False, False])
    assert 1.0 == detection.ece([1.0, 1.0], [False, False])


def test_bin_edges_are_the_doubles_of_linspace() -> None:
    assert 0.30000000000000004 == detection.edges()[3]
    assert 1 == detection.bins([0.3], [True])[2][0]


def test_extraction_counts_nothing_shown_as_right_only_without_gold() -> None:
    empty = query(["a"], [], selected_raw=[])
    full = query(["a", "b"], ["b"], selected_raw=["a"])
    assert (1.0, 1.0) == (extraction.recall_all(empty, "raw"), extraction.precision_all(empty, "raw"))
    assert (0.0, 0.0, 0.0) == tuple(f(full, "raw") for f in (extraction.recall, extraction.precision, extraction.f1))


def test_quantiles_interpolate_between_ranks() -> None:
    assert 1.75 == extraction.quantile([1, 2, 3, 4], 0.25)


def test_confusion_ratios_of_a_small_table() -> None:
    made = detection.Confusion(tp=3, fp=1, tn=4, fn=2)
    assert (0.6, True) == made.ratio("sensitivity")
    assert pytest.approx((3 * 4 - 1 * 2) / (4 * 5 * 5 * 6) ** 0.5) == made.ratio("mcc")[0]
    assert (0.0, False) == detection.Confusion(0, 0, 4, 2).ratio("precision")


def test_isotonic_pools_equal_scores_first() -> None:
    fitted = calibrators.fit_isotonic([0, 0, 1, 2], [True, False, False, True])
    assert [pytest.approx(1 / 3), pytest.approx(1 / 3), 1.0] == [fitted(0), fitted(1), fitted(2)]


def test_platt_reaches_the_mean_of_the_labels() -> None:
    z = [-2.0, -1.0, 0.0, 1.0, 2.0, 0.5]
    labels = [False, False, True, False, True, True]
    fitted = calibrators.fit_platt(z, labels)
    assert fitted is not None
    assert pytest.approx(sum(labels)) == sum(fitted(s) for s in z)
    assert calibrators.fit_platt([0.0, 1.0], [False, True]) is None


def test_the_recalibration_line_of_calibrated_scores_is_the_diagonal() -> None:
    probs = [0.25] * 4 + [0.75] * 4
    labels = [True, False, False, False, True, True, True, False]
    slope, intercept = reliability.line(probs, labels) or (0.0, 0.0)
    assert (pytest.approx(1.0), pytest.approx(0.0, abs=1e-12)) == (slope, intercept)


def test_598_documents_without_a_miss_certify_99_5_percent() -> None:
    assert upper_bound(0, 598, 0.95) <= 0.005 < upper_bound(0, 597, 0.95)


def test_clopper_pearson_agrees_with_tables() -> None:
    low, high = bounds(1 / 10, 10)
    assert (pytest.approx(0.0025286, abs=1e-6), pytest.approx(0.4450161, abs=1e-6)) == (low, high)
    assert (0.0, pytest.approx(1 - 0.025**0.1)) == bounds(0.0, 10)


def make_frame() -> Frame:
    rows = [
        ("d1", "A", 0, ["a", "b"], ["a"], 0.9, 1),
        ("d1", "B", 0, ["a", "b"], [], 0.8, 1),
        ("d2", "A", 1, ["c"], [], 0.1, 0),
        ("d2", "B", 1, ["c"], ["c"], 0.3, 0),
    ]
    names = ("doc_id", "criterion_id", "fold", "ranked_uids", "gold_uids", "prob", "predicted")
    return Frame("final", [read_query(dict(zip(names, row, strict=True)), i) for i, row in enumerate(rows)])


def test_a_mean_over_folds_is_the_plain_mean_of_the_defined_ones() -> None:
    answers = Recomputation({"final": make_frame()})
    key = Key(metric="precision", scope="fold_mean", population="all_queries")
    found = answers.answer(key)
    assert found is not None
    assert (0.5, [0.5]) == (found.value, found.parts)
    one_class = answers.answer(Key(metric="auroc", scope="criterion:C", population="all_queries"))
    assert one_class is not None
    assert (0.5, False, 0) == (one_class.value, one_class.defined, one_class.n)


def test_micro_and_macro_f1_differ_as_defined() -> None:
    answers = Recomputation({"final": make_frame()})
    values = {
        m: answers.answer(Key(metric=m, scope="pooled", population="documents")) for m in ("f1_micro", "f1_macro")
    }
    assert {"f1_micro": 0.5, "f1_macro": 0.5} == {m: a.value for m, a in values.items() if a}
    exact = answers.answer(Key(metric="exact_match", scope="pooled", population="documents"))
    assert exact is not None
    assert (0.0, 2) == (exact.value, exact.n)


def test_the_definitions_know_no_ranking_figure_of_negatives() -> None:
    answers = Recomputation({"final": make_frame()})
    assert answers.answer(Key(metric="ndcg@10", scope="pooled", population="negatives_only")) is None


def test_a_row_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    from probative.audit.queries import read_table
    from probative.errors import DataError

    path = tmp_path / "per_query.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["doc_id", "criterion_id", "ranked_uids", "gold_uids"])
        writer.writerow(["d", "A", json.dumps(["a"]), "[]"])
        writer.writerow(["d", "B", "not a list", "[]"])
    with pytest.raises(DataError, match="row 2"):
        read_table(path)
