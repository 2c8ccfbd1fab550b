"""A run folder is claimed by one process, refused when it holds something else, and whole when it has a manifest."""

from __future__ import annotations

from pathlib import Path

import pytest

from probative import ConfigError
from probative.errors import ProbativeError
from probative.experiment.workplace import claim, publish


def begin(out: Path) -> None:
    with claim(out, "seed: 1\n", resume=False) as work:
        (work / "half").write_text("kept")
        raise KeyboardInterrupt


def interrupted(out: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        begin(out)


def test_an_interrupted_run_is_only_continued_when_asked_to(tmp_path: Path) -> None:
    out = tmp_path / "run"
    interrupted(out)
    with pytest.raises(ConfigError, match="holds an interrupted run"):
        claim(out, "seed: 1\n", resume=False).__enter__()
    with claim(out, "seed: 1\n", resume=True) as work:
        assert (work / "half").read_text() == "kept"
    assert not work.exists()


def test_another_configuration_is_refused_by_name(tmp_path: Path) -> None:
    out = tmp_path / "run"
    interrupted(out)
    with pytest.raises(ConfigError, match="seed was 1 and is now 2"):
        claim(out, "seed: 2\n", resume=True).__enter__()


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with (
        claim(out, "seed: 1\n", resume=False),
        pytest.raises(ProbativeError, match="another process"),
        claim(out, "seed: 1\n", resume=True),
    ):
        pass


def test_other_files_are_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match="is not empty"):
        claim(tmp_path, "seed: 1\n", resume=False).__enter__()


def test_publishing_replaces_the_old_result_and_keeps_the_work(tmp_path: Path) -> None:
    out, result = tmp_path / "run", tmp_path / "run" / ".work" / "result"
    result.mkdir(parents=True)
    (out / "old.csv").write_text("old")
    (result / "manifest.json").write_text("{}")
    (result / "new.csv").write_text("new")
    publish(result, out)
    assert [".work", "manifest.json", "new.csv"] == sorted(p.name for p in out.iterdir())
