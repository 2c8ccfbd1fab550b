"""Files of every dialect give the same table, or a problem with its row."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from probative.data.source import ROW
from probative.data.tables import read_table
from probative.errors import ConfigError

ROWS = [("d1", 'said "no", then;left'), ("d2", "first\nsecond"), ("d3", "café’s")]


def written(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def quoted(sep: str, end: str = "\n") -> str:
    cells = [("doc_id", "text"), *((a, '"' + b.replace('"', '""') + '"') for a, b in ROWS)]
    return "".join(f"{a}{sep}{b}{end}" for a, b in cells)


@pytest.mark.parametrize(
    ("sep", "end", "encoding", "told"),
    [
        (",", "\n", "utf-8", None),
        (",", "\r\n", "utf-8-sig", None),
        (";", "\r\n", "cp1252", "cp1252"),
        ("\t", "\n", "utf-16", None),
        ("|", "\n", "utf-8", None),
    ],
)
def test_every_dialect_gives_the_same_rows(tmp_path: Path, sep: str, end: str, encoding: str, told: str | None) -> None:
    reading = read_table(written(tmp_path / "t.csv", quoted(sep, end), encoding), encoding=told)

    assert reading.problems == []
    assert reading.table is not None
    assert reading.table.frame.select("doc_id", "text").rows() == ROWS
    assert reading.table.frame[ROW].to_list() == [2, 3, 4]


def test_what_was_sniffed_is_said(tmp_path: Path) -> None:
    notes = read_table(written(tmp_path / "t.csv", "a;b\n1;2\n")).notes
    plain = read_table(written(tmp_path / "u.csv", "a,b\n1,2\n")).notes
    said = read_table(written(tmp_path / "v.csv", "a;b\n1;2\n"), sep=";").notes

    assert notes == ["t.csv: columns are taken to be separated by semicolon"]
    assert (plain, said) == ([], [])


def test_blank_rows_are_skipped_and_counted(tmp_path: Path) -> None:
    reading = read_table(written(tmp_path / "t.csv", "a,b\n1,2\n\n,\n3,4\n"))

    assert reading.table is not None
    assert reading.table.frame.select("a", ROW).rows() == [("1", 2), ("3", 5)]
    assert reading.notes == ["t.csv: 2 blank rows skipped"]


def test_rows_of_the_wrong_length_are_all_named(tmp_path: Path) -> None:
    reading = read_table(written(tmp_path / "t.csv", "a,b\n1\n2,2\n3,3,3\n4,4\n"))

    assert [(p.code, p.row) for p in reading.problems] == [("ragged", 2), ("ragged", 4)]
    assert reading.table is not None
    assert reading.table.frame["a"].to_list() == ["2", "4"]


def test_a_very_long_field_next_to_an_empty_one_is_read(tmp_path: Path) -> None:
    reading = read_table(written(tmp_path / "t.csv", f"a,b\n{'x' * 300_000},\n"))

    assert reading.problems == []


def test_an_unknown_encoding_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cp1252"):
        read_table(written(tmp_path / "t.csv", "a\n1\n"), encoding="windoof")


def test_jsonl_rows_are_lines_even_with_blank_ones(tmp_path: Path) -> None:
    reading = read_table(written(tmp_path / "t.jsonl", '{"a": "1"}\n\n{"a": "[x]"}\n'))

    assert reading.table is not None
    assert reading.table.frame.select("a", ROW).rows() == [("1", 1), ("[x]", 3)]


@pytest.mark.parametrize("value", [[1], {"b": 1}, 7, 1.5, True])
def test_jsonl_values_keep_their_type_beside_text(tmp_path: Path, value: object) -> None:
    lines = "".join(json.dumps({"a": item}) + "\n" for item in ("text", value))

    reading = read_table(written(tmp_path / "t.jsonl", lines))

    assert reading.table is not None
    assert reading.table.frame["a"].to_list() == ["text", value]


def test_parquet_rows_count_from_1(tmp_path: Path) -> None:
    pl.DataFrame({"a": ["x", "y"]}).write_parquet(tmp_path / "t.parquet")

    table = read_table(tmp_path / "t.parquet").table

    assert table is not None
    assert table.frame[ROW].to_list() == [1, 2]


def test_spaces_around_column_names_do_not_count(tmp_path: Path) -> None:
    table = read_table(written(tmp_path / "t.csv", "a, b\n1, 2\n")).table

    assert table is not None
    assert table.columns == ["a", "b"]


def test_lines_that_end_in_carriage_returns_alone_are_lines(tmp_path: Path) -> None:
    table = read_table(written(tmp_path / "t.csv", "a,b\r1,2\r3,4\r")).table

    assert table is not None
    assert table.frame.select("a", "b").rows() == [("1", "2"), ("3", "4")]


@pytest.mark.parametrize("text", ['"a"x,b\n1,2\n', '"a,b\n1,2\n'])
def test_a_header_that_cannot_be_cut_is_told(tmp_path: Path, text: str) -> None:
    reading = read_table(written(tmp_path / "t.csv", text))

    assert reading.table is None
    assert [p.code for p in reading.problems] == ["bad-quotes"]


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2,",
        'a,b\n1,"2""',
        'a,b\n1,"2"x""\n',
        'a,b\n""x"",2\n',
        "a,b\n1,2\r3\n",
        'a,b\n1,"2\n',
    ],
)
def test_a_row_that_cannot_be_cut_is_told_and_never_mended(tmp_path: Path, text: str) -> None:
    problems = read_table(written(tmp_path / "t.csv", text)).problems

    assert {"bad-quotes", "ragged"} >= {problem.code for problem in problems} > set()


def test_a_lone_carriage_return_ends_a_row(tmp_path: Path) -> None:
    reading = read_table(written(tmp_path / "t.csv", "a,b\n1,2\r3,4\r\n"))

    assert reading.table is not None
    assert reading.table.frame.select("a", "b", ROW).rows() == [("1", "2", 2), ("3", "4", 3)]


@pytest.mark.parametrize("line", ['{"a": "\\ud83d b"}', '{"a": ' + "[" * 5000 + "]" * 5000 + "}"])
def test_json_that_no_table_can_hold_is_told(tmp_path: Path, line: str) -> None:
    problems = read_table(written(tmp_path / "t.jsonl", f'{{"a": "fine"}}\n{line}\n')).problems

    assert [("bad-line", 2)] == [(problem.code, problem.row) for problem in problems]


def test_both_halves_of_a_character_are_one(tmp_path: Path) -> None:
    reading = read_table(written(tmp_path / "t.jsonl", '{"a": "\\ud83d\\ude00"}\n'))

    assert reading.table is not None
    assert ["😀"] == reading.table.frame["a"].to_list()


@pytest.mark.parametrize(("start", "says"), [(b"PK\x03\x04", "spreadsheet"), (b"\x1f\x8b", "compressed")])
def test_a_file_that_is_no_text_is_called_what_it_is(tmp_path: Path, start: bytes, says: str) -> None:
    (tmp_path / "t.csv").write_bytes(start + b"\xb5")

    problem = read_table(tmp_path / "t.csv").problems[0]

    assert (problem.code, says in problem.what) == ("unreadable", True)
