"""per_query tables: what is read, what is implied, and every error with its row."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from probative.errors import DataError
from probative.evaluation.predictions import NEG, POS, UNCERTAIN, Predictions
from probative.evaluation.readers import read_any, read_path

ROWS = [
    {"doc_id": "d2", "criterion_id": "B", "ranked_uids": ["x", "y", "z"], "gold_uids": ["z", "w"], "prob": 0.9},
    {"doc_id": "d1", "criterion_id": "B", "ranked_uids": ["a", "b"], "gold_uids": [], "prob": 0.2},
    {"doc_id": "d1", "criterion_id": "A", "ranked_uids": ["b", "a"], "gold_uids": ["b"], "prob": 0.5},
]


def rows(**columns: list[object]) -> list[dict[str, object]]:
    """The three rows with more or other columns."""
    return [{**row, **{name: values[i] for name, values in columns.items()}} for i, row in enumerate(ROWS)]


def read(**columns: list[object]) -> Predictions:
    return read_any(rows(**columns)).predictions


def listed(values: NDArray[np.generic] | None) -> list[object]:
    assert values is not None
    return list(values.tolist())


def refused(match: str, **columns: list[object]) -> None:
    with pytest.raises(DataError, match=match):
        read(**columns)


def as_csv(table: list[dict[str, object]], path: Path) -> Path:
    cells = [
        {name: json.dumps(cell) if isinstance(cell, list) else cell for name, cell in row.items()} for row in table
    ]
    pl.DataFrame(cells, infer_schema_length=None).write_csv(path)
    return path


def same(left: Predictions, right: Predictions) -> None:
    assert left.doc_ids == right.doc_ids
    for name in ("doc", "criterion", "n_candidates", "gold_offsets", "gold_rank", "positive", "prob", "predicted"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))


def test_rows_are_sorted_by_document_then_criterion_and_gold_meets_its_rank() -> None:
    found = read()
    assert found.doc_ids == ("d1", "d2")
    assert found.criterion_ids == ("A", "B")
    assert found.doc.tolist() == [0, 0, 1]
    assert found.criterion.tolist() == [0, 1, 1]
    assert found.gold_offsets.tolist() == [0, 1, 1, 3]
    assert found.gold_rank.tolist() == [1, 3, 0], "w is not in the ranking and still counts"
    assert found.positive.tolist() == [True, False, True]
    assert found.n_candidates.tolist() == [2, 2, 3]


def test_csv_jsonl_and_parquet_read_alike(tmp_path: Path) -> None:
    csv = as_csv(ROWS, tmp_path / "q.csv")
    pl.DataFrame(ROWS).write_parquet(tmp_path / "q.parquet")
    (tmp_path / "q.jsonl").write_text("\n".join(json.dumps(row) for row in ROWS))
    for path in (csv, tmp_path / "q.parquet", tmp_path / "q.jsonl"):
        same(read(), read_path(path).predictions)


def test_lists_as_json_text_inside_parquet_and_numbers_as_identifiers(tmp_path: Path) -> None:
    frame = pl.DataFrame({"doc_id": [7], "criterion_id": [1], "ranked_uids": ["[3, 4, 5]"], "gold_uids": ["[4]"]})
    frame.write_parquet(tmp_path / "q.parquet")
    found = read_path(tmp_path / "q.parquet").predictions
    assert found.doc_ids == ("7",)
    assert found.gold_rank.tolist() == [2]


def test_identifiers_keep_leading_zeros_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text('doc_id,criterion_id,ranked_uids,gold_uids\n007,1,"[""01"",""1""]","[""1""]"\n')
    found = read_path(path).predictions
    assert found.doc_ids == ("007",)
    assert found.gold_rank.tolist() == [2]


def test_post_id_and_fold_id_are_accepted() -> None:
    table = [{"post_id": row["doc_id"], "fold_id": i == 0, **row} for i, row in enumerate(ROWS)]
    for row in table:
        del row["doc_id"]
    frame = pl.DataFrame(table).with_columns(pl.col("fold_id").cast(pl.Int8))
    fold = read_any(frame).predictions.fold
    assert fold is not None
    assert fold.tolist() == [0, 0, 1]


def test_both_names_of_one_column_are_refused() -> None:
    refused("both 'post_id' and 'doc_id'", post_id=["d1", "d2", "d3"])


def test_predicted_defaults_to_one_half_and_to_the_threshold() -> None:
    assert listed(read().predicted) == [True, False, True]
    assert listed(read(threshold=[0.8, 0.6, 0.6]).predicted) == [False, False, True]


def test_an_empty_threshold_cell_predicts_nothing() -> None:
    found = read(**{"threshold@fpr=0.05": [None, 0.1, 0.6], "threshold": [None, 0.1, 0.1]})
    assert listed(found.predicted) == [True, True, False]
    np.testing.assert_array_equal([0.6, 0.1, np.nan], found.budget_thresholds["0.05"])


def test_state_follows_from_both_limits() -> None:
    found = read(tau_neg=[0.3] * 3, tau_pos=[0.9] * 3)
    assert listed(found.state) == [UNCERTAIN, NEG, POS]
    assert read(tau_neg=[0.3] * 3).state is None


def test_a_predicted_that_contradicts_its_threshold_names_the_row() -> None:
    refused(r"row 2: predicted 1 contradicts prob 0.2 against threshold 0.5", threshold=[0.5] * 3, predicted=[1, 1, 1])


def test_predicted_without_a_threshold_is_taken_as_given() -> None:
    assert listed(read(predicted=[0, 1, 0]).predicted) == [False, True, False]


def test_a_state_that_contradicts_its_limits_names_the_row() -> None:
    limits = {"tau_neg": [0.3] * 3, "tau_pos": [0.8] * 3}
    refused(r"row 3: state POS contradicts prob 0.5 .* which give UNCERTAIN", state=["POS", "NEG", "POS"], **limits)


def test_limits_in_the_wrong_order_are_refused() -> None:
    refused("row 1: tau_neg 0.8 is above tau_pos 0.3", tau_neg=[0.8] * 3, tau_pos=[0.3] * 3)


def test_an_unknown_state_is_refused_with_the_known_ones() -> None:
    refused("row 2: state 'MAYBE' is unknown; the states are NEG, UNCERTAIN, POS", state=["POS", "MAYBE", "POS"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.5, r"row 2: prob 1.5 is outside \[0, 1\]; put logits through a sigmoid"),
        (-0.1, r"row 2: prob -0.1 is outside"),
        (float("nan"), r"row 2: prob is missing \(NaN\)"),
        (None, r"row 2: prob is missing"),
    ],
)
def test_impossible_probabilities_are_refused(value: float | None, text: str) -> None:
    refused(text, prob=[0.9, value, 0.5])


def test_a_probability_that_is_no_number_is_refused(tmp_path: Path) -> None:
    path = as_csv(rows(prob=["0.9", "high", "0.5"]), tmp_path / "q.csv")
    with pytest.raises(DataError, match="row 2: prob is 'high', not a number"):
        read_path(path)


def test_n_candidates_may_exceed_the_ranking_and_never_be_smaller() -> None:
    assert read(n_candidates=[9, 2, 2]).n_candidates.tolist() == [2, 2, 9]
    refused("row 1: n_candidates 2 is below the 3 sentences", n_candidates=[2, 2, 2])


def test_a_query_without_candidates_is_read() -> None:
    found = read(ranked_uids=[[], ["a", "b"], ["b", "a"]])
    assert found.n_ranked.tolist() == [2, 2, 0]
    assert found.gold_rank.tolist() == [1, 0, 0]


def test_one_query_is_enough() -> None:
    assert read_any(ROWS[:1]).predictions.n_queries == 1


def test_a_selection_under_a_negative_prediction_is_refused() -> None:
    refused("row 2: selected_gate must be empty where predicted is 0", selected_gate=[["x"], ["a"], []])


def test_a_selection_under_neg_is_refused() -> None:
    limits = {"tau_neg": [0.3] * 3, "tau_pos": [0.8] * 3}
    refused("row 2: selected_triage must be empty", selected_triage=[["x"], ["a"], []], **limits)


def test_selections_are_counted_with_their_gold() -> None:
    found = read(selected_raw=[["z", "x"], ["a"], []]).selections
    assert list(found) == ["raw"]
    assert found["raw"].size.tolist() == [0, 1, 2]
    assert found["raw"].hits.tolist() == [0, 0, 1]


@pytest.mark.parametrize("column", ["selected_raw", "pool_uids"])
def test_sentences_that_are_no_candidates_are_refused(column: str) -> None:
    refused(f"row 2: {column} names 1 sentences that are not candidates", **{column: [["x"], ["a", "q"], []]})


def test_a_truncated_ranking_leaves_room_for_unlisted_candidates() -> None:
    found = read(selected_raw=[["x"], ["a", "q"], []], n_candidates=[3, 3, 2])
    assert found.selections["raw"].size.tolist() == [0, 2, 1]


@pytest.mark.parametrize("column", ["ranked_uids", "gold_uids", "pool_uids", "selected_raw"])
def test_a_sentence_named_twice_is_refused(column: str) -> None:
    refused(f"row 3: {column} names a sentence twice", **{column: [["x"], ["a", "b"], ["b", "b"]]})


def test_a_query_given_twice_is_refused() -> None:
    refused("row 3: the query 'd1' / 'B' was already given", criterion_id=["B", "B", "B"])


def test_a_document_in_two_folds_is_refused() -> None:
    refused("row 3: document 'd1' is in fold 1 here and in fold 0 above", fold=[0, 0, 1])


def test_has_evidence_zero_with_gold_is_refused_and_one_without_is_unlocated() -> None:
    refused("row 1: has_evidence 0 contradicts", has_evidence=[0, 0, 1])
    found = read(has_evidence=[1, 1, None])
    assert found.positive.tolist() == [True, True, True]
    assert found.located.tolist() == [True, False, True]


def test_gold_in_the_pool_is_marked() -> None:
    found = read(pool_uids=[["x", "z"], ["a"], []])
    assert listed(found.gold_in_pool) == [False, True, False]


def test_scores_of_the_ranking_are_read_with_their_gold() -> None:
    found = read(ranked_scores=[[3.0, 2.0, 1.0], [1.0, 0.5], [0.3, 0.3]])
    assert found.row_score is not None
    assert found.row_gold is not None
    assert found.row_score.tolist() == [0.3, 0.3, 1.0, 0.5, 3.0, 2.0, 1.0]
    assert found.row_gold.tolist() == [True, False, False, False, False, False, True]


def test_scores_of_another_length_are_refused() -> None:
    refused("row 2: ranked_scores has 1 members, ranked_uids has 2", ranked_scores=[[3, 2, 1], [1], [1, 1]])


@pytest.mark.parametrize("cell", ["[a, b]", '["a"', '{"a": 1}', "a|b", '[["a"]]', '["a", null]'])
def test_a_malformed_list_names_its_row_and_column(cell: str, tmp_path: Path) -> None:
    path = as_csv(rows(ranked_uids=['["x"]', cell, "[]"], gold_uids=["[]"] * 3), tmp_path / "q.csv")
    with pytest.raises(DataError, match="row 2: ranked_uids"):
        read_path(path)


def test_a_line_that_is_no_json_names_its_row(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps(ROWS[0]) + "\n{oops\n")
    with pytest.raises(DataError, match="row 2: is not valid JSON"):
        read_path(path)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ('"prob": NaN', "row 2: NaN is no number in JSON"),
        ('"pool_uids": ["a", ["b"]]', "row 2: the members of pool_uids must be plain values"),
    ],
)
def test_a_line_that_polars_cannot_read_names_its_row(cell: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    other = '{"doc_id": "d", "criterion_id": "A", "ranked_uids": [], "gold_uids": [], ' + cell + "}"
    path.write_text(json.dumps(ROWS[0]) + f"\n{other}\n")
    with pytest.raises(DataError, match=said):
        read_path(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            b"doc_id,criterion_id,ranked_uids,gold_uids\nd,A,[],[]\nd,B,[],[],9\n",
            "row 2: has 5 fields, the header has 4",
        ),
        (b"doc_id,criterion_id,ranked_uids,gold_uids\nd\xe9,A,[],[]\n", "line 2: is not UTF-8"),
        (b"doc_id,criterion_id,ranked_uids,gold_uids,doc_id\nd,A,[],[],e\n", "has the column 'doc_id' twice"),
    ],
)
def test_a_csv_that_cannot_be_read_names_the_place(text: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_bytes(text)
    with pytest.raises(DataError, match=said):
        read_path(path)


def test_a_missing_column_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(DataError, match=r"lacks the column gold_uids\. Did you mean 'gold_uid'"):
        read_any([{"doc_id": "d", "criterion_id": "A", "ranked_uids": ["a"], "gold_uid": ["a"]}])


def test_all_problems_are_told_at_once_and_many_of_a_kind_are_counted() -> None:
    table = pl.DataFrame(
        {
            "doc_id": [f"d{i}" for i in range(30)],
            "criterion_id": "A",
            "ranked_uids": [["a"]] * 30,
            "gold_uids": [["a", "a"]] + [["a"]] * 29,
            "prob": [2.0] * 30,
        }
    )
    with pytest.raises(DataError) as caught:
        read_any(table)
    text = str(caught.value)
    assert "31 problems." in text
    assert "25 more rows like the one above" in text
    assert "gold_uids names a sentence twice" in text


@pytest.mark.parametrize("text", ["", "doc_id,criterion_id,ranked_uids,gold_uids\n"])
def test_an_empty_file_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=r"empty|no queries"):
        read_path(path)


def test_an_unknown_suffix_is_refused(tmp_path: Path) -> None:
    (tmp_path / "q.xlsx").write_text("")
    with pytest.raises(DataError, match=r"ends in '\.xlsx'"):
        read_path(tmp_path / "q.xlsx")


def test_trec_ties_sort_by_falling_score_then_falling_identifier() -> None:
    table = rows(ranked_scores=[[0.5, 0.5, 0.5], [2, 1], [0.1, 0.9]])
    found = read_any(table, ties="trec").predictions
    assert [2, 1, 0] == found.gold_rank.tolist(), "b falls behind a by score; z comes before y and x by name"
    assert [0.9, 0.1, 2, 1, 0.5, 0.5, 0.5] == listed(found.row_score)
    assert [1, 3, 0] == read_any(table).predictions.gold_rank.tolist(), "a ranking is taken as listed"


def test_trec_ties_without_scores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"q.csv: ties = trec needs scores: .* ranked_scores"):
        read_path(as_csv(ROWS, tmp_path / "q.csv"), ties="trec")
