from __future__ import annotations

from collections import Counter
from math import log

import numpy as np
import pytest

from probative.retrieve import bm25 as module
from probative.retrieve.bm25 import WordStatistics, bm25
from probative.retrieve.words import words


def statistics(**sentences_with: int) -> WordStatistics:
    return WordStatistics(prefix=0, n_sentences=4, mean_length=2.0, sentences_with=sentences_with)


def test_a_score_is_what_arithmetic_by_hand_gives(inputs_of) -> None:
    # "fee" stands in 1 of 4 sentences: ln(1 + 3.5/1.5). tf 2 of a sentence of 3 words, mean 2, k1 1.2, b .75:
    # norm = 1.2 (.25 + .75·1.5) = 1.65; 2·2.2 / (2 + 1.65).
    view = inputs_of([["fee fee due", "nothing here"]], ["fee"]).view
    expected = log(1 + 3.5 / 1.5) * 4.4 / 3.65
    assert [pytest.approx(expected), 0.0] == bm25(view, statistics(fee=1), 1.2, 0.75).tolist()


def plain(view, learned: WordStatistics, k1: float, b: float) -> list[float]:
    """The textbook's loop."""
    out = []
    for row in range(view.n_rows):
        said = words(view.texts[view.sentence[row]], learned.prefix)
        asked = words(view.criterion_texts[view.query_criterion[view.query[row]]], learned.prefix)
        counts, norm = Counter(said), k1 * (1 - b + b * len(said) / learned.mean_length)
        out.append(sum(learned.weight(w) * counts[w] * (k1 + 1) / (counts[w] + norm) for w in asked if w in counts))
    return out


@pytest.mark.parametrize("block", [1, 20, 1 << 22])
def test_the_vectorised_score_is_the_textbook_loop_at_any_block_size(inputs_of, monkeypatch, block: int) -> None:
    rng = np.random.default_rng(0)
    bag = [f"w{i}" for i in range(12)]
    documents = [[" ".join(rng.choice(bag, rng.integers(0, 9))) for _ in range(rng.integers(1, 6))] for _ in range(9)]
    criteria = [" ".join(rng.choice(bag, 3)) for _ in range(5)]
    queries = [(d, c) for d in range(9) for c in range(5) if rng.random() < 0.5 and d != 4]
    view = inputs_of(documents, criteria, queries).view
    learned = WordStatistics.of(view)
    monkeypatch.setattr(module, "BLOCK", block)
    np.testing.assert_allclose(plain(view, learned, 0.9, 0.4), bm25(view, learned, 0.9, 0.4), rtol=1e-5)


def test_each_criterion_may_be_asked_once(inputs_of) -> None:
    view = inputs_of([["red", "blue"], ["green", "red"]], ["red", "green"], [(0, 0), (1, 1)]).view
    scores = bm25(view, statistics(), 1.2, 0.75)
    assert (scores > 0).tolist() == [True, False, True, False]


def test_criteria_without_a_word_score_nothing(inputs_of) -> None:
    view = inputs_of([["red", ""]], ["…", "!"]).view
    assert bm25(view, statistics(), 1.2, 0.75).tolist() == [0.0] * 4


def test_words_of_fewer_than_three_documents_are_not_kept(inputs_of) -> None:
    view = inputs_of([["fee Miller"], ["fee Miller", "fee"], ["fee"]], ["fee"]).view
    learned = WordStatistics.of(view)
    assert learned.sentences_with == {"fee": 4}
    assert (learned.n_sentences, learned.mean_length) == (4, 1.5)


def test_a_rarer_word_weighs_more_and_no_weight_is_negative() -> None:
    learned = statistics(common=4, rare=1)
    assert 0 < learned.weight("common") < learned.weight("rare") < learned.weight("unseen")
