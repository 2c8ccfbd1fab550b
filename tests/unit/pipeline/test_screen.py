"""Screening decides about every document once, whatever happens on the way, and names what it could not read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from probative import ConfigError, ProbativeError, files
from probative.pipeline import Pipeline, journal
from probative.pipeline import screen as screening
from probative.pipeline.screen import Screened, read_decisions, screen, write_parquet

TEXTS = {
    "a": "I have not slept for weeks. The bus was late.",
    "b": "",
    "c": "我已经好几个星期没睡了。公交车晚点了！",
    "d": "Everything is fine. I like cakes.",
    "e": "Nothing gives me joy any more! I eat nothing.",
    "f": "All is well. 😀",
    "g": "I feel guilty.",
}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screening, "BATCH_DOCUMENTS", 2)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Seven documents, a broken line and a second `a`."""
    rows = [json.dumps({"doc_id": d, "text": t}) for d, t in TEXTS.items()]
    path = tmp_path / "new.jsonl"
    path.write_text("\n".join([*rows[:3], "{broken", *rows[3:], rows[0]]))
    return path


@pytest.fixture
def whole(pipeline: Pipeline, source: Path, tmp_path: Path) -> Path:
    """The output of a screening that nobody disturbed."""
    return screen(pipeline, source, tmp_path / "whole").out


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_question_to_every_document_is_decided_in_order(pipeline: Pipeline, whole: Path) -> None:
    expected = [(doc_id, criterion_id) for doc_id in TEXTS for criterion_id, _ in pipeline.criteria]
    assert expected == [(d["doc_id"], d["criterion_id"]) for d in read_decisions(whole)]


def test_what_could_not_be_read_is_listed_and_counted(whole: Path) -> None:
    rejects = [json.loads(line) for line in (whole / "rejects.jsonl").read_text().splitlines()]
    assert ["new.jsonl, line 4", "a"] == [row["where"] for row in rejects]
    summary = json.loads((whole / "summary.json").read_text())
    assert (7, 1, 2) == (summary["documents"], summary["without_sentences"], summary["rejected"])


def test_nothing_but_the_results_is_left_behind(whole: Path) -> None:
    assert {"decisions.jsonl", "rejects.jsonl", "summary.json"} == set(contents(whole))


def test_the_words_of_documents_are_kept_only_when_asked_for(pipeline: Pipeline, source: Path, tmp_path: Path) -> None:
    shown = screen(pipeline, source, tmp_path / "shown", show_text=True).out
    hidden = screen(pipeline, source, tmp_path / "hidden").out
    assert "slept" in (shown / "decisions.jsonl").read_text()
    assert "slept" not in "".join(map(str, contents(hidden).values()))


class Stopped(Exception):
    """As if the machine had stopped here."""


