"""Flat score files: ranking by score, queries without gold or candidates, and what is unlabelled."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from probative.errors import DataError
from probative.evaluation.readers import Source, read_any, read_flat_files

SCORES = [
    ("d1", "A", "s1", 0.2),
    ("d1", "A", "s2", 0.9),
    ("d1", "A", "s3", 0.2),
    ("d2", "A", "t1", 0.5),
    ("d2", "A", "t2", 0.5),
    ("d2", "A", "t3", 0.5),
]
GOLD = [("d1", "A", "s3"), ("d2", "A", "t2")]


def scores(rows: list[tuple[str, str, str, float]] = SCORES) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["doc_id", "criterion_id", "sent_uid", "score"], orient="row")


def gold(rows: list[tuple[str, str, str]] = GOLD) -> pl.DataFrame:
    schema = {"doc_id": pl.String, "criterion_id": pl.String, "sent_uid": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def probs(*rows: tuple[str, str, float]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["doc_id", "criterion_id", "prob"], orient="row")


def pairs(*rows: tuple[str, str, int | None]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["doc_id", "criterion_id", "has_evidence"], orient="row")


def read(**others: pl.DataFrame) -> Source:
    return read_any(scores(), gold=gold(), **others)


def test_equal_scores_keep_the_order_of_the_file() -> None:
    assert read().predictions.gold_rank.tolist() == [3, 2]


def test_all_tied_scores_rank_as_the_file_lists_them() -> None:
    tied = scores().with_columns(score=pl.lit(0.0))
    assert read_any(tied, gold=gold()).predictions.gold_rank.tolist() == [3, 2]
    assert read_any(tied.reverse(), gold=gold()).predictions.gold_rank.tolist() == [1, 2]


def test_ties_as_trec_eval_breaks_them_fall_by_identifier() -> None:
    assert read_any(scores().reverse(), gold=gold(), ties="trec").predictions.gold_rank.tolist() == [2, 2]


def test_gold_outside_the_ranking_counts_and_is_told() -> None:
    source = read_any(scores(), gold=gold([*GOLD, ("d1", "A", "lost")]))
    assert source.predictions.gold_rank.tolist() == [3, 0, 2]
    assert "1 gold sentences are not among the scored ones" in source.notes[0]


def test_gold_of_other_identifiers_altogether_is_called_out() -> None:
    source = read_any(scores(), gold=gold([("d1", "A", "1"), ("d2", "A", "2")]))
    assert "none of the 2 gold sentences" in source.notes[0]


def test_a_query_without_gold_is_negative() -> None:
    found = read_any(scores(), gold=gold(GOLD[:1])).predictions
    assert found.positive.tolist() == [True, False]


def test_no_gold_at_all_leaves_only_negatives() -> None:
    assert read_any(scores(), gold=gold([])).predictions.positive.tolist() == [False, False]


def test_a_query_with_gold_and_no_candidates_is_counted() -> None:
    source = read_any(scores(), gold=gold([*GOLD, ("d3", "A", "u1")]))
    assert source.predictions.n_ranked.tolist() == [3, 3, 0]
    assert source.predictions.gold_rank.tolist() == [3, 2, 0]
    assert any("1 queries have no candidates" in note for note in source.notes)


def test_probabilities_join_their_queries_in_any_order() -> None:
    found = read(probs=probs(("d2", "A", 0.4), ("d1", "A", 0.7))).predictions
    assert found.prob is not None
    assert found.predicted is not None
    assert found.prob.tolist() == [0.7, 0.4]
    assert found.predicted.tolist() == [True, False]


def test_a_query_without_a_probability_is_refused() -> None:
    with pytest.raises(DataError, match="probs: has no row for document 'd2', criterion 'A'"):
        read(probs=probs(("d1", "A", 0.7)))


def test_a_query_that_only_has_a_probability_is_a_query() -> None:
    found = read(probs=probs(("d1", "A", 0.7), ("d2", "A", 0.4), ("d3", "A", 0.1))).predictions
    assert found.positive.tolist() == [True, True, False]
    assert found.n_candidates.tolist() == [3, 3, 0]


def test_queries_that_pairs_do_not_name_are_counted_and_never_scored() -> None:
    source = read(pairs=pairs(("d1", "A", None)))
    assert source.predictions.n_queries == 1
    assert source.n_unlabelled == 1
    assert source.predictions.gold_rank.tolist() == [3]


def test_evidence_without_gold_is_unlocated_and_gold_without_evidence_an_error() -> None:
    source = read_any(scores(), gold=gold(GOLD[:1]), pairs=pairs(("d1", "A", 1), ("d2", "A", 1)))
    assert source.predictions.positive.tolist() == [True, True]
    assert source.predictions.located.tolist() == [True, False]
    with pytest.raises(DataError, match="pairs, row 1: has_evidence 0 contradicts the gold sentences of document 'd1'"):
        read(pairs=pairs(("d1", "A", 0), ("d2", "A", 1)))


def test_duplicates_name_table_and_row() -> None:
    with pytest.raises(DataError, match="scores, row 7: the candidate 'd1' / 'A' / 's1' was already given"):
        read_any(scores([*SCORES, SCORES[0]]), gold=gold())
    with pytest.raises(DataError, match="gold, row 3: the gold sentence"):
        read_any(scores(), gold=gold([*GOLD, GOLD[0]]))
    with pytest.raises(DataError, match="probs, row 2: the query"):
        read(probs=probs(("d1", "A", 0.7), ("d1", "A", 0.7)))


def test_a_score_that_is_no_number_names_its_row(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("doc_id,criterion_id,sent_uid,score\nd1,A,s1,0.5\nd1,A,s2,NaN\n")
    (tmp_path / "g.csv").write_text("doc_id,criterion_id,sent_uid\nd1,A,s1\n")
    with pytest.raises(DataError, match=r"s\.csv, row 2: score is 'NaN', not a number"):
        read_flat_files(tmp_path / "s.csv", tmp_path / "g.csv")


def test_an_empty_identifier_names_its_row() -> None:
    with pytest.raises(DataError, match="scores, row 1: sent_uid is empty"):
        read_any(scores([("d1", "A", "", 0.2)]), gold=gold())


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        read_flat_files(tmp_path / "s.csv", tmp_path / "g.csv")


def test_formats_may_be_mixed(tmp_path: Path) -> None:
    scores().write_parquet(tmp_path / "s.parquet")
    gold().write_ndjson(tmp_path / "g.jsonl")
    found = read_flat_files(tmp_path / "s.parquet", tmp_path / "g.jsonl").predictions
    assert found.gold_rank.tolist() == [3, 2]
