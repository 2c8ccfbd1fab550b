"""A row becomes a document, or is named with the reason why not."""

from __future__ import annotations

from typing import Any

import pytest

from probative.pipeline.documents import NewDocument, Unreadable, from_mapping

QUESTION = {"criterion_id": "q", "text": "Why?"}


def test_a_document_may_bring_sentences_and_its_own_questions() -> None:
    sentences = ["One.", {"sent_uid": "s2", "text": "Two.", "start": 5, "end": 9}]
    expected = NewDocument(
        doc_id="7", sentences=(("7_0", "One."), ("s2", "Two.")), spans=(None, (5, 9)), criteria=(("q", "Why?"),)
    )
    assert expected == from_mapping({"id": 7, "sentences": sentences, "criteria": [QUESTION]}, "here")


def test_an_empty_text_is_a_document() -> None:
    assert NewDocument(doc_id="a", text="") == from_mapping({"doc_id": "a", "text": ""}, "here")


@pytest.mark.parametrize(
    ("reason", "row"),
    [
        ("not an object", ["a", "One."]),
        ("no doc_id", {"text": "One."}),
        ("no doc_id", {"doc_id": " ", "text": "One."}),
        ("no doc_id", {"doc_id": True, "text": "One."}),
        ("no doc_id", {"doc_id": 1.5, "text": "One."}),
        ("has no text", {"doc_id": "a"}),
        ("has no text", {"doc_id": "a", "text": None}),
        ("text must be a string, not int", {"doc_id": "a", "text": 3}),
        ("text is not UTF-8 text \\(character 3\\)", {"doc_id": "a", "text": "One\ud800."}),
        ("doc_id is not UTF-8", {"doc_id": "\udcff", "text": "One."}),
        ("must be lists", {"doc_id": "a", "sentences": "One."}),
        ("must be a string or an object", {"doc_id": "a", "sentences": [3]}),
        ("has no text of a sentence", {"doc_id": "a", "sentences": [{"sent_uid": "s"}]}),
        ("same sent_uid twice", {"doc_id": "a", "sentences": [{"sent_uid": "s", "text": "x"}] * 2}),
        ("must be lists", {"doc_id": "a", "text": "One.", "criteria": {"q": "Why?"}}),
        ("each of its criteria", {"doc_id": "a", "text": "One.", "criteria": ["Why?"]}),
        ("criteria are empty", {"doc_id": "a", "text": "One.", "criteria": []}),
        ("criteria are empty", {"doc_id": "a", "text": "One.", "criteria": [{"criterion_id": "q", "text": " "}]}),
        ("same criterion_id twice", {"doc_id": "a", "text": "One.", "criteria": [QUESTION, QUESTION]}),
    ],
)
def test_a_row_that_is_no_document_says_why(reason: str, row: Any) -> None:
    found = from_mapping(row, "new.jsonl, line 4")
    assert isinstance(found, Unreadable)
    assert found.where.startswith("new.jsonl, line 4")
    found.where.encode()
    with pytest.raises(ValueError, match=reason):
        raise ValueError(found.reason)
