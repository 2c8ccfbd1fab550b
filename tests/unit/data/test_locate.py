"""Spans and quotes become sentences; what is not certain is told, not guessed."""

from __future__ import annotations

import polars as pl
import pytest

from probative.data.locate import Located, locate
from probative.data.quotes import Page
from probative.data.sentences import cut

TEXT = "I slept badly. I ate well.\nThen\n I slept  badly again. I know nothing."
TEXTS = {"d1": TEXT}
SENTENCES = cut(["d1"], [TEXT], "en")


def find(**marks: object) -> Located:
    frame = pl.DataFrame({"__row": [2], "doc_id": ["d1"], "criterion_id": ["K"]} | {n: [v] for n, v in marks.items()})
    return locate("gold", "gold.csv", frame, SENTENCES, TEXTS)


def uids(found: Located) -> list[str]:
    assert found.problems == []
    return found.frame["sent_uid"].to_list()


def test_the_text_is_cut_as_the_cases_below_assume() -> None:
    assert SENTENCES["text"].to_list() == [
        "I slept badly.",
        "I ate well.",
        "Then\n I slept  badly again.",
        "I know nothing.",
    ]


def test_a_uid_is_taken_as_it_is() -> None:
    assert uids(find(sent_uid="anything")) == ["anything"]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 14, ["d1_0"]),
        (0, 15, ["d1_0"]),
        (13, 16, ["d1_0", "d1_1"]),
        (0, len(TEXT), ["d1_0", "d1_1", "d1_2", "d1_3"]),
    ],
)
def test_a_span_becomes_the_sentences_that_it_overlaps(start: int, end: int, expected: list[str]) -> None:
    assert uids(find(start=start, end=end)) == expected


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("I ate well.", ["d1_1"]),
        ("ate", ["d1_1"]),
        ("I slept badly again", ["d1_2"]),
        ("  I\tate \n well. ", ["d1_1"]),
        ("badly. I ate", ["d1_0", "d1_1"]),
        ("Then I slept badly again. I know", ["d1_2", "d1_3"]),
    ],
)
def test_a_quote_is_found_whatever_the_white_space(quote: str, expected: list[str]) -> None:
    assert uids(find(quote=quote)) == expected


@pytest.mark.parametrize(
    ("quote", "code", "says"),
    [
        ("I slept badly", "ambiguous-quote", "stands 2 times in d1: d1_0, d1_2"),
        ("no", "unmatched-quote", "only as a part of longer words"),
        ("i ate well", "unmatched-quote", "when capitals are ignored"),
        ("I ate-well", "unmatched-quote", "when all white space and punctuation is ignored"),
        ("I ate very well.", "unmatched-quote", "Closest match: d1_1"),
        ("The moon", "unmatched-quote", "another document"),
    ],
)
def test_an_uncertain_quote_is_told_with_a_remedy(quote: str, code: str, says: str) -> None:
    found = find(quote=quote)

    assert found.frame.height == 0
    assert [(p.code, p.file, p.row) for p in found.problems] == [(code, "gold.csv", 2)]
    assert says in str(found.problems[0])


def test_a_quote_that_repeats_inside_one_sentence_is_certain() -> None:
    page = Page(["a", "b"], ["he said he said", "she"], None, None)

    assert page.places("he said") == [("a",)]


def test_quotes_work_on_given_sentences_too() -> None:
    given = SENTENCES.drop("start", "end")
    marks = pl.DataFrame({"__row": [2], "doc_id": ["d1"], "criterion_id": ["K"], "quote": ["badly. I ate"]})

    assert uids(locate("gold", "gold.csv", marks, given, None)) == ["d1_0", "d1_1"]


def test_a_span_beside_its_quote_must_say_the_same() -> None:
    assert uids(find(start=15, end=26, quote="I  ate well.")) == ["d1_1"]
    assert [p.code for p in find(start=14, end=25, quote="I ate well.").problems] == ["span-mismatch"]


def test_long_quotes_are_shortened_in_messages() -> None:
    told = str(find(quote="word " * 50).problems[0])

    assert "…" in told
    assert len(told) < 200
