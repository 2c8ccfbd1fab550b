# ruff: noqa: E501 - one corruption a line reads as the table it is
"""A good corpus is corrupted in one way at a time: exit code 2, and a message with file, row and remedy."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from probative.cli.app import run

FILES = {
    "corpus.toml": 'name = "good"\nexclude_from_training = ["K2"]\n',
    "sentences.csv": (
        "doc_id,sent_idx,sent_uid,text,start,end\n"
        'd1,0,d1_0,"I slept, badly.",0,15\n'
        "d1,1,d1_1,I ate well.,16,27\n"
        "d1,2,d1_2,I slept badly again.,28,48\n"
        "d2,0,d2_0,Nothing happened.,0,17\n"
        "d2,1,d2_1,Then I cried.,18,31\n"
    ),
    "criteria.csv": "criterion_id,text,name\nK1,Trouble sleeping?,Sleep\nK2,Trouble eating?,Appetite\n",
    "gold.csv": "doc_id,criterion_id,sent_uid\nd1,K1,d1_0\nd1,K1,d1_2\n",
    "rejected.csv": "doc_id,criterion_id,sent_uid\nd1,K2,d1_1\n",
    "pairs.csv": "doc_id,criterion_id,has_evidence\nd1,K1,1\nd1,K2,0\nd2,K1,0\n",
}
POSTS = {
    "documents.csv": 'doc_id,text\nd1,"I slept, badly. I ate well. Really. I ate well."\nd2,Nothing happened. Then I cried.\n',
    "criteria.csv": FILES["criteria.csv"],
    "corpus.toml": FILES["corpus.toml"],
}


@dataclass(frozen=True)
class Case:
    """One corruption and what its message must hold."""

    code: str
    file: str
    row: int | None
    says: str
    spoil: Callable[[Path], None]
    base: str = "sentences"


def swap(file: str, old: str, new: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        text = (folder / file).read_text(encoding="utf-8")
        assert text.count(old) == 1, "the corruption must hit exactly one place"
        (folder / file).write_text(text.replace(old, new), encoding="utf-8")

    return spoil


def add(file: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / file).write_text(
        (folder / file).read_text(encoding="utf-8") + text, encoding="utf-8"
    )


def put(file: str, data: bytes | str, instead_of: str | None = None) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        if instead_of:
            (folder / instead_of).unlink()
        (folder / file).write_bytes(data.encode() if isinstance(data, str) else data)

    return spoil


def parquet(name: str, **columns: list[object]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        (folder / f"{name}.csv").unlink()
        pl.DataFrame(columns, strict=False).write_parquet(folder / f"{name}.parquet")

    return spoil


def gold(text: str, header: str = "doc_id,criterion_id,quote") -> Callable[[Path], None]:
    return put("gold.csv", f"{header}\n{text}\n")


CASES = {
    "duplicate sentence uid": Case("duplicate-sent", "sentences.csv", 4, "stands already in row 3", swap("sentences.csv", "d1_2", "d1_1")),
    "missing sentence uid": Case("missing-id", "sentences.csv", 6, "sent_uid is empty", swap("sentences.csv", "d2_1", "")),
    "missing document id": Case("missing-id", "gold.csv", 3, "doc_id is empty", swap("gold.csv", "d1,K1,d1_2", ",K1,d1_2")),
    "gold for an unknown sentence": Case("unknown-sentence", "gold.csv", 3, "Closest match: 'd1_2'", swap("gold.csv", "d1_2", "d1-2")),
    "gold for another document's sentence": Case("other-document", "gold.csv", 3, "belongs to document 'd2'", swap("gold.csv", "d1_2", "d2_1")),
    "gold for an unknown document": Case("unknown-document", "gold.csv", 3, "'D1' is not in", swap("gold.csv", "d1,K1,d1_2", "D1,K1,d1_2")),
    "gold for an unknown criterion": Case("unknown-criterion", "gold.csv", 3, "Closest match: 'K1'", swap("gold.csv", "d1,K1,d1_2", "d1,k1,d1_2")),
    "duplicate gold row": Case("duplicate-row", "gold.csv", 4, "says the same as row 3", add("gold.csv", "d1,K1,d1_2\n")),
    "gold that names nothing": Case("no-place", "gold.csv", 4, "names no sentence", add("gold.csv", "d1,K1,\n")),
    "gold for an unlabelled pair": Case("unlabelled-pair", "gold.csv", 4, "not in pairs.csv", add("gold.csv", "d2,K2,d2_1\n")),
    "gold and rejected at once": Case("gold-and-rejected", "rejected.csv", 3, "gold in gold.csv, row 2", add("rejected.csv", "d1,K1,d1_0\n")),
    "evidence denied": Case("contradiction", "pairs.csv", 2, "gold.csv, row 2", swap("pairs.csv", "d1,K1,1", "d1,K1,0")),
    "has_evidence of 2": Case("wrong-type", "pairs.csv", 4, "has_evidence is '2'", swap("pairs.csv", "d2,K1,0", "d2,K1,2")),
    "has_evidence of NaN": Case("wrong-type", "pairs.csv", 4, "0, 1 or empty", swap("pairs.csv", "d2,K1,0", "d2,K1,NaN")),
    "duplicate pair": Case("duplicate-criterion", "pairs.csv", 5, "stands already in row 4", add("pairs.csv", "d2,K1,0\n")),
    "pair of an unknown document": Case("unknown-document", "pairs.csv", 5, "'d3' is not in", add("pairs.csv", "d3,K1,0\n")),
    "pair of an unknown criterion": Case("unknown-criterion", "pairs.csv", 5, "'Q9' is not in", add("pairs.csv", "d2,Q9,0\n")),
    "duplicate criterion": Case("duplicate-criterion", "criteria.csv", 4, "stands already in row 2", add("criteria.csv", "K1,Again?,Sleep\n")),
    "empty criterion": Case("empty-text", "criteria.csv", 3, "the text is empty", swap("criteria.csv", "Trouble eating?", " ")),
    "empty sentence": Case("empty-text", "sentences.csv", 3, "the text is empty", swap("sentences.csv", "I ate well.", "")),
    "sent_idx that is no number": Case("wrong-type", "sentences.csv", 6, "sent_idx is 'one'", swap("sentences.csv", "d2,1,", "d2,one,")),
    "sent_idx that leaps": Case("gap", "sentences.csv", 6, "follows 0", swap("sentences.csv", "d2,1,", "d2,3,")),
    "sent_idx that starts late": Case("gap", "sentences.csv", 7, "follows nothing", add("sentences.csv", "d3,5,d3_5,Hi.,0,3\n")),
    "sent_idx twice": Case("duplicate-sent_idx", "sentences.csv", 6, "stands already in row 5", swap("sentences.csv", "d2,1,", "d2,0,")),
    "sentence that ends before it starts": Case("bad-span", "sentences.csv", 3, "are no span", swap("sentences.csv", "16,27", "27,16")),
    "sentence without its end": Case("bad-span", "sentences.csv", 3, "leave both empty", swap("sentences.csv", "16,27", "16,")),
    "broken encoding": Case("encoding", "sentences.csv", 3, "byte 0xe9 is not UTF-8", put("sentences.csv", FILES["sentences.csv"].replace("ate", "ét").encode("cp1252"))),
    "row with a field too many": Case("ragged", "sentences.csv", 3, "has 7 fields, the header 6", swap("sentences.csv", "I ate well.", "I ate, well.")),
    "row with a field too few": Case("ragged", "gold.csv", 3, "has 2 fields, the header 3", swap("gold.csv", "d1,K1,d1_2", "d1,K1")),
    "quotation mark left open": Case("bad-quotes", "sentences.csv", 6, "cannot be cut into fields", swap("sentences.csv", "Then I cried.", '"Then" I cried.')),
    "column twice": Case("duplicate-column", "gold.csv", None, "more than once", swap("gold.csv", "criterion_id", "doc_id")),
    "column missing": Case("missing-column", "sentences.csv", None, "--map sentences.text=body", swap("sentences.csv", "text", "body")),
    "positions by halves": Case("missing-column", "sentences.csv", None, "both start and end", swap("sentences.csv", ",end\n", ",ende\n")),
    "criteria missing": Case("missing-table", "criteria.csv", None, "--map criteria=FILE", lambda f: (f / "criteria.csv").unlink()),
    "gold missing": Case("missing-table", "gold.csv", None, "--map gold=FILE", lambda f: (f / "gold.csv").unlink()),
    "sentences missing": Case("missing-table", "sentences.csv", None, "documents (doc_id, text)", lambda f: (f / "sentences.csv").unlink()),
    "empty file": Case("empty-table", "criteria.csv", None, "is empty", put("criteria.csv", "")),
    "header alone": Case("empty-table", "sentences.csv", None, "holds no rows", put("sentences.csv", "doc_id,sent_idx,sent_uid,text\n")),
    "table twice": Case("two-files", "gold.csv", None, "Remove all but one", put("gold.jsonl", '{"doc_id": "d1"}\n')),
    "bad TOML": Case("bad-toml", "corpus.toml", None, "line 1", put("corpus.toml", "name = good\n")),
    "TOML in another encoding": Case("encoding", "corpus.toml", None, "Save it as UTF-8", put("corpus.toml", 'name = "café"'.encode("cp1252"))),
    "TOML that is a folder": Case("unreadable", "corpus.toml", None, "cannot be read", lambda f: ((f / "corpus.toml").unlink(), (f / "corpus.toml").mkdir())[1]),
    "an id in another Unicode form": Case("unknown-document", "gold.csv", 2, "another Unicode form", lambda f: (put("documents.csv", "doc_id,text\ncafé,Then I cried.\n")(f), gold("cafe\u0301,K1,cried")(f))[0], "posts"),
    "no header": Case("no-header", "gold.csv", None, "empty line", put("gold.csv", "\n" + FILES["gold.csv"])),
    "unknown key": Case("unknown-key", "corpus.toml", None, "Did you mean 'licence'?", add("corpus.toml", 'license = "MIT"\n')),
    "key of the wrong type": Case("wrong-type", "corpus.toml", None, "synthetic = true", add("corpus.toml", 'synthetic = "yes"\n')),
    "exclusion of no criterion": Case("unknown-criterion", "corpus.toml", None, "names 'K7'", swap("corpus.toml", "K2", "K7")),
    "corrupt Parquet": Case("unreadable", "gold.parquet", None, "Export it again", put("gold.parquet", b"PAR1 no", instead_of="gold.csv")),
    "ids that became floats": Case("wrong-type", "gold.parquet", 1, "text or a whole number", parquet("gold", doc_id=["d1"], criterion_id=[1.0], sent_uid=["d1_0"])),
    "has_evidence that became NaN": Case("wrong-type", "pairs.parquet", 2, "has_evidence is nan", parquet("pairs", doc_id=["d1", "d2"], criterion_id=["K1", "K1"], has_evidence=[1.0, float("nan")])),
    "bad JSONL line": Case("bad-line", "gold.jsonl", 2, "is not valid JSON", put("gold.jsonl", '{"doc_id": "d1", "criterion_id": "K1", "sent_uid": "d1_0"}\n{"doc_id": \n', instead_of="gold.csv")),
    "JSONL line that is a list": Case("bad-line", "gold.jsonl", 2, "holds a list", put("gold.jsonl", '{"doc_id": "d1", "criterion_id": "K1", "sent_uid": "d1_0"}\n["d1"]\n', instead_of="gold.csv")),
    "JSONL list for an id": Case("wrong-type", "gold.jsonl", 2, "sent_uid is a list", put("gold.jsonl", '{"doc_id": "d1", "criterion_id": "K1", "sent_uid": "d1_0"}\n{"doc_id": "d1", "criterion_id": "K1", "sent_uid": ["d1_2"]}\n', instead_of="gold.csv")),
    "JSONL number for a text": Case("wrong-type", "criteria.jsonl", 2, "text is a int", put("criteria.jsonl", '{"criterion_id": "K1", "text": "Sleep?"}\n{"criterion_id": "K2", "text": 7}\n', instead_of="criteria.csv")),
    "span without positions": Case("no-positions", "gold.csv", 2, "no start and end", lambda f: (put("sentences.csv", FILES["sentences.csv"].replace(",start,end", "").replace(",0,15", "").replace(",16,27", "").replace(",28,48", "").replace(",0,17", "").replace(",18,31", ""))(f), gold("d1,K1,0,5", "doc_id,criterion_id,start,end")(f))[0]),
    "sentence and quote apart": Case("other-place", "gold.csv", 2, "is not where", gold("d1,K1,d1_0,I ate well.", "doc_id,criterion_id,sent_uid,quote")),
    "sentence and span apart": Case("other-place", "gold.csv", 2, "is not where", gold("d1,K1,d1_0,16,27", "doc_id,criterion_id,sent_uid,start,end")),
    "ambiguous quote": Case("ambiguous-quote", "gold.csv", 2, "stands 2 times in d1: d1_1, d1_3", gold("d1,K2,I ate well."), "posts"),
    "near-miss quote": Case("unmatched-quote", "gold.csv", 2, "Closest match: d2_1", gold("d2,K1,Then I tried."), "posts"),
    "quote in other capitals": Case("unmatched-quote", "gold.csv", 2, "when capitals are ignored", gold("d2,K1,then i cried"), "posts"),
    "quote of half a word": Case("unmatched-quote", "gold.csv", 2, "part of longer words", gold("d2,K1,noth".replace("noth", "appen")), "posts"),
    "quote of nothing like it": Case("unmatched-quote", "gold.csv", 2, "another document", gold("d2,K1,zzz qqq"), "posts"),
    "span outside the text": Case("span-outside", "gold.csv", 2, "which has 31 characters", gold("d2,K1,20,40", "doc_id,criterion_id,start,end"), "posts"),
    "span backwards": Case("bad-span", "gold.csv", 2, "is not before", gold("d2,K1,9,3", "doc_id,criterion_id,start,end"), "posts"),
    "span on white space": Case("empty-span", "gold.csv", 2, "touches no sentence", gold("d2,K1,17,18", "doc_id,criterion_id,start,end"), "posts"),
    "span that is not its quote": Case("span-mismatch", "gold.csv", 2, "is not the quote", gold("d2,K1,0,7,happened", "doc_id,criterion_id,start,end,quote"), "posts"),
    "duplicate document": Case("duplicate-doc", "documents.csv", 4, "stands already in row 2", lambda f: (gold("d2,K1,cried")(f), add("documents.csv", "d1,Again.\n")(f))[0], "posts"),
    "empty document": Case("empty-text", "documents.csv", 4, "the text is empty", lambda f: (gold("d2,K1,cried")(f), add("documents.csv", "d3,\n")(f))[0], "posts"),
    "texts in two places": Case("two-texts", "documents.csv", None, "Remove the text column", put("documents.csv", POSTS["documents.csv"])),
    "document without sentences": Case("no-sentences", "documents.csv", 4, "'d3' has no sentences", put("documents.csv", "doc_id,group\nd1,a\nd2,a\nd3,b\n")),
    "sentence of an unknown document": Case("unknown-document", "sentences.csv", 5, "'d2' is not in documents.csv", put("documents.csv", "doc_id,group\nd1,a\n")),
}  # fmt: skip


def lay(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return lay(tmp_path / "corpus", FILES)


def test_the_uncorrupted_corpora_are_valid(folder: Path, tmp_path: Path) -> None:
    posts = lay(tmp_path / "posts", POSTS | {"gold.csv": "doc_id,criterion_id,quote\nd2,K1,cried\n"})

    assert [run(["data", "validate", str(folder)]), run(["data", "validate", str(posts)])] == [0, 0]


@pytest.mark.parametrize("name", CASES)
def test_each_corruption_is_told_with_file_row_and_remedy(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    folder = lay(tmp_path / "corpus", POSTS if case.base == "posts" else FILES)
    case.spoil(folder)

    code = run(["data", "validate", str(folder), "--json"])

    found = json.loads(capsys.readouterr().out)["problems"]
    assert code == 2
    assert (case.code, case.file, case.row) in [(p["code"], p["file"], p["row"]) for p in found]
    problem = next(p for p in found if (p["code"], p["file"], p["row"]) == (case.code, case.file, case.row))
    assert case.says in f"{problem['what']} {problem['remedy']}"
    assert problem["remedy"]
    assert len(found) <= 4, "one mistake must not be told over and over"


def test_there_are_more_than_25_corruptions() -> None:
    assert len(CASES) > 25


def test_all_problems_come_in_one_pass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    swap("gold.csv", "d1_2", "nowhere")(folder)
    swap("criteria.csv", "Trouble eating?", "")(folder)
    swap("pairs.csv", "d2,K1,0", "d2,K1,7")(folder)
    add("corpus.toml", "colour = 1\n")(folder)

    run(["data", "validate", str(folder)])

    lines = capsys.readouterr().out.splitlines()
    assert {"corpus.toml", "gold.csv, row 3", "criteria.csv, row 3", "pairs.csv, row 4"} == {
        line.split(":")[0] for line in lines
    }


def test_a_fresh_process_ends_with_2_and_no_traceback(folder: Path) -> None:
    swap("gold.csv", "d1_2", "nowhere")(folder)

    ended = subprocess.run(
        [sys.executable, "-m", "probative", "data", "validate", str(folder)], capture_output=True, text=True
    )

    assert ended.returncode == 2
    assert ended.stdout.startswith("gold.csv, row 3: sentence 'nowhere' is not in the corpus.")
    assert "Traceback" not in ended.stderr
