"""The main job on a tiny synthetic corpus, as a user starts it: whole, repeatable, resumable, refused when hopeless."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import probative
from probative import ConfigError, DataError
from probative.data import Corpus
from probative.data.demo import demo_corpus
from probative.files import sha256_file

SMALL = (
    "folds.n_folds=2",
    "evaluate.bootstrap=200",
    "rerank.lambdarank.rank_trees=5",
    "rerank.lambdarank.node_trees=5",
    "rerank.lambdarank.parts=2",
    "graph.learn.epochs=1",
    "graph.pool=8",
)
SAME = ("per_query.csv", "metrics_master.json", "candidates.parquet", "tune_queries.parquet", "folds.parquet")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_corpus(documents=30).write(tmp_path_factory.mktemp("corpus") / "demo")


def command(corpus: Path, out: Path, *more: str) -> list[str]:
    settings = [word for assignment in SMALL for word in ("--set", assignment)]
    return [sys.executable, "-m", "probative", "run", "--corpus", str(corpus), "--out", str(out), *settings, *more]


def start(corpus: Path, out: Path, cache: Path, *more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PROBATIVE_CACHE": str(cache)}
    return subprocess.run(command(corpus, out, *more), env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def undisturbed(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("undisturbed")
    done = start(corpus, base / "run", base / "cache", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert str(base / "run") in done.stdout
    assert "synthetic" in done.stdout
    return base / "run"


def hashes(run: Path) -> dict[str, str]:
    return {name: sha256_file(run / name) for name in SAME}


def test_the_folder_is_whole_and_its_checksums_hold(undisturbed: Path) -> None:
    subprocess.run(["sha256sum", "--quiet", "-c", "checksums.txt"], cwd=undisturbed, check=True)
    assert not (undisturbed / ".work").exists()
    listed = {line.split("  ")[1] for line in (undisturbed / "checksums.txt").read_text().splitlines()}
    there = {p.relative_to(undisturbed).as_posix() for p in undisturbed.rglob("*") if p.is_file()}
    assert there == listed | {"checksums.txt"}


def test_two_jobs_and_a_cold_cache_give_the_same_bytes(corpus: Path, undisturbed: Path, tmp_path: Path) -> None:
    done = start(corpus, tmp_path / "run", tmp_path / "cache", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert hashes(undisturbed) == hashes(tmp_path / "run")


def test_killed_in_every_stage_it_resumes_to_the_same_bytes(corpus: Path, undisturbed: Path, tmp_path: Path) -> None:
    out, cache = tmp_path / "run", tmp_path / "cache"
    environment = {**os.environ, "PROBATIVE_CACHE": str(cache)}
    kills = 0
    for finished in range(12):
        resume = ["--resume"] if out.exists() else []
        process = subprocess.Popen(
            command(corpus, out, "--jobs", "1", *resume),
            env=environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
        )
        while process.poll() is None and stages_done(cache) <= finished:
            time.sleep(0.02)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
        if (out / "manifest.json").exists():
            break
    if not (out / "manifest.json").exists():
        done = start(corpus, out, cache, "--jobs", "1", "--resume")
        assert done.returncode == 0, done.stderr
    assert kills >= 6
    assert hashes(undisturbed) == hashes(out)


def stages_done(cache: Path) -> int:
    return sum(1 for _ in cache.glob("stages/*/*/seal.json"))


def test_a_changed_target_runs_no_model_again(corpus: Path, undisturbed: Path, tmp_path: Path) -> None:
    cache = undisturbed.parent / "cache"
    before = stages_done(cache)
    done = start(corpus, tmp_path / "run", cache, "--set", "decide.fpr_budget=0.1")
    assert done.returncode == 0, done.stderr
    assert before == stages_done(cache)


def test_a_changed_reranker_encodes_and_retrieves_nothing_again(
    corpus: Path, undisturbed: Path, tmp_path: Path
) -> None:
    cache = undisturbed.parent / "cache"
    vectors = sorted(cache.glob("vectors/*/*"))
    done = start(corpus, tmp_path / "run", cache, "--set", "rerank.lambdarank.leaves=7")
    assert done.returncode == 0, done.stderr
    assert vectors == sorted(cache.glob("vectors/*/*"))
    manifest = (tmp_path / "run" / "manifest.json").read_text()
    assert '"stage": "retrieve"' in manifest
    timings = [t for t in probative_timings(tmp_path / "run") if t["stage"] in ("encode", "retrieve", "linear")]
    assert timings[0]["stage"] == "encode"
    assert all(t["cached"] for t in timings)


def probative_timings(run: Path) -> list[dict[str, object]]:
    import json

    return list(json.loads((run / "manifest.json").read_text())["timings"])


def test_an_existing_folder_is_not_overwritten(corpus: Path, undisturbed: Path) -> None:
    done = start(corpus, undisturbed, undisturbed.parent / "cache")
    assert done.returncode == 2
    assert "--resume" in done.stderr
    assert "Traceback" not in done.stderr


def test_resume_refuses_another_configuration(corpus: Path, undisturbed: Path) -> None:
    done = start(corpus, undisturbed, undisturbed.parent / "cache", "--resume", "--seed", "7")
    assert done.returncode == 2
    assert "seed was 42" in done.stderr


def test_a_misspelt_setting_names_the_nearest_one(corpus: Path, tmp_path: Path) -> None:
    done = start(corpus, tmp_path / "run", tmp_path, "--set", "decide.fpr_buget=0.03")
    assert done.returncode == 2
    assert "Did you mean 'decide.fpr_budget'?" in done.stderr
    assert not (tmp_path / "run").exists()


def test_explain_says_where_each_value_comes_from(corpus: Path, tmp_path: Path) -> None:
    done = start(corpus, tmp_path / "run", tmp_path, "--explain")
    assert done.returncode == 0
    line = next(line for line in done.stdout.splitlines() if line.startswith("folds.n_folds"))
    assert line.endswith("# --set")


def test_a_corpus_without_gold_is_refused(tmp_path: Path) -> None:
    whole = demo_corpus(documents=12)
    empty = Corpus(
        meta=whole.meta,
        **{
            **whole.tables,
            "gold": whole.gold.clear(),
            "pairs": whole.pairs.with_columns(pl.lit(0, dtype=whole.pairs["has_evidence"].dtype).alias("has_evidence")),
        },
    )
    with pytest.raises(DataError, match="no gold"):
        probative.run(corpus=empty, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_fewer_documents_than_folds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be cut into 20 folds"):
        probative.run(corpus=demo_corpus(documents=12), out=tmp_path / "run", settings={"folds.n_folds": 20})
    assert not (tmp_path / "run").exists()


def test_impossible_values_are_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"decide\.fpr_budget.*less than 1"):
        probative.run(settings={"decide.fpr_budget": 2})
