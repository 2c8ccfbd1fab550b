"""Decisions as JSON, as a table and as a spreadsheet."""

from __future__ import annotations

import csv
from pathlib import Path

from probative.pipeline.decision import Decision, Evidence, as_table, write_spreadsheet
from probative.types import State

FOUND = Decision(
    doc_id="=cmd()",
    criterion_id="A.1",
    probability=0.9,
    state=State.POS,
    predicted=True,
    evidence=(
        Evidence(sent_uid="s1", start=0, end=3, probability=0.8, text="+1 = 2"),
        Evidence(sent_uid="s2", start=None, end=None, probability=0.7, text="Schön, 睡不着"),
    ),
)
NOTHING = Decision(doc_id="b", criterion_id="A.1", probability=0.0, state=State.NEG, predicted=False, note="empty")


def test_the_words_of_a_document_are_left_out_unless_asked_for() -> None:
    place = {"sent_uid": "s1", "start": 0, "end": 3, "probability": 0.8}
    assert place == FOUND.to_dict()["evidence"][0]
    assert {**place, "text": "+1 = 2"} == FOUND.to_dict(show_text=True)["evidence"][0]
    assert FOUND.is_alert


def test_a_table_has_a_row_for_every_piece_of_evidence_and_one_where_there_is_none() -> None:
    table = as_table([FOUND, NOTHING])
    assert [1, 2, None] == table["rank"].to_list()
    assert ["POS", "POS", "NEG"] == table["state"].to_list()
    assert [None, None, "empty"] == table["note"].to_list()
    assert "sentence" not in as_table([FOUND], show_text=False).columns


def test_a_spreadsheet_computes_nothing(tmp_path: Path) -> None:
    path = write_spreadsheet([FOUND, NOTHING], tmp_path / "findings.csv")
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert ["'=cmd()", "'=cmd()", "b"] == [row["doc_id"] for row in rows]
    assert ["'+1 = 2", "Schön, 睡不着", ""] == [row["sentence"] for row in rows]
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
