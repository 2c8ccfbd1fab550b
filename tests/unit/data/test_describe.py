"""What a corpus holds, in numbers that a reader can count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from probative.cli.app import run

FILES = {
    "corpus.toml": 'name = "tiny"\nversion = "2"\nsynthetic = true\nexclude_from_training = ["K2"]\n',
    "sentences.csv": "doc_id,sent_idx,sent_uid,text\nd1,0,a,One.\nd1,1,b,Two.\nd1,2,c,Three.\nd2,0,d,Four.\n",
    "criteria.csv": "criterion_id,text,name\nK1,Why?,Reason\nK2,When?,\n",
    "gold.csv": "doc_id,criterion_id,sent_uid\nd1,K1,a\nd1,K1,b\n",
    "rejected.csv": "doc_id,criterion_id,sent_uid\nd1,K2,c\n",
    "pairs.csv": "doc_id,criterion_id,has_evidence\nd1,K1,\nd1,K2,0\nd2,K1,1\n",
}


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path)


def test_every_count_is_right(corpus: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["data", "describe", corpus, "--json"]) == 0

    facts = json.loads(capsys.readouterr().out)
    counts = (
        "documents",
        "sentences",
        "criteria",
        "queries",
        "positive",
        "gold",
        "rejected",
        "unlocated",
        "unlabelled",
    )
    assert [facts[name] for name in counts] == [2, 4, 2, 3, 2, 2, 1, 1, 1]
    assert facts["positive_rate"] == pytest.approx(2 / 3)
    assert facts["candidates"] == 3 + 3 + 1
    assert facts["sentences_per_document"] == {"min": 1, "median": 2, "mean": 2, "max": 3}
    assert facts["by_criterion"] == [
        {
            "criterion_id": "K1",
            "name": "Reason",
            "queries": 2,
            "positive": 2,
            "unlocated": 1,
            "gold": 2,
            "rejected": 0,
            "positive_rate": 1.0,
        },
        {
            "criterion_id": "K2",
            "name": "K2",
            "queries": 1,
            "positive": 0,
            "unlocated": 0,
            "gold": 0,
            "rejected": 1,
            "positive_rate": 0.0,
        },
    ]


def test_the_text_says_the_same(corpus: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(["data", "describe", corpus])

    shown = capsys.readouterr().out
    assert shown.startswith("tiny 2 (synthetic: generated, not real data)\n")
    assert "2 documents, 2 criteria, 3 queries, 66.7 % positive (2)" in shown
    assert "2 gold rows, 1 rejected; 1 queries unlocated, 1 pairs unlabelled" in shown
    assert "excluded from training: K2" in shown


@pytest.mark.cuad
def test_cuad_is_described_as_it_is(cuad_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [run(["data", "describe", str(cuad_path)]), run(["data", "validate", str(cuad_path)])] == [0, 0]

    shown = capsys.readouterr().out
    assert "275 documents, 37 criteria, 10,175 queries, 16.7 % positive (1,699)" in shown
    assert "27,283 sentences, 5 to 200 a document" in shown
    assert shown.endswith(": no problems.\n")


@pytest.mark.cuad
def test_cuad_keeps_its_fingerprint_through_csv_and_jsonl(cuad_path: Path, tmp_path: Path) -> None:
    from probative.data import Corpus

    corpus = Corpus.read(cuad_path)
    copies = [Corpus.read(corpus.write(tmp_path / kind, kind)) for kind in ("csv", "jsonl")]

    assert {corpus.fingerprint} == {copy.fingerprint for copy in copies}
