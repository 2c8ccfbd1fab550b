"""New documents are read from many places; what cannot be read is named, never dropped in silence."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from probative import DataError
from probative.data import Corpus
from probative.pipeline import reading
from probative.pipeline.documents import NewDocument, Unreadable
from probative.pipeline.reading import read, unique

TWO = [NewDocument(doc_id="a", text="One. Two."), NewDocument(doc_id="b", text="")]


def test_a_folder_of_text_files_is_one_document_a_file(tmp_path: Path) -> None:
    (tmp_path / "ward").mkdir()
    (tmp_path / "b.TXT").write_text("Two.")
    (tmp_path / "ward" / "a.txt").write_text("One.")
    (tmp_path / "bad.txt").write_bytes(b"caf\xe9")
    (tmp_path / "scan.pdf").write_bytes(b"%PDF")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "c.txt").write_text("x")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    two, bad, gone, scan, one = read(tmp_path)
    assert isinstance(gone, Unreadable)
    assert NewDocument(doc_id="b", text="Two.") == two
    assert NewDocument(doc_id="ward/a", text="One.") == one
    assert isinstance(bad, Unreadable)
    assert "UTF-8" in bad.reason
    assert Unreadable(where="scan.pdf", reason="is not a .txt file; save its text as UTF-8 in one") == scan


def test_a_text_keeps_its_line_ends_so_that_offsets_count_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfOne.\r\nTwo.\rThree.\x00")
    assert [NewDocument(doc_id="a", text="One.\r\nTwo.\rThree.\x00")] == list(read(tmp_path / "a.txt"))


def test_a_file_name_that_is_no_text_is_set_aside(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"\xff.txt")).write_text("One.")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    (row,) = read(tmp_path)
    assert isinstance(row, Unreadable)
    assert "doc_id is not UTF-8" in row.reason


@pytest.mark.parametrize("end", ["jsonl", "csv", "parquet"])
def test_tables_of_documents_read_alike(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"documents.{end}"
    frame = pl.DataFrame({"post_id": ["a", "b"], "text": ["One. Two.", ""]})
    {"jsonl": frame.write_ndjson, "csv": frame.write_csv, "parquet": frame.write_parquet}[end](path)
    assert list(read(path)) == TWO


def test_a_parquet_file_is_read_in_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SLICE", 3)
    pl.DataFrame({"doc_id": [f"d{i}" for i in range(7)], "text": ["One."] * 7}).write_parquet(tmp_path / "new.parquet")
    assert [f"d{i}" for i in range(7)] == [row.doc_id for row in read(tmp_path / "new.parquet")]  # type: ignore[union-attr]


def test_bad_lines_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "new.jsonl"
    lines = [b'{"doc_id": "a", "text": "One."}', b"{broken", b"", b"[" * 100_000, b"\xff", b'{"doc_id": "f"}']
    path.write_bytes(b"\n".join(lines))
    first, *rest = read(path)
    assert NewDocument(doc_id="a", text="One.") == first
    where = ["new.jsonl, line 2", "new.jsonl, line 4", "new.jsonl, line 5", "new.jsonl, line 6 ('f')"]
    assert where == [row.where for row in rest if isinstance(row, Unreadable)]


def test_bad_lines_of_a_csv_are_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    path.write_bytes(b'doc_id,text\na,One.\nb\nc,Two,Three\nd,caf\xe9\ne,"Five,\nsix."\n')
    rows = list(read(path))
    assert [NewDocument, Unreadable, Unreadable, Unreadable, NewDocument] == [type(row) for row in rows]
    assert NewDocument(doc_id="e", text="Five,\nsix.") == rows[-1]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_are_found_in_the_header(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "new.csv"
    path.write_text(f"doc_id{separator}text\na{separator}One, two.\n", encoding="utf-8-sig")
    assert [NewDocument(doc_id="a", text="One, two.")] == list(read(path))


def test_a_corpus_brings_its_sentences_and_its_questions(corpus: Corpus, tmp_path: Path) -> None:
    rows = list(read(corpus.write(tmp_path / "corpus")))
    assert list(corpus.doc_ids) == [row.doc_id for row in rows if isinstance(row, NewDocument)]
    first = next(row for row in rows if isinstance(row, NewDocument))
    mine = corpus.sentences.filter(pl.col("doc_id") == first.doc_id)
    assert tuple(mine.select("sent_uid", "text").iter_rows()) == first.sentences
    assert corpus.criteria.height == len(first.criteria or ())


def test_a_corpus_of_documents_alone_leaves_the_questions_to_the_model(tmp_path: Path) -> None:
    pl.DataFrame({"doc_id": ["a"], "text": ["One. Two."]}).write_csv(tmp_path / "documents.csv")
    assert [NewDocument(doc_id="a", sentences=(("a_0", "One."), ("a_1", "Two.")), spans=((0, 4), (5, 9)))] == list(
        read(tmp_path)
    )


def test_a_quotation_mark_left_open_swallows_no_documents_in_silence(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('doc_id,text\na,One. Two.\nopen,"Never closed\nlost,Gone.\n')
    one, open_ = read(tmp_path / "a.csv")
    assert TWO[0] == one
    assert isinstance(open_, Unreadable)
    assert ("a.csv, line 3", True) == (open_.where, "nothing behind it" in open_.reason)


def test_letters_behind_a_closed_quotation_mark_are_set_aside(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('doc_id,text\nodd,"One" or two\na,One. Two.\n')
    odd, one = read(tmp_path / "a.csv")
    assert isinstance(odd, Unreadable)
    assert TWO[0] == one


def test_rows_of_parquet_count_from_1(tmp_path: Path) -> None:
    pl.DataFrame({"doc_id": ["a", "b"], "text": ["One.", None]}).write_parquet(tmp_path / "a.parquet")
    assert [Unreadable(where="a.parquet, row 2 ('b')", reason="has no text")] == list(read(tmp_path / "a.parquet"))[1:]


def test_a_second_document_of_the_same_id_is_set_aside() -> None:
    rows = list(unique([*TWO, TWO[0]]))
    assert rows[2] == Unreadable(where="a", reason="a document of this id was read before")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("new.csv", "name,body2\n"),
        ("new.csv", "doc_id,words\n"),
        ("new.docx", ""),
        ("new.parquet", "x"),
        ("none", None),
    ],
)
def test_what_holds_no_documents_is_one_clear_error(tmp_path: Path, name: str, content: str | None) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=name):
        list(read(tmp_path / name))


def test_a_folder_without_documents_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "scan.pdf").write_bytes(b"%PDF")
    with pytest.raises(DataError, match=r"neither \.txt files nor a corpus"):
        list(read(tmp_path))
