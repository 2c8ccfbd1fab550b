"""A search inside TRAIN: what it may see, that it can be shared and resumed, and what it writes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from probative.api import settle, tune
from probative.data import Corpus, folds
from probative.data.demo import demo_corpus
from probative.errors import ConfigError, NotInstalled
from probative.experiment import tune as tuning
from probative.experiment.settings import RunSettings
from probative.experiment.tune_objective import Inner
from probative.experiment.tune_space import SPACE, changed, present, space
from probative.settings import flatten, to_yaml
from probative.types import Role

SMALL = {
    "folds.n_folds": 2,
    "graph.on": False,
    "rerank.kind": "linear",
    "rerank.linear.iterations": 2,
    "rerank.lambdarank.parts": 2,
    "evaluate.bootstrap": 0,
}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return demo_corpus(documents=40)


@pytest.fixture(scope="module")
def settings() -> RunSettings:
    return settle(flags=SMALL).settings


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROBATIVE_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(tuning, "AGAIN", 2)
        yield Path()


@pytest.fixture(scope="module")
def out(corpus: Corpus, settings: RunSettings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tuned")
    tune(settings, corpus=corpus, out=folder, trials=2)
    return folder


def read(out: Path) -> dict[str, object]:
    return dict(json.loads((out / "tune.json").read_text()))


def test_only_train_and_stop_of_the_fold_are_there(corpus: Corpus, settings: RunSettings, out: Path) -> None:
    roles = folds.roles(folds.make_folds(corpus, settings.folds, settings.seed), 0)
    hidden = {*roles[Role.TUNE], *roles[Role.EVAL]}
    inner = Inner.of(corpus, settings, 0)
    assert sorted([*roles[Role.TRAIN], *roles[Role.STOP]]) == sorted(read(out)["documents"])  # type: ignore[call-overload]
    for table in inner.corpus.tables.values():
        if "doc_id" in table.columns:
            assert hidden.isdisjoint(table["doc_id"].to_list())


def test_gold_outside_train_changes_nothing(corpus: Corpus, settings: RunSettings, out: Path, tmp_path: Path) -> None:
    roles = folds.roles(folds.make_folds(corpus, settings.folds, settings.seed), 0)
    inside = [*roles[Role.TRAIN], *roles[Role.STOP]]
    keep = corpus.gold["doc_id"].is_in(inside)
    stripped = Corpus(meta=corpus.meta, **{**corpus.tables, "gold": corpus.gold.filter(keep)})
    found = tune(settings, corpus=stripped, out=tmp_path, trials=2)
    assert read(out)["history"] == found["history"]


def test_inner_parts_share_no_document(corpus: Corpus, settings: RunSettings) -> None:
    inner = Inner.of(corpus, settings, 0)
    for seed in (1, 2):
        table = inner.table(settings, seed)
        held = [folds.roles(table, fold)[Role.EVAL] for fold in range(inner.parts)]
        assert sorted(inner.corpus.doc_ids) == sorted(doc_id for part in held for doc_id in part)


def test_the_configuration_itself_is_the_first_trial(settings: RunSettings, out: Path) -> None:
    starts = [row for row in read(out)["again"] if row["is_start"]]  # type: ignore[attr-defined]
    assert [0] == [row["trial"] for row in starts]


def test_the_best_is_chosen_on_other_inner_seeds(settings: RunSettings, out: Path) -> None:
    found = read(out)
    again: list[dict[str, object]] = found["again"]  # type: ignore[assignment]
    assert max(row["mean"] for row in again) == found["best"]["mean"]  # type: ignore[index, type-var]
    assert all(settings.seed not in row["seeds"] for row in again)  # type: ignore[operator]
    assert all(len(row["values"]) == 2 for row in again)  # type: ignore[arg-type]


def test_it_resumes_to_the_number_of_trials_asked_for(corpus: Corpus, settings: RunSettings, tmp_path: Path) -> None:
    tune(settings, corpus=corpus, out=tmp_path, trials=1)
    with pytest.raises(ConfigError, match="--resume"):
        tune(settings, corpus=corpus, out=tmp_path, trials=3)
    found = tune(settings, corpus=corpus, out=tmp_path, trials=3, resume=True)
    assert [0, 1, 2] == [trial["number"] for trial in found["history"]]
    same = tune(settings, corpus=corpus, out=tmp_path, trials=3, resume=True)
    assert found["history"] == same["history"]


def test_another_configuration_does_not_resume_it(corpus: Corpus, settings: RunSettings, out: Path) -> None:
    other = settings.model_copy(update={"seed": 7})
    with pytest.raises(ConfigError, match="none of this configuration"):
        tune(other, corpus=corpus, out=out, trials=1, resume=True)


def test_two_processes_share_one_journal(corpus: Corpus, settings: RunSettings, tmp_path: Path) -> None:
    corpus.write(tmp_path / "corpus")
    (tmp_path / "config.yaml").write_text(to_yaml(settings))
    command = [sys.executable, "-m", "probative", "tune", "config.yaml", "--corpus", "corpus", "--trials", "4"]
    command += ["--storage", "journal.log", "--resume", "--json", "--out"]
    both = [
        subprocess.Popen([*command, name], cwd=tmp_path, stdout=subprocess.PIPE, text=True) for name in ("one", "two")
    ]
    for process in both:
        printed = json.loads(process.communicate()[0])
        assert 0 == process.returncode
        numbers = [trial["number"] for trial in printed["history"]]
        assert 4 <= len(numbers) <= 5
        assert len(set(numbers)) == len(numbers)
    assert read(tmp_path / "one")["study"] == read(tmp_path / "two")["study"]


def test_run_accepts_the_best(out: Path) -> None:
    resolved = settle(out / "best.yaml").settings
    chosen: dict[str, object] = read(out)["best"]["settings"]  # type: ignore[index]
    flat = flatten(resolved.model_dump(mode="json"))
    assert chosen == {name: flat[name] for name in chosen}


def test_a_database_serves_as_storage(corpus: Corpus, settings: RunSettings, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    found = tune(settings, corpus=corpus, out=tmp_path / "out", trials=1, storage=url)
    assert 1 == len(found["history"])


def test_without_optuna_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(NotInstalled, match=r"probative\[tune\]"):
        tuning._optuna()


def test_every_searched_name_is_a_setting() -> None:
    flat = flatten(RunSettings().model_dump(mode="json"))
    assert {one.name for one in SPACE} <= set(flat)


def test_what_is_switched_off_is_not_searched(settings: RunSettings) -> None:
    names = [one.name for one in space(settings)]
    assert not [name for name in names if name.startswith(("graph.", "rerank.lambdarank."))]
    assert "rerank.linear.vector_weight" in names


def test_the_default_configuration_lies_in_its_space() -> None:
    assert {one.name for one in space(RunSettings())} == set(present(RunSettings()))


def test_changed_settings_are_checked_again() -> None:
    assert 12 == changed(RunSettings(), {"graph.pool": 12}).graph.pool
    with pytest.raises(ValueError, match="greater than or equal"):
        changed(RunSettings(), {"graph.pool": 0})
