"""Views hold one role's documents, queries and gold, and nothing else."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from probative.data import Corpus, CorpusMeta
from probative.data.source import Source, Table
from probative.data.validate import check
from probative.errors import DataError
from probative.types import Role, View


def small() -> Corpus:
    """Three documents; d1 has gold, d2 is unlocated for K1 and unlabelled for K2, d3 has a rejected sentence."""
    frames = {
        "sentences": {
            "doc_id": ["d2", "d1", "d1", "d3"],
            "sent_idx": [0, 1, 0, 0],
            "sent_uid": ["d2_0", "d1_1", "d1_0", "d3_0"],
            "text": ["c", "b", "a", "d"],
        },
        "criteria": {"criterion_id": ["K2", "K1"], "text": ["two", "one"]},
        "gold": {"doc_id": ["d1"], "criterion_id": ["K2"], "sent_uid": ["d1_1"]},
        "rejected": {"doc_id": ["d3"], "criterion_id": ["K1"], "sent_uid": ["d3_0"]},
        "pairs": {
            "doc_id": ["d3", "d1", "d1", "d2"],
            "criterion_id": ["K1", "K2", "K1", "K1"],
            "has_evidence": [0, None, 0, 1],
        },
    }
    tables = {name: Table.of(f"{name}.csv", pl.DataFrame(data)) for name, data in frames.items()}
    return check(Source(meta=CorpusMeta(name="small"), tables=tables)).corpus()


def queries(view: View) -> list[tuple[str, str]]:
    return [
        (view.doc_ids[doc], view.criterion_ids[criterion])
        for doc, criterion in zip(view.query_doc, view.query_criterion, strict=True)
    ]


def test_queries_stand_in_order_and_unlabelled_pairs_are_none() -> None:
    view = small().view(["d3", "d1", "d2"], Role.TRAIN, gold=True)

    assert queries(view) == [("d1", "K1"), ("d1", "K2"), ("d2", "K1"), ("d3", "K1")]
    assert view.texts == ("a", "b", "c", "d")
    assert view.criterion_texts == ("one", "two")


def test_gold_and_rejected_stand_on_their_own_rows() -> None:
    view = small().view(["d1", "d2", "d3"], Role.TRAIN, gold=True)

    assert view.gold is not None
    assert view.rejected is not None
    assert view.gold.tolist() == [False, False, False, True, False, False]
    assert view.rejected.tolist() == [False, False, False, False, False, True]
    assert view.has_evidence is not None
    assert view.has_evidence.tolist() == [False, True, True, False]
    assert view.unlocated.tolist() == [False, False, True, False]


def test_a_view_holds_nothing_of_other_documents() -> None:
    view = small().view(["d2"], Role.TUNE, gold=True)

    assert (view.role, view.doc_ids, view.sent_uids, view.texts) == (Role.TUNE, ("d2",), ("d2_0",), ("c",))
    assert view.criterion_ids == ("K1",), "a criterion without a query here is no part of the view"
    assert view.n_rows == 1


def test_without_gold_a_view_has_none() -> None:
    view = small().view(["d1"], Role.EVAL, gold=False)

    assert (view.gold, view.rejected, view.has_evidence) == (None, None, None)


def test_excluded_criteria_have_no_queries() -> None:
    view = small().view(["d1", "d2"], Role.TRAIN, gold=True, exclude=["K2"])

    assert queries(view) == [("d1", "K1"), ("d2", "K1")]
    assert view.criterion_ids == ("K1",)


def test_an_unknown_document_is_refused() -> None:
    with pytest.raises(DataError, match="no document 'd9'"):
        small().view(["d1", "d9"], Role.TRAIN, gold=True)


@pytest.mark.cuad
def test_cuad_becomes_a_view_in_well_under_a_second(cuad_path: Path) -> None:
    corpus = Corpus.read(cuad_path)

    begin = time.perf_counter()
    view = corpus.view(corpus.doc_ids, Role.TRAIN, gold=True)

    assert time.perf_counter() - begin < 1
    assert (view.n_queries, view.n_rows, len(view.texts)) == (10_175, 1_009_471, 27_283)
    assert view.gold is not None
    assert int(view.gold.sum()) == 2_790
    assert np.count_nonzero(view.located) == 1_699
