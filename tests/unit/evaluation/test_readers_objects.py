"""TREC files, run folders, and the objects that other libraries pass around: all give the same predictions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import polars as pl
import pytest

from probative.errors import DataError
from probative.evaluation.readers import Source, read_any, read_run, read_trec_files

RUN = {"d1::A": {"s1": 0.2, "s2": 0.9, "s3": 0.1}, "d2::A": {"t1": 0.5, "t2": 0.4}}
QRELS = {"d1::A": {"s3": 1, "s1": 0}, "d2::A": {"t1": 0}}


def trec(folder: Path, run: dict[str, dict[str, float]] = RUN) -> tuple[Path, Path]:
    """The run and the qrels as TREC files."""
    lines = [
        f"{query} Q0 {uid} {rank} {score} tag"
        for query, scored in run.items()
        for rank, (uid, score) in enumerate(sorted(scored.items(), key=lambda item: -item[1]), start=1)
    ]
    judged = [f"{query} 0 {uid} {value}" for query, found in QRELS.items() for uid, value in found.items()]
    (folder / "run.trec").write_text("\n".join(lines) + "\n")
    (folder / "qrels.trec").write_text("\n".join(judged) + "\n")
    return folder / "run.trec", folder / "qrels.trec"


def check(source: Source) -> None:
    found = source.predictions
    assert found.doc_ids == ("d1", "d2")
    assert found.criterion_ids == ("A",)
    assert found.gold_rank.tolist() == [3]
    assert found.positive.tolist() == [True, False]
    assert found.n_ranked.tolist() == [3, 2]


def test_trec_files_are_read(tmp_path: Path) -> None:
    run, qrels = trec(tmp_path)
    check(read_trec_files(run, qrels))
    check(read_any(run, gold=qrels))


def test_a_query_that_the_qrels_do_not_name_is_unlabelled(tmp_path: Path) -> None:
    run, qrels = trec(tmp_path, {**RUN, "d3::A": {"u1": 1.0}})
    source = read_trec_files(run, qrels)
    check(source)
    assert source.n_unlabelled == 1


def test_a_query_id_without_a_criterion_is_a_document_of_its_own() -> None:
    found = read_any({"7": {"a": 1.0}}, gold={"7": {"a": 1}}).predictions
    assert found.doc_ids == ("7",)
    assert found.criterion_ids == ("query",)


def test_a_query_id_is_cut_at_the_last_separator() -> None:
    assert read_any({"a::b::C": {"s": 1.0}}, gold={"a::b::C": ["s"]}).predictions.doc_ids == ("a::b",)


@pytest.mark.parametrize(
    ("line", "text"), [("q Q0 s 1 0.5", "row 1: has 5 fields, not the 6"), ("q Q0 s 1 high tag", "score is 'high'")]
)
def test_a_malformed_run_line_names_its_row(line: str, text: str, tmp_path: Path) -> None:
    run, qrels = trec(tmp_path)
    run.write_text(line + "\n")
    with pytest.raises(DataError, match=text):
        read_trec_files(run, qrels)


def test_a_relevance_that_is_no_number_names_its_row(tmp_path: Path) -> None:
    run, qrels = trec(tmp_path)
    qrels.write_text("d1::A 0 s3 yes\n")
    with pytest.raises(DataError, match=r"qrels\.trec, row 1: relevance 'yes'"):
        read_trec_files(run, qrels)


def test_dictionaries_are_read() -> None:
    check(read_any(RUN, gold=QRELS))
    keyed = {tuple(query.split("::")): scored for query, scored in RUN.items()}
    check(read_any(keyed, gold={("d1", "A"): ["s3"], ("d2", "A"): []}))


def test_probabilities_and_pairs_may_be_dictionaries_and_lists() -> None:
    source = read_any(RUN, gold=QRELS, probs={"d1::A": 0.9, "d2::A": 0.1}, pairs=["d1::A", "d2::A"])
    check(source)
    assert source.predictions.prob is not None
    assert source.predictions.prob.tolist() == [0.9, 0.1]


def test_named_tuples_of_ir_measures_are_read() -> None:
    run = [ir_measures.ScoredDoc(query, uid, score) for query, found in RUN.items() for uid, score in found.items()]
    qrels = [ir_measures.Qrel(query, uid, value) for query, found in QRELS.items() for uid, value in found.items()]
    check(read_any(run, gold=qrels))
    check(read_any(iter(run), gold=iter(qrels)))


def test_objects_of_ranx_are_read() -> None:
    class Like:
        """What ranx.Run and ranx.Qrels offer, without their twenty-second compilation."""

        def __init__(self, table: dict[str, Any]) -> None:
            self.table = table

        def to_dict(self) -> dict[str, Any]:
            return self.table

    check(read_any(Like(RUN), gold=Like(QRELS)))


def test_pandas_frames_are_read() -> None:
    rows = [(query[:2], "A", uid, score) for query, found in RUN.items() for uid, score in found.items()]
    scores = pd.DataFrame(rows, columns=["doc_id", "criterion_id", "sent_uid", "score"])
    check(read_any(scores, gold=pd.DataFrame({"doc_id": ["d1"], "criterion_id": ["A"], "sent_uid": ["s3"]})))
    table = {"doc_id": ["d1", "d2"], "criterion_id": ["A", "A"], "ranked_uids": [["s2", "s1", "s3"], ["t1", "t2"]]}
    check(read_any(pd.DataFrame({**table, "gold_uids": [["s3"], []]})))


def test_frames_as_ir_measures_names_them_are_read() -> None:
    run = pl.DataFrame([(q, u, s) for q, found in RUN.items() for u, s in found.items()], orient="row")
    qrels = pl.DataFrame([(q, u, s) for q, found in QRELS.items() for u, s in found.items()], orient="row")
    run.columns = ["query_id", "doc_id", "score"]
    qrels.columns = ["query_id", "doc_id", "relevance"]
    check(read_any(run.lazy(), gold=qrels))


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(DataError, match="int is no table"):
        read_any(3)


def run_folder(folder: Path) -> Path:
    rows = pl.DataFrame(
        {"doc_id": ["d1"], "criterion_id": ["A"], "ranked_uids": [["a", "b"]], "gold_uids": [["b"]], "prob": [0.5]}
    )
    (folder / "stages").mkdir(parents=True)
    rows.with_columns(pl.col("ranked_uids").list.reverse()).write_parquet(folder / "stages" / "retrieve.parquet")
    rows.write_parquet(folder / "per_query.parquet")
    corpus = {"exclude_from_training": ["A"], "n_unlabelled": 3}
    (folder / "manifest.json").write_text(json.dumps({"corpus": corpus}))
    return folder


def test_a_run_folder_brings_its_stages_and_its_excluded_criteria(tmp_path: Path) -> None:
    source = read_run(run_folder(tmp_path / "run"))
    assert source.predictions.gold_rank.tolist() == [2]
    assert list(source.stages) == ["retrieve"]
    assert source.stages["retrieve"].gold_rank.tolist() == [1]
    assert frozenset({"A"}) == source.predictions.excluded
    assert source.n_unlabelled == 3


def test_a_folder_without_per_query_is_no_run_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no per_query\.csv"):
        read_any(tmp_path)


def test_a_broken_manifest_is_refused(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run")
    (folder / "manifest.json").write_text("{")
    with pytest.raises(DataError, match=r"manifest\.json: is not readable JSON"):
        read_run(folder)


def test_a_manifest_without_a_corpus_excludes_nothing(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run")
    (folder / "manifest.json").write_text('{"corpus": null}')
    assert frozenset() == read_run(folder).predictions.excluded
