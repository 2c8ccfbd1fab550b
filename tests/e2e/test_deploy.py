"""From a labelled corpus to a model folder to decisions about new documents, as a user does it."""

from __future__ import annotations

import json
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import probative.api
from probative import ConfigError, files
from probative.cli import app
from probative.data import Corpus, folds
from probative.data.demo import demo_corpus
from probative.experiment.fold_job import FoldJob, compute
from probative.experiment.run import only
from probative.experiment.settings import RunSettings, settle
from probative.pipeline import Pipeline, PipelineSettings, threads
from probative.pipeline.learn import learn
from probative.pipeline.screen import read_decisions, screen
from probative.types import Role

TINY = (
    "folds.n_folds=2",
    "rerank.lambdarank.rank_trees=5",
    "rerank.lambdarank.node_trees=5",
    "rerank.lambdarank.parts=2",
    "graph.learn.epochs=1",
    "graph.pool=8",
)
EXAMPLE = Path(__file__).parents[2] / "examples" / "folder_to_spreadsheet.py"
LETTERS = 160
KEYS = ["doc_id", "criterion_id"]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return demo_corpus(documents=30)


@pytest.fixture(scope="module")
def settings() -> RunSettings:
    return settle(assignments=TINY).settings


@pytest.fixture(scope="module")
def table(corpus: Corpus, settings: RunSettings) -> pl.DataFrame:
    return folds.make_folds(corpus, settings.folds, settings.seed)


@pytest.fixture(scope="module")
def rest(corpus: Corpus, table: pl.DataFrame) -> Corpus:
    """The documents that fold 0 of a run knows."""
    evaluated = folds.roles(table, 0)[Role.EVAL]
    return only(corpus, [doc_id for doc_id in corpus.doc_ids if doc_id not in evaluated])


