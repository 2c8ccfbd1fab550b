"""Importing: nothing is lost, replaced or dropped in silence."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from probative.cli.app import run
from probative.data import Corpus
from probative.data.folder import parse_map
from probative.errors import ConfigError

GOOD = {
    "sentences.csv": "doc_id,sent_idx,sent_uid,text\nd1,0,a,One.\nd1,1,b,Two.\nd1,2,c,Three.\nd2,0,d,Four.\n",
    "criteria.csv": "criterion_id,text\nK,Why?\n",
    "gold.csv": "doc_id,criterion_id,sent_uid\nd1,K,c\n",
}


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    for name, text in GOOD.items():
        (tmp_path / "src" / name).write_text(text, encoding="utf-8")
    return tmp_path / "src"


def spoil(folder: Path, file: str, old: str, new: str) -> None:
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("to", ["parquet", "csv", "jsonl"])
def test_a_corpus_is_imported_in_any_format(source: Path, to: str) -> None:
    assert run(["data", "import", "src", "-o", "out", "--to", to]) == 0

    assert Corpus.read("out").fingerprint == Corpus.read(source).fingerprint
    assert Path("out", f"sentences.{to}").is_file()


def test_bad_rows_stop_an_import_and_nothing_is_written(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(source, "gold.csv", "d1,K,c", "d1,K,z")

    assert run(["data", "import", "src", "-o", "out"]) == 2

    assert capsys.readouterr().err.startswith("error: gold.csv, row 2: sentence 'z' is not in the corpus.")
    assert not Path("out").exists()


def test_dropped_rows_are_told_and_kept_aside(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(source, "sentences.csv", "d1,1,b,Two.", "d1,1,b,")
    spoil(source, "gold.csv", "d1,K,c\n", "d1,K,c\nd1,K,b\nd9,K,d\n")

    assert run(["data", "import", "src", "-o", "out", "--drop-invalid"]) == 0

    told = capsys.readouterr().err
    assert "dropped 3 rows (1 empty-text, 1 unknown-document, 1 unknown-sentence); they are listed in " in told
    kept = [json.loads(line) for line in Path("out", "dropped.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["file"], row["row"], row["code"]) for row in kept] == [
        ("sentences.csv", 3, "empty-text"),
        ("gold.csv", 4, "unknown-document"),
        ("gold.csv", 3, "unknown-sentence"),
    ]
    assert kept[1]["values"] == {"doc_id": "d9", "criterion_id": "K", "sent_uid": "d"}
    corpus = Corpus.read("out")
    assert corpus.sentences.filter(doc_id="d1").select("sent_idx", "sent_uid").rows() == [(0, "a"), (1, "c")]
    assert corpus.gold.rows() == [("d1", "K", "c")]


def test_rows_that_could_not_be_cut_into_fields_are_dropped_and_told(source: Path) -> None:
    spoil(source, "sentences.csv", "Two.", "Two, too.")

    assert run(["data", "import", "src", "-o", "out", "--drop-invalid"]) == 0

    kept = [json.loads(line) for line in Path("out", "dropped.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["row"], row["code"]) for row in kept] == [(3, "ragged"), (4, "gap")]
    assert Corpus.read("out").sentences["sent_idx"].to_list() == [0, 1, 0]


def test_numbers_written_by_halves_survive_a_dropping_import(source: Path) -> None:
    frame = pl.read_csv(source / "sentences.csv").with_columns(pl.col("sent_idx").cast(pl.Float64))
    frame.with_columns(text=pl.when(pl.col("sent_uid") != "b").then("text")).write_csv(source / "sentences.csv")

    assert run(["data", "import", "src", "-o", "out", "--drop-invalid"]) == 0

    kept = Corpus.read("out").sentences.select("doc_id", "sent_idx", "sent_uid").rows()
    assert [("d1", 0, "a"), ("d1", 1, "c"), ("d2", 0, "d")] == kept


def test_ids_of_mixed_types_do_not_stop_a_dropping_import(source: Path) -> None:
    frame = pl.read_csv(source / "sentences.csv").filter(pl.col("sent_uid") != "b")
    (source / "sentences.csv").unlink()
    odd = '{"doc_id": ["d1"], "sent_idx": 3, "sent_uid": "odd", "text": "Odd."}\n'
    (source / "sentences.jsonl").write_text(frame.write_ndjson() + odd)

    assert run(["data", "import", "src", "-o", "out", "--drop-invalid"]) == 0

    assert ["a", "c", "d"] == Corpus.read("out").sentences["sent_uid"].to_list()


def test_what_no_row_is_to_blame_for_still_stops_a_dropping_import(source: Path) -> None:
    (source / "criteria.csv").unlink()

    assert run(["data", "import", "src", "-o", "out", "--drop-invalid"]) == 2
    assert not Path("out").exists()


def test_a_clean_import_leaves_no_list_of_dropped_rows(source: Path) -> None:
    run(["data", "import", "src", "-o", "out", "--drop-invalid"])

    assert not Path("out", "dropped.jsonl").exists()


def test_an_earlier_corpus_is_replaced_but_other_files_are_not(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["data", "import", "src", "-o", "out"])
    assert run(["data", "import", "src", "-o", "out", "--to", "csv"]) == 0
    assert not Path("out", "gold.parquet").exists()

    Path("out", "thesis.docx").write_text("mine")
    assert run(["data", "import", "src", "-o", "out"]) == 2
    assert "thesis.docx" in capsys.readouterr().err
    assert Path("out", "thesis.docx").read_text() == "mine"


def test_the_source_is_never_overwritten(source: Path) -> None:
    assert run(["data", "import", "src", "-o", "src"]) == 2
    assert Path("src", "gold.csv").read_text(encoding="utf-8") == GOOD["gold.csv"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--map", "doc_id"], "must look like ours=theirs"),
        (["--map", "doc_id=a,doc_id=b"], "stands there twice"),
        (["--map", "dok_id=a"], "Did you mean 'doc_id'?"),
        (["--map", "gold.text=a"], "unknown name 'gold.text'"),
        (["--map", "text=body"], "no table has a column 'body'"),
        (["--map", "gold=golb.csv"], "Closest match: 'gold.csv'"),
        (["--sep", ";;"], "must be one character"),
        (["--encoding", "windoof"], "unknown encoding"),
        (["--format", "exel"], "Formats: tables"),
        (["--to", "xlsx"], "parquet, csv, jsonl"),
        (["--format", "cuad", "--map", "doc_id=a"], "belong to --format tables"),
    ],
)
def test_a_wrong_option_is_refused_with_its_remedy(
    arguments: list[str], says: str, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["data", "import", "src", "-o", "out", *arguments]) == 2
    assert says in capsys.readouterr().err
    assert not Path("out").exists()


def test_a_map_for_one_table_wins_over_one_for_all(source: Path) -> None:
    spoil(source, "gold.csv", "sent_uid", "uid")
    spoil(source, "sentences.csv", "sent_uid", "key")

    assert run(["data", "import", "src", "-o", "out", "--map", "sent_uid=key", "--map", "gold.sent_uid=uid"]) == 0


def test_maps_are_read_from_one_or_many_options() -> None:
    assert parse_map(["doc_id=a, text=b", "gold=c.csv"]) == {"doc_id": "a", "text": "b", "gold": "c.csv"}
    with pytest.raises(ConfigError):
        parse_map(["=b"])


def test_columns_that_nothing_uses_are_said(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(source, "gold.csv", "sent_uid\nd1,K,c", "sent_uid,annotator\nd1,K,c,x")

    assert run(["data", "import", "src", "-o", "out"]) == 0
    assert "gold.csv: columns not used: annotator" in capsys.readouterr().err


def test_documents_beside_sentences_keep_their_grouping_columns(source: Path) -> None:
    (source / "documents.csv").write_text("doc_id,patient,ward\nd2,p1,\nd1,p2,w\n", encoding="utf-8")

    run(["data", "import", "src", "-o", "out"])

    assert Corpus.read("out").documents.rows() == [("d1", "p2", "w"), ("d2", "p1", None)]


def test_documents_alone_are_enough_where_nothing_is_labelled(source: Path) -> None:
    for name in ("criteria.csv", "gold.csv"):
        (source / name).unlink()

    corpus = Corpus.read(source, labelled=False)

    assert (corpus.doc_ids, corpus.criteria.height, corpus.pairs.height) == (("d1", "d2"), 0, 0)


def test_grouping_columns_hold_one_value_each(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = '{"doc_id": "d1", "age": 7, "site": "a"}\n{"doc_id": "d2", "age": "old", "site": ["b"]}\n'
    (source / "documents.jsonl").write_text(lines, encoding="utf-8")

    assert run(["data", "validate", "src"]) == 2
    shown = capsys.readouterr().out
    assert shown.startswith("documents.jsonl, row 2: site is a list. Write one value")
    assert "age" not in shown


def test_letters_lost_to_a_wrong_encoding_are_mentioned(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(source, "sentences.csv", "Two.", "Caf\ufffd.")

    assert run(["data", "validate", "src"]) == 0
    assert "sentences.csv: 1 texts hold U+FFFD" in capsys.readouterr().err


def test_the_demo_is_written_and_valid(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [run(["data", "demo", "-o", "demo", "--documents", "20"]), run(["data", "validate", "demo"])] == [0, 0]
    assert Corpus.read("demo").meta.synthetic
    assert "written to demo" in capsys.readouterr().out
