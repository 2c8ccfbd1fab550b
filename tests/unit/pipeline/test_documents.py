"""New documents are read from many places; what cannot be read is named, never dropped in silence."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from probative import DataError
from probative.pipeline.documents import NewDocument, Unreadable, read, unique

TWO = [NewDocument(doc_id="a", text="One. Two."), NewDocument(doc_id="b", text="")]


def test_a_folder_of_text_files_is_one_document_a_file(tmp_path: Path) -> None:
    (tmp_path / "ward").mkdir()
    (tmp_path / "b.txt").write_text("Two.")
    (tmp_path / "ward" / "a.txt").write_text("One.")
    (tmp_path / "bad.txt").write_bytes(b"caf\xe9")
    rows = list(read(tmp_path))
    assert [NewDocument(doc_id="b", text="Two."), NewDocument(doc_id="ward/a", text="One.")] == [rows[0], rows[2]]
    assert isinstance(rows[1], Unreadable)
    assert "UTF-8" in rows[1].reason


@pytest.mark.parametrize("end", ["jsonl", "csv", "parquet"])
def test_tables_of_documents_read_alike(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"documents.{end}"
    frame = pl.DataFrame({"post_id": ["a", "b"], "text": ["One. Two.", ""]})
    {"jsonl": frame.write_ndjson, "csv": frame.write_csv, "parquet": frame.write_parquet}[end](path)
    assert list(read(path)) == TWO


def test_bad_lines_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "new.jsonl"
    lines = [b'{"doc_id": "a", "text": "One."}', b"{broken", b'{"text": "x"}', b'{"doc_id": "d", "text": 3}', b"\xff"]
    path.write_bytes(b"\n".join(lines))
    first, *rest = read(path)
    assert first == NewDocument(doc_id="a", text="One.")
    assert [row.where for row in rest] == [
        "new.jsonl, line 2",
        "new.jsonl, line 3",
        "new.jsonl, line 4 (d)",
        "new.jsonl, line 5",
    ]
    assert ["not JSON", "no doc_id", "must be a string", "UTF-8"] == [
        next(w for w in ("not JSON", "no doc_id", "must be a string", "UTF-8") if w in row.reason) for row in rest
    ]


def test_a_document_may_bring_sentences_and_its_own_questions(tmp_path: Path) -> None:
    path = tmp_path / "new.jsonl"
    sentences = ["One.", {"sent_uid": "s2", "text": "Two."}]
    path.write_text(json.dumps({"id": 7, "sentences": sentences, "criteria": [{"criterion_id": "q", "text": "Why?"}]}))
    expected = NewDocument(doc_id="7", sentences=(("7_0", "One."), ("s2", "Two.")), criteria=(("q", "Why?"),))
    assert [expected] == list(read(path))


def test_a_second_document_of_the_same_id_is_set_aside() -> None:
    rows = list(unique([*TWO, TWO[0]]))
    assert rows[2] == Unreadable(where="a", reason="a document of this id was read before")


def test_a_ragged_line_of_a_csv_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    path.write_text("doc_id,text\na,One.\nb\nc,Two,Three\n")
    assert [NewDocument, Unreadable, Unreadable] == [type(row) for row in read(path)]


@pytest.mark.parametrize(("name", "content"), [("new.csv", "name,body2\n"), ("new.docx", ""), ("none", None)])
def test_what_holds_no_documents_is_one_clear_error(tmp_path: Path, name: str, content: str | None) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=name):
        list(read(tmp_path / name))
