"""Words and word pairs, counted on TRAIN alone."""

from __future__ import annotations

import numpy as np
import pytest

from probative.rerank.grams import TOKEN, Lexicon, grams, word_count


def test_a_text_of_three_words_has_three_words_and_two_pairs() -> None:
    assert len(grams("One two THREE.")) == 5
    assert word_count("One two THREE.") == 3


@pytest.mark.parametrize("text", ["", "…"])
def test_a_text_without_words_has_no_grams(text: str) -> None:
    assert len(grams(text)) == 0
    assert word_count(text) == 0


def test_scripts_without_spaces_are_read_by_character() -> None:
    assert TOKEN.findall("契約は2年") == ["契", "約", "は", "2", "年"]


def test_rare_terms_are_left_out() -> None:
    lexicon = Lexicon.fit(["red apple", "red brick", "red apple"], min_count=2, max_terms=10)
    assert len(lexicon.terms) == 3  # red, apple, "red apple"
    assert lexicon.transform(["brick"]).nnz == 0


def test_the_most_frequent_terms_stay_when_there_are_too_many() -> None:
    lexicon = Lexicon.fit(["red apple", "red brick"], min_count=1, max_terms=1)
    assert lexicon.terms.tolist() == [grams("red")[0]]


def test_rows_have_unit_length_and_rarer_terms_weigh_more() -> None:
    lexicon = Lexicon.fit(["red apple", "red", "red"], min_count=1, max_terms=10)
    row = lexicon.transform(["red apple"]).toarray()[0]
    assert np.linalg.norm(row) == pytest.approx(1)
    weight = dict(zip(lexicon.terms.tolist(), row.tolist(), strict=True))
    assert weight[grams("apple")[0]] > weight[grams("red")[0]]


def test_an_empty_lexicon_gives_rows_without_columns() -> None:
    assert Lexicon.fit([], min_count=1, max_terms=5).transform(["red"]).shape == (1, 0)