@pytest.mark.parametrize("batch", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("where", ["answer", "append", "note"])
def test_stopped_anywhere_it_resumes_to_the_same_bytes(
    pipeline: Pipeline,
    source: Path,
    whole: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    batch: int,
    where: str,
) -> None:
    calls = iter(range(1, 100))

    def stopping(real: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            if next(calls) == batch + (where == "note"):
                raise Stopped
            return real(*given, **named)

        return call

    owner, name = {
        "answer": (Pipeline, "answer"), "append": (journal, "_append"), "note": (journal.Journal, "note"),
    }[where]  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, stopping(getattr(owner, name)))
        with pytest.raises(Stopped):
            screen(pipeline, source, tmp_path / "out")
    screen(pipeline, source, tmp_path / "out", resume=True)
    assert contents(whole) == contents(tmp_path / "out")


def test_stopped_while_finishing_it_finishes_again(pipeline: Pipeline, source: Path, tmp_path: Path) -> None:
    def fail(out: Path) -> None:
        raise Stopped

    finished: list[Path] = []
    with pytest.raises(Stopped):
        screen(pipeline, source, tmp_path / "out", finish=fail)
    screen(pipeline, source, tmp_path / "out", resume=True, finish=finished.append)
    assert [tmp_path / "out"] == finished


@pytest.fixture
def interrupted(pipeline: Pipeline, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    done = iter([False, False, True])

    def show(documents: int, label: str) -> None:
        if next(done):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        screen(pipeline, source, tmp_path / "out", show=show)
    return tmp_path / "out"


def test_an_interrupted_screening_is_not_begun_again_by_mistake(
    pipeline: Pipeline, source: Path, interrupted: Path
) -> None:
    with pytest.raises(ConfigError, match="--resume"):
        screen(pipeline, source, interrupted)


def test_other_options_are_not_mixed_into_an_interrupted_screening(
    pipeline: Pipeline, source: Path, interrupted: Path
) -> None:
    with pytest.raises(ConfigError, match="other options"):
        screen(pipeline, source, interrupted, resume=True, show_text=True)


def test_documents_that_changed_meanwhile_are_noticed(pipeline: Pipeline, source: Path, interrupted: Path) -> None:
    source.write_text(source.read_text().replace("bus", "train"))
    with pytest.raises(ConfigError, match="documents have changed"):
        screen(pipeline, source, interrupted, resume=True)


def test_a_shortened_file_is_noticed(pipeline: Pipeline, source: Path, interrupted: Path) -> None:
    (interrupted / "decisions.jsonl").write_text("")
    with pytest.raises(ConfigError, match="shorter than it was"):
        screen(pipeline, source, interrupted, resume=True)


def test_progress_that_cannot_be_read_is_noticed(pipeline: Pipeline, source: Path, interrupted: Path) -> None:
    (interrupted / ".progress.json").write_text("")
    with pytest.raises(ConfigError, match="begin again"):
        screen(pipeline, source, interrupted, resume=True)


def test_a_second_process_is_turned_away(pipeline: Pipeline, source: Path, tmp_path: Path) -> None:
    with files.lock(tmp_path / "out" / ".lock"), pytest.raises(ProbativeError, match="another process"):
        screen(pipeline, source, tmp_path / "out")


def test_a_folder_that_cannot_be_made_is_one_clear_error(pipeline: Pipeline, source: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be made"):
        screen(pipeline, source, source / "out")


def test_a_full_disk_is_one_clear_error(pipeline: Pipeline, source: Path, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".lock").touch()

    def fill(*given: Any) -> None:
        (tmp_path / "out" / "decisions.jsonl").unlink()
        (tmp_path / "out" / "decisions.jsonl").symlink_to("/dev/full")

    answer = Pipeline.answer
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pipeline, "answer", lambda self, documents: (fill(), answer(self, documents))[1])
        with pytest.raises(ProbativeError, match="--resume"):
            screen(pipeline, source, tmp_path / "out")


def test_a_finished_screening_is_not_overwritten(pipeline: Pipeline, source: Path, whole: Path) -> None:
    for resume in (False, True):
        with pytest.raises(ConfigError, match="not empty"):
            screen(pipeline, source, whole, resume=resume)


def test_what_a_kill_in_the_first_moment_leaves_is_no_hindrance(
    pipeline: Pipeline, source: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".lock").touch()
    (tmp_path / "out" / ".progress.json.x.part").touch()
    assert 7 == screen(pipeline, source, tmp_path / "out").done.documents


def test_the_output_may_not_lie_among_the_documents(pipeline: Pipeline, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One.")
    with pytest.raises(ConfigError, match="inside the folder"):
        screen(pipeline, tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_no_document_is_no_error(pipeline: Pipeline, tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text("")
    done = screen(pipeline, tmp_path / "new.jsonl", tmp_path / "out", finish=write_empty)
    assert (0, 0, None) == (done.done.documents, done.rejected, done.warning)
    assert [] == list(read_decisions(done.out))


def write_empty(out: Path) -> None:
    assert 0 == pl.read_parquet(write_parquet(out)).height


def test_parquet_says_what_jsonl_says(pipeline: Pipeline, source: Path, tmp_path: Path) -> None:
    done = screen(pipeline, source, tmp_path / "out", show_text=True, prevalence=0.02)
    rows = pl.read_parquet(write_parquet(done.out, show_text=True)).to_dicts()
    assert list(read_decisions(done.out)) == rows
    assert all(row["probability_at_prevalence"] <= row["probability"] for row in rows)


def test_documents_come_in_batches_that_memory_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screening, "BATCH_CHARACTERS", 10)
    documents = [screening.NewDocument(doc_id=str(n), text="x" * size) for n, size in enumerate([4, 20, 4, 4, 4])]
    rows = iter(documents)
    assert [2, 2, 1, 0] == [len(screening._batch(rows)) for _ in range(4)]


def test_progress_names_documents_and_rate(pipeline: Pipeline, source: Path, tmp_path: Path) -> None:
    said: list[str] = []
    done = screen(pipeline, source, tmp_path / "out", show=lambda n, label: said.append(label))
    assert said[-1].startswith("7 documents, ")
    assert said[-1].endswith("/s")
    assert done.sentence().startswith(f"7 documents, {7 * len(pipeline.criteria)} queries: ")
    assert "1 documents have no sentence" in done.sentence()
    assert "synthetic" in done.sentence()


def test_documents_unlike_those_of_training_are_said_to_be_so(pipeline: Pipeline, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("doc_id,text\n" + "".join(f"d{n},1 2 3\n" for n in range(120)))
    done: Screened = screen(pipeline, tmp_path / "new.csv", tmp_path / "out")
    assert done.warning is not None
    assert "guarantee assumes documents like those" in done.warning
    assert done.warning == done.summary()["warning"]


def test_memory_does_not_hold_the_source(pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_ahead: list[int] = []
    given = {"rows": 0}

    def rows(path: Path) -> Iterator[screening.Row]:
        for number in range(50):
            given["rows"] += 1
            yield screening.NewDocument(doc_id=str(number), text="One sentence.")

    monkeypatch.setattr(screening, "read", rows)
    screen(pipeline, tmp_path / "any", tmp_path / "out", show=lambda n, label: read_ahead.append(given["rows"] - n))
    assert max(read_ahead) <= 1
