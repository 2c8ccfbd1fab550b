"""The linear model learns where criteria repeat and where each is seen once, from TRAIN alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from probative import DataError, ModelError
from probative.rerank import LinearReranker, LinearSettings
from probative.types import Inputs, Scores

SETTINGS = LinearSettings(min_count=1)


def hit_rate(scores: Scores, inputs: Inputs) -> float:
    """Share of the queries with evidence whose best candidate is evidence."""
    view = inputs.view
    starts = view.offsets[:-1][view.located]
    ends = view.offsets[1:][view.located]
    best = [int(a + np.argmax(scores.rank[a:b])) for a, b in zip(starts, ends, strict=True)]
    return float(view.gold[best].mean())


@pytest.fixture(scope="module")
def fitted(inputs_of) -> LinearReranker:
    return LinearReranker(SETTINGS).fit(inputs_of(40))


def test_criteria_that_repeat_are_learned(inputs_of, fitted: LinearReranker) -> None:
    unseen = inputs_of(20, seed=9)
    dense = Scores(rank=unseen.scores["dense"])
    assert hit_rate(fitted.score(unseen), unseen) > max(0.9, hit_rate(dense, unseen))


def test_criteria_seen_once_are_learned_by_what_they_share(inputs_of) -> None:
    model = LinearReranker(SETTINGS).fit(inputs_of(80, once=True))
    unseen = inputs_of(30, once=True, seed=9)
    assert model.own_.texts == ()
    assert hit_rate(model.score(unseen), unseen) > 0.7


def test_a_new_criterion_gets_the_shared_scores(inputs_of, fitted: LinearReranker) -> None:
    strange = inputs_of(6, once=True, seed=5)
    assert np.array_equal(fitted.shared_.score(strange), fitted.score(strange).rank)


def test_gold_of_the_scored_view_is_never_read(inputs_of, fitted: LinearReranker) -> None:
    unseen = inputs_of(5, seed=9)
    blind = replace(unseen, view=unseen.view.blind())
    assert np.array_equal(fitted.score(unseen).rank, fitted.score(blind).rank)


def test_a_document_scores_the_same_alone_and_among_others(inputs_of, fitted: LinearReranker) -> None:
    unseen = inputs_of(5, seed=9)
    alone = unseen.take(np.array([2]))
    rows = np.flatnonzero(np.isin(unseen.view.query_doc, [2])[unseen.view.query])
    assert pytest.approx(fitted.score(unseen).rank[rows], abs=1e-4) == fitted.score(alone).rank


def test_the_same_view_and_seed_give_the_same_weights(inputs_of, fitted: LinearReranker) -> None:
    again = LinearReranker(SETTINGS).fit(inputs_of(40))
    assert np.array_equal(fitted.own_.theta, again.own_.theta)
    assert np.array_equal(fitted.shared_.theta, again.shared_.theta)


def test_a_saved_model_scores_the_same(tmp_path: Path, inputs_of, fitted: LinearReranker) -> None:
    fitted.save(tmp_path)
    unseen = inputs_of(5, seed=9)
    assert np.array_equal(fitted.score(unseen).rank, LinearReranker.load(tmp_path).score(unseen).rank)
    assert {"linear.json", "linear.safetensors"} == {path.name for path in tmp_path.iterdir()}


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        LinearReranker.load(tmp_path)


def test_nothing_to_learn_is_said(inputs_of) -> None:
    inputs = inputs_of(4)
    empty = replace(inputs.view, gold=np.zeros_like(inputs.view.gold), has_evidence=np.zeros(12, dtype=bool))
    with pytest.raises(DataError, match="nothing can be learned"):
        LinearReranker().fit(replace(inputs, view=empty))


def test_a_criterion_without_evidence_keeps_low_odds(inputs_of) -> None:
    inputs = inputs_of(40)
    view = inputs.view
    of_first = view.query_criterion == 0
    gold = view.gold & ~of_first[view.query]
    poorer = replace(inputs, view=replace(view, gold=gold, has_evidence=view.has_evidence & ~of_first))
    scores = LinearReranker(SETTINGS).fit(poorer).score(poorer)
    assert np.isfinite(scores.node).all()
    assert view.criterion_texts[0] not in LinearReranker(SETTINGS).fit(poorer).own_.texts


@pytest.mark.parametrize(("documents", "sentences"), [(1, 8), (12, 1)])
def test_one_document_and_one_sentence_documents_are_enough(inputs_of, documents: int, sentences: int) -> None:
    inputs = inputs_of(documents, sentences, criteria=6)
    scores = LinearReranker(SETTINGS).fit(inputs).score(inputs)
    assert np.isfinite(scores.node).all()


def test_evidence_that_nobody_located_teaches_nothing(inputs_of) -> None:
    inputs = inputs_of(30)
    view = inputs.view
    lost = np.flatnonzero(view.has_evidence)[0]
    gold = view.gold & (view.query != lost)
    unlocated = replace(inputs, view=replace(view, gold=gold))
    without = unlocated.view.take_queries(np.delete(np.arange(view.n_queries), lost))
    rows = view.query != lost
    scores = {name: values[rows] for name, values in inputs.scores.items()}
    fewer = replace(inputs, view=without, scores=scores)
    assert np.array_equal(
        LinearReranker(SETTINGS).fit(unlocated).own_.theta, LinearReranker(SETTINGS).fit(fewer).own_.theta
    )
