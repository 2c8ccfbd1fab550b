from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probative import segments
from probative.data.corpus import Corpus
from probative.errors import ModelError
from probative.retrieve import Retriever, RetrieveSettings
from probative.types import Inputs, Role

DOCUMENTS = [["fee is due", "no fee", "the term ends"], ["term of years"], ["a", "b fee", "c", "d", "fee fee"]]
CRITERIA = ["fee", "when does the term end"]


def test_the_three_scores_and_the_pool_are_filled_in(inputs_of) -> None:
    inputs = inputs_of(DOCUMENTS, CRITERIA)
    found = Retriever(RetrieveSettings(pool=2)).fit(inputs).inputs_with(inputs)
    assert {"bm25", "dense", "retrieve"} == set(found.scores)
    assert segments.total(found.pool, inputs.view.offsets).tolist() == [2, 2, 1, 1, 2, 2]


def test_the_pool_holds_the_best_and_ties_go_to_the_earlier_sentence(inputs_of) -> None:
    inputs = inputs_of([["x", "fee", "y", "z"]], ["fee"])
    found = Retriever(RetrieveSettings(method="bm25", pool=2)).fit(inputs).inputs_with(inputs)
    assert found.pool.tolist() == [True, True, False, False]


def test_dense_is_the_cosine(inputs_of) -> None:
    inputs = inputs_of(DOCUMENTS, CRITERIA, [(0, 1), (2, 0)])
    scores = Retriever(RetrieveSettings(method="dense")).fit(inputs).score(inputs).rank
    expected = inputs.sentence_vectors @ inputs.criterion_vectors.T
    np.testing.assert_allclose(np.r_[expected[0:3, 1], expected[4:9, 0]], scores, rtol=1e-5)


def test_the_weighted_sum_lies_between_its_parts(inputs_of) -> None:
    inputs = inputs_of(DOCUMENTS, CRITERIA)
    scores = {
        weight: Retriever(RetrieveSettings(fusion="weighted", weight=weight)).fit(inputs).inputs_with(inputs).scores
        for weight in (0.0, 1.0)
    }
    offsets = inputs.view.offsets
    for weight, name in ((0.0, "bm25"), (1.0, "dense")):
        assert (
            segments.rank(scores[weight][name], offsets).tolist()
            == segments.rank(scores[weight]["retrieve"], offsets).tolist()
        )


@settings(max_examples=25, deadline=None)
@given(left_out=st.sets(st.integers(0, 5), max_size=5), seed=st.integers(0, 99))
def test_deleting_documents_changes_no_other_score_to_the_bit(inputs_of, left_out: set[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    bag = ["fee", "term", "years", "ends", "party", "law"]
    documents = [[" ".join(rng.choice(bag, 4)) for _ in range(rng.integers(1, 7))] for _ in range(6)]
    inputs = inputs_of(documents, CRITERIA, dimensions=64)
    retriever = Retriever().fit(inputs)
    kept = np.array([i for i in range(6) if i not in left_out])
    whole, part = retriever.inputs_with(inputs).take(kept), retriever.inputs_with(inputs.take(kept))
    for name in ("bm25", "dense", "retrieve"):
        assert whole.scores[name].tobytes() == part.scores[name].tobytes()
    assert whole.pool.tolist() == part.pool.tolist()


def test_what_was_learned_survives_a_folder(inputs_of, tmp_path) -> None:
    inputs = inputs_of(DOCUMENTS, CRITERIA)
    retriever = Retriever().fit(inputs)
    retriever.save(tmp_path)
    again = Retriever().load(tmp_path)
    assert retriever.state() == again.state() == json.loads((tmp_path / "retrieve.json").read_text())
    assert retriever.score(inputs).rank.tobytes() == again.score(inputs).rank.tobytes()


def test_a_folder_without_statistics_is_named(tmp_path) -> None:
    with pytest.raises(ModelError, match=r"retrieve\.json"):
        Retriever().load(tmp_path)


def test_the_gold_of_train_is_not_looked_at(inputs_of) -> None:
    inputs = inputs_of(DOCUMENTS, CRITERIA)
    gold = replace(inputs, view=replace(inputs.view, gold=np.ones(inputs.view.n_rows, dtype=bool)))
    assert Retriever().fit(inputs).state() == Retriever().fit(gold).state()


def test_a_view_without_queries_gives_no_rows(inputs_of) -> None:
    inputs = inputs_of(DOCUMENTS, CRITERIA)
    empty = replace(inputs, view=inputs.view.take_queries(np.array([], dtype=np.int64)))
    assert len(Retriever().fit(inputs).score(replace(empty, criterion_vectors=empty.criterion_vectors[:0])).rank) == 0


@pytest.mark.cuad
def test_words_alone_find_a_quarter_more_than_tf_idf_on_contracts(inputs_of, cuad_path) -> None:
    """TF-IDF reaches an nDCG@10 of .464 here."""
    corpus = Corpus.read(cuad_path)
    view = corpus.view(corpus.documents["doc_id"].to_list(), Role.TRAIN, gold=True)
    flat = np.ones((len(view.texts), 1), dtype=np.float32), np.ones((len(view.criterion_ids), 1), dtype=np.float32)
    inputs = Inputs(view=view, sentence_vectors=flat[0], criterion_vectors=flat[1])
    rank = segments.rank(Retriever(RetrieveSettings(method="bm25")).fit(inputs).score(inputs).rank, view.offsets)
    query, gain = view.query[view.gold], np.where(rank <= 10, 1 / np.log2(rank + 1.0), 0)[view.gold]
    sizes = np.minimum(np.bincount(query, minlength=view.n_queries), 10)
    ideal = np.r_[0, np.cumsum(1 / np.log2(np.arange(2, 12)))][sizes]
    found = np.bincount(query, gain, minlength=view.n_queries)[sizes > 0] / ideal[sizes > 0]
    assert found.mean() > 0.57
