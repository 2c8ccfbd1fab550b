from __future__ import annotations

from probative.retrieve.words import words


def test_words_have_no_case_and_no_punctuation() -> None:
    assert words("The Term -- ends, 2024.") == ["the", "term", "ends", "2024"]


def test_case_is_folded_not_lowered() -> None:
    assert words("STRASSE") == words("Straße")


def test_a_prefix_joins_the_forms_of_a_word() -> None:
    assert words("terminate", 5) == words("Termination", 5) == ["termi"]


def test_scripts_without_spaces_are_cut_into_characters() -> None:
    assert words("契約abc") == ["契", "約", "abc"]


def test_emoji_alone_hold_no_word() -> None:
    assert words("🙂 …") == []