@pytest.fixture(scope="module")
def place(rest: Corpus, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the labelled corpus, new letters, and a model made by the command."""
    base = tmp_path_factory.mktemp("place")
    rest.write(base / "corpus")
    (base / "letters").mkdir()
    texts = corpus.sentences["text"].to_list()
    for number in range(LETTERS):
        (base / "letters" / f"{number:03}.txt").write_text(" ".join(texts[2 * number : 2 * number + 2]))
    settings = [word for assignment in TINY for word in ("--set", assignment)]
    assert 0 == app.run(["fit", "--corpus", str(base / "corpus"), "-o", str(base / "model"), *settings])
    return base


@pytest.fixture(scope="module")
def screened(place: Path) -> Path:
    """The findings in the letters, made without disturbance."""
    arguments = ["screen", str(place / "model"), str(place / "letters"), "-o", str(place / "findings"), "--parquet"]
    assert 0 == app.run(arguments)
    return place / "findings"


def of_the_run(corpus: Corpus, table: pl.DataFrame, settings: RunSettings, folder: Path) -> pl.DataFrame:
    """What fold 0 of a run says about its EVAL documents."""
    table.write_parquet(folder / "folds.parquet")
    job = FoldJob(
        fold=0,
        corpus=str(corpus.write(folder / "corpus")),
        folds=str(folder / "folds.parquet"),
        settings=settings.model_dump(mode="json"),
        cache=str(files.cache_root()),
        out=str(folder / "fold"),
    )
    with threads.at_most(settings.threads):
        compute(job, lambda stage: None)
    return pl.read_parquet(folder / "fold" / "per_query.parquet")


def of_the_model(pipeline: Pipeline, corpus: Corpus, table: pl.DataFrame, folder: Path) -> pl.DataFrame:
    """What a model says when the same documents come as new ones."""
    evaluated = only(corpus, folds.roles(table, 0)[Role.EVAL])
    screen(pipeline, evaluated.write(folder / "new"), folder / "out")
    return pl.DataFrame(list(read_decisions(folder / "out")))


def test_what_is_fitted_is_what_was_evaluated_to_the_byte(
    corpus: Corpus, table: pl.DataFrame, settings: RunSettings, place: Path, tmp_path: Path
) -> None:
    """The models of fold 0 of a run, and its decisions about the fold's EVAL documents."""
    store = files.Store(files.cache_root() / "stages")
    with threads.at_most(settings.threads):
        _, scored = learn(corpus, table, 0, settings, store, lambda stage: None)
    for stage, folder in scored.models.items():
        for path in folder.iterdir():
            assert path.read_bytes() == (place / "model" / "stages" / stage / path.name).read_bytes(), path
    expected = of_the_run(corpus, table, settings, tmp_path)
    found = of_the_model(Pipeline.load(place / "model"), corpus, table, tmp_path)
    assert expected.select(KEYS).rows() == found.select(KEYS).rows()
    assert expected["prob"].to_list() == found["probability"].to_list()
    assert expected["state"].to_list() == found["state"].to_list()
    assert expected["predicted"].cast(bool).to_list() == found["predicted"].to_list()
    shown = [[item["sent_uid"] for item in evidence] for evidence in found["evidence"].to_list()]
    assert expected["selected_triage"].to_list() == shown


@pytest.mark.cuad
def test_contracts_are_decided_as_the_run_decided_them(cuad_path: Path, tmp_path: Path) -> None:
    """Four folds fitted, the fifth screened; in batches of other sizes, which may move the last bits."""
    whole = Corpus.read(cuad_path)
    corpus = only(whole, whole.doc_ids[:40])
    settings = settle(assignments=["rerank.kind=linear", "graph.on=false"]).settings
    table = folds.make_folds(corpus, settings.folds, settings.seed)
    known = only(corpus, [d for d in corpus.doc_ids if d not in folds.roles(table, 0)[Role.EVAL]])
    kept = settings.model_dump(mode="json", include=set(PipelineSettings.model_fields))
    pipeline = Pipeline.fit(known, PipelineSettings.model_validate(kept))
    expected = of_the_run(corpus, table, settings, tmp_path)
    found = of_the_model(pipeline, corpus, table, tmp_path).join(expected, on=KEYS, suffix="_of_the_run")
    assert expected.height == found.height
    assert found["prob"].to_list() == pytest.approx(found["probability"].to_list(), abs=1e-5)
    assert 0.999 <= (found["state"] == found["state_of_the_run"]).mean()


def test_thresholds_of_a_crossfitted_model_come_from_documents_out_of_fold(rest: Corpus) -> None:
    chosen = PipelineSettings.model_validate(
        {"folds": {"scheme": "crossfit", "inner_parts": 2}, "rerank": {"kind": "linear"}, "graph": {"on": False}}
    )
    pipeline = Pipeline.fit(rest, chosen)
    assert len(rest.doc_ids) == pipeline.facts["tune"]["n_documents"]


def test_a_guarantee_is_stated_on_the_card(rest: Corpus, tmp_path: Path) -> None:
    chosen = {"decide.triage.method": "guaranteed", "rerank.kind": "linear", "graph.on": False}
    made = probative.api.fit(rest, settle(flags=chosen).settings, tmp_path / "model")
    guarantee = Pipeline.load(made.folder).facts["decider"]["triage"]["guarantee"]
    assert f"**Guarantee:** {guarantee['reason']}" in (made.folder / "README.md").read_text()


def test_crossfit_with_a_guarantee_is_refused_while_settings_are_read() -> None:
    with pytest.raises(ConfigError, match=r"decide\.triage\.method.*holdout"):
        settle(assignments=["folds.scheme=crossfit", "decide.triage.method=guaranteed"])


def test_a_single_split_is_fitted_with_the_shares_it_was_evaluated_with(corpus: Corpus) -> None:
    chosen = settle(assignments=["folds.split=60/20/20"]).settings
    table = folds.make_folds(corpus, chosen.folds, chosen.seed)
    known = only(corpus, [d for d in corpus.doc_ids if d not in folds.roles(table, 0)[Role.EVAL]])
    deployed = folds.roles(folds.make_deployment(known, chosen.folds, chosen.seed), 0)
    assert {role: ids for role, ids in folds.roles(table, 0).items() if role != Role.EVAL} == {
        role: ids for role, ids in deployed.items() if role != Role.EVAL
    }


def test_an_existing_model_is_refused_before_anything_is_learned(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == app.run(["fit", "--corpus", "demo", "-o", str(place / "model")])
    assert "never overwritten" in capsys.readouterr().err


def test_the_findings_are_whole(screened: Path) -> None:
    names = {path.name for path in screened.iterdir()}
    assert {"decisions.jsonl", "decisions.parquet", "summary.json", "review.html"} == names
    assert list(read_decisions(screened)) == pl.read_parquet(screened / "decisions.parquet").to_dicts()


def test_evidence_stands_where_it_says(place: Path, screened: Path) -> None:
    texts = {path.stem: path.read_text() for path in (place / "letters").iterdir()}
    spans = [(d["doc_id"], e["start"], e["end"]) for d in read_decisions(screened) for e in d["evidence"]]
    assert spans
    assert all(texts[doc_id][start:end].strip() for doc_id, start, end in spans)


def test_unread_rows_give_exit_2_unless_allowed(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new.jsonl").write_text('{"doc_id": "a", "text": "I have not slept."}\n{broken\n')
    arguments = ["screen", str(place / "model"), str(tmp_path / "new.jsonl"), "--no-review", "--json", "-o"]
    assert 2 == app.run([*arguments, str(tmp_path / "one")])
    refused = capsys.readouterr()
    assert 0 == app.run([*arguments, str(tmp_path / "two"), "--allow-rejects"])
    allowed = capsys.readouterr()
    assert "rejects.jsonl" in refused.err
    assert 1 == json.loads(allowed.out)["rejected"]
    assert refused.out == allowed.out


def test_interrupted_then_killed_it_resumes_to_the_same_bytes(place: Path, screened: Path, tmp_path: Path) -> None:
    out = tmp_path / "findings"
    command = [sys.executable, "-m", "probative", "screen", str(place / "model"), str(place / "letters")]
    command += ["-o", str(out), "--parquet"]
    said = stopped(command, out, signal.SIGINT, rows=64)
    assert "interrupted" in said
    assert "Traceback" not in said
    stopped([*command, "--resume"], out, signal.SIGKILL, rows=128)
    subprocess.run([*command, "--resume"], check=True, capture_output=True)
    names = sorted(path.name for path in screened.iterdir())
    assert names == sorted(path.name for path in out.iterdir())
    assert all((screened / name).read_bytes() == (out / name).read_bytes() for name in names)


def stopped(command: list[str], out: Path, how: signal.Signals, *, rows: int) -> str:
    """Send a signal once that many rows are done; what was said on standard error."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    progress = out / ".progress.json"
    while process.poll() is None and not (progress.exists() and json.loads(progress.read_text())["rows"] >= rows):
        time.sleep(0.002)
    process.send_signal(how)
    _, said = process.communicate()
    assert process.returncode == (130 if how == signal.SIGINT else -how)
    return said


def test_no_vector_of_a_new_document_is_kept(place: Path, tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text('{"doc_id": "a", "text": "A sentence that nobody wrote before."}\n')
    before = sorted(files.cache_root().glob("vectors/*/*"))
    screen(Pipeline.load(place / "model"), tmp_path / "new.jsonl", tmp_path / "out")
    assert before == sorted(files.cache_root().glob("vectors/*/*"))


def test_the_example_makes_a_spreadsheet_of_findings(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "letters").symlink_to(place / "letters")
    (tmp_path / "model").symlink_to(place / "model")
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    rows = pl.read_csv(tmp_path / "findings.csv")
    assert {"doc_id", "criterion_id", "state", "probability", "sentence"} <= set(rows.columns)
    assert set(rows["state"]) <= {"POS", "UNCERTAIN"}
    lines = [line for line in EXAMPLE.read_text().split('"""')[-1].splitlines() if line.strip()]
    assert len(lines) <= 10
