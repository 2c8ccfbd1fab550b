"""Where one sentence ends and the next begins, on the cases that splitters fall over."""

from __future__ import annotations

import time

import pytest

from probative.data.sentences import cut, split

CASES = {
    "titles and times": ["Dr. X saw me at 3 p.m. yesterday.", "I left."],
    "decimals": ["It was 3.5 mg.", "Then 2.25."],
    "Latin abbreviations": ["I tried e.g. sport, i.e. running.", "No use."],
    "dots that trail off": ["I don't know... maybe I should.", "Bye."],
    "an ellipsis character": ["Wait… what?", "Yes!"],
    "a quotation of sentences": ['He said "No way. Stop."', "Then he left."],
    "curly quotation marks": ["“I am sad.” she said.", "‘Go away.’", "Done."],
    "initials": ["J. K. Rowling wrote it.", "I read it."],
    "degrees and states": ["She has a Ph.D. in maths.", "The U.S. Army came."],
    "web addresses": ["See https://a.example.com/x.y?z=1.", "It works."],
    "file names and versions": ["v2.0.1 is out.", "Open file.txt now."],
    "a missing space": ["I feel empty.", "Nothing helps."],
    "marks in a row": ["Is this it?!", "I can't believe it!!!", "no"],
    "lower case throughout": ["i cant sleep.", "i cant eat.", "im done"],
    "a sentence in brackets": ["(He left.)", "She stayed."],
    "numbered points": ["1. First item.", "2. Second item."],
    "emoji": ["Hello 😀.", "I am é happy.", "😀😀 Bye."],
    "months": ["I was born in Jan. 1990.", "ok"],
}


@pytest.mark.parametrize("name", CASES)
def test_a_tricky_text_is_cut_where_a_reader_would(name: str) -> None:
    joint = "" if name == "a missing space" else " "
    text = joint.join(CASES[name])

    assert [text[start:end] for start, end in split(text)] == CASES[name]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("First para.\n\nSecond para", ["First para.", "Second para"]),
        ("one line\nthe same sentence.", ["one line\nthe same sentence."]),
        ("- a\n- b", ["- a", "- b"]),
        ("  Me too.  \r\n Next. ", ["Me too.", "Next."]),
        ("***\nText. ***", ["***\nText. ***"]),
        ("!!!", ["!!!"]),
        (" \n ", []),
    ],
)
def test_lines_paragraphs_and_bare_marks(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in split(text)] == sentences


def test_a_language_without_rules_of_its_own_is_still_cut() -> None:
    assert len(split("Ja. Nein.", "xx")) == 2


def test_the_table_numbers_sentences_and_points_into_the_text() -> None:
    frame = cut(["d1", "d2"], ["Oh no. Yes.", "Hm."], "en")

    assert frame.select("doc_id", "sent_idx", "sent_uid", "text", "start", "end").rows() == [
        ("d1", 0, "d1_0", "Oh no.", 0, 6),
        ("d1", 1, "d1_1", "Yes.", 7, 11),
        ("d2", 0, "d2_0", "Hm.", 0, 3),
    ]


def test_a_long_document_takes_no_longer_a_sentence() -> None:
    text = "This is one more sentence of a very long document. " * 20_000

    begin = time.perf_counter()
    found = split(text)

    assert len(found) == 20_000
    assert time.perf_counter() - begin < 5
