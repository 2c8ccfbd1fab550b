"""Out-of-fold scores: no document is scored by a model that saw it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import pytest

from probative import DataError
from probative.pipeline.crossfit import deal, oof
from probative.types import Inputs, Scores


@dataclass
class Remembers:
    """A scorer that gives 1 to documents it was fitted on."""

    seen: set[str] = field(default_factory=set)

    def fit(self, inputs: Inputs, stop: Inputs | None = None) -> Self:
        self.seen = set(inputs.view.doc_ids)
        return self

    def score(self, inputs: Inputs) -> Scores:
        assert inputs.view.gold is None
        view = inputs.view
        known = np.array([view.doc_ids[d] in self.seen for d in view.query_doc], dtype=float)
        return Scores(rank=known[view.query], gate=known + len(self.seen))


def test_no_document_is_scored_by_a_model_that_saw_it(inputs_of) -> None:
    inputs = inputs_of(20)
    scores = oof(Remembers, inputs, 4, seed=1)
    assert not scores.rank.any()
    assert scores.node is None
    sizes = np.bincount(deal(inputs.view, 4, 1), minlength=4)
    assert (20 - sizes[deal(inputs.view, 4, 1)][inputs.view.query_doc]).tolist() == scores.gate.tolist()


def test_removing_a_document_moves_no_other(inputs_of) -> None:
    view = inputs_of(20).view
    fewer = view.take(np.delete(np.arange(20), 7))
    assert np.delete(deal(view, 5, 3), 7).tolist() == deal(fewer, 5, 3).tolist()


def test_given_parts_are_kept(inputs_of) -> None:
    scores = oof(Remembers, inputs_of(4, criteria=1), np.array([0, 0, 0, 1]))
    assert [1, 1, 1, 3] == scores.gate.tolist()


def test_evidence_is_dealt_out_when_one_part_would_hold_all_of_it(inputs_of) -> None:
    inputs = inputs_of(12, criteria=1)
    view = inputs.view
    first = deal(replace(view, gold=np.ones_like(view.gold)), 2, 0)
    together = np.flatnonzero(first == 0)[:2]
    gold = np.isin(view.query_doc, together)[view.query]
    part = deal(replace(view, gold=gold), 2, 0)
    assert {0, 1} == set(part[together].tolist())


def test_evidence_in_one_document_is_too_little(inputs_of) -> None:
    view = inputs_of(6, criteria=1).view
    with pytest.raises(DataError, match="at least two documents"):
        deal(replace(view, gold=view.query == 0), 3, 0)
