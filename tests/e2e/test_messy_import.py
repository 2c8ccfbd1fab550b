"""The guide's messy export becomes a valid corpus in one command; the transcript in the guide is what comes out."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

from probative.cli.app import run
from probative.data import Corpus

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "data.md"


def transcript(start: str) -> tuple[str, str]:
    """The command of the guide that starts like this, and its output as printed there."""
    block = re.search(rf"```console\n\$ ({re.escape(start)}[^\n]*)\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)
    assert block
    return block[1], block[2]


def call(command: str, folder: Path) -> tuple[int, str]:
    """Exit code and everything that a terminal would show, in its order."""
    arguments = [sys.executable, "-m", *shlex.split(command)]
    ended = subprocess.run(arguments, cwd=folder, stdout=PIPE, stderr=STDOUT, text=True, encoding="utf-8")
    return ended.returncode, ended.stdout


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """The files of the guide, in cp1252."""
    found = re.findall(r"`(export/\w+\.csv)`\n\n```text\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)
    assert len(found) == 4
    (tmp_path / "export").mkdir()
    for name, text in found:
        (tmp_path / name).write_bytes(text.encode("cp1252"))
    return tmp_path


def test_the_messy_export_becomes_a_valid_corpus_in_one_command(export: Path) -> None:
    command, printed = transcript("probative data import export")

    assert (0, printed) == call(command, export)
    assert run(["data", "validate", str(export / "corpus")]) == 0
    corpus = Corpus.read(export / "corpus")
    assert corpus.documents["patient"].to_list() == ["k1", "k1", "k2"]
    assert (corpus.gold.rows()) == [
        ("p1", "A4", "p1_0"),
        ("p3", "A3", "p3_1"),
        ("p3", "A3", "p3_2"),
        ("p3", "A4", "p3_0"),
        ("p3", "A4", "p3_1"),
    ]
    assert corpus.sentences["text"][1] == "Dr. X said 3.5 mg is fine… Nothing helps."


def test_the_worse_highlights_are_told_as_the_guide_prints_them(export: Path) -> None:
    command, printed = transcript("probative data validate export")

    assert (2, printed) == call(command, export)


def test_offsets_point_into_the_original_text(export: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(export)
    run(shlex.split(transcript("probative data import export")[0])[1:])

    sentences = Corpus.read(export / "corpus").sentences.filter(doc_id="p2")

    body = "My café is doing great! The team is lovely;\nwe opened a second one in Jan. 2024."
    assert [body[start:end] for start, end in sentences.select("start", "end").rows()] == sentences["text"].to_list()


def test_without_its_encoding_the_export_is_refused_with_the_remedy(
    export: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(export)
    command = transcript("probative data import export")[0].replace("--encoding cp1252 ", "")

    assert run(shlex.split(command)[1:]) == 2

    shown = capsys.readouterr().err
    assert "posts.csv, row 2: byte 0x92 is not UTF-8" in shown
    assert "--encoding cp1252" in shown
    assert not (export / "corpus").exists()
