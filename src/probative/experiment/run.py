"""Folds times pipeline: from a corpus and settings to the tables of a run folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from probative import files
from probative.data import Corpus, folds
from probative.data.near import find_near_duplicates
from probative.encode import vectors_for
from probative.errors import DataError
from probative.experiment import run_tables
from probative.experiment.crew import Event, run_jobs
from probative.experiment.fold_job import FoldJob
from probative.experiment.progress import FoldProgress, Show
from probative.experiment.settings import RunSettings
from probative.experiment.workplace import claim, publish
from probative.settings import to_yaml
from probative.types import Role

Finish = Callable[[Path], None]
"""Adds to a finished result folder before it is published: evaluation, tables, report."""


def run_folds(
    corpus: Corpus,
    settings: RunSettings,
    out: Path,
    *,
    jobs: int,
    resume: bool,
    show: Show,
    finish: Finish,
) -> Path:
    """Run every fold in its own process, then write the run folder; an interrupted run resumes."""
    corpus = reduced(corpus, settings)
    check_usable(corpus)
    near = None
    if settings.folds.near_duplicates is not None:
        near = find_near_duplicates(corpus.sentences, settings.folds.near_duplicates)
        show(0.0, near.describe())
    table = folds.make_folds(corpus, settings.folds, settings.seed, near=near)
    with claim(out, to_yaml(settings), resume=resume) as work:
        snapshot = kept_corpus(corpus, work)
        table.write_parquet(work / "folds.parquet")
        encoding = encode(corpus, settings, show)
        done = _run_all(snapshot, table, settings, work, jobs, show)
        show(1.0, "write tables")
        with files.writing_folder(work / "result") as result:
            run_tables.write(result, corpus, table, settings, done, jobs=jobs, near=near, encoding=encoding)
            finish(result)
        publish(work / "result", out)
    return out


def encode(corpus: Corpus, settings: RunSettings, show: Show) -> dict[str, Any]:
    """Put every vector into the cache, once for all folds; how long it took."""
    show(0.0, "encode")
    batches: list[int] = []

    def told(done: int, of: int) -> None:
        batches.append(done)
        show(0.0, f"encode {done:,} of {of:,}")

    started = time.perf_counter()
    vectors_for(corpus.view(corpus.doc_ids, Role.NEW, gold=False), settings.encode, progress=told)
    return {
        "fold": None,
        "stage": "encode",
        "seconds": round(time.perf_counter() - started, 3),
        "cached": not batches,
    }


def kept_corpus(corpus: Corpus, work: Path) -> Path:
    """The corpus as the workers read it; a run that resumes must bring the same one."""
    mark = work / "fingerprint"
    if mark.exists() and mark.read_text() != corpus.fingerprint:
        raise DataError(
            f"{corpus.meta.name}: the corpus has changed since this run was interrupted (fingerprint "
            f"{corpus.fingerprint[:12]}, was {mark.read_text()[:12]}). Begin again in another folder with --out."
        )
    if not mark.exists():
        corpus.write(work / "corpus")
        files.write_text(mark, corpus.fingerprint)
    return work / "corpus"


def _run_all(
    snapshot: Path, table: pl.DataFrame, settings: RunSettings, work: Path, jobs: int, show: Show
) -> list[Path]:
    numbers = sorted(table["fold"].unique())
    paths = []
    for fold in numbers:
        job = FoldJob(
            fold=fold,
            corpus=str(snapshot),
            folds=str(work / "folds.parquet"),
            settings=settings.model_dump(mode="json"),
            cache=str(files.cache_root()),
            out=str(work / f"fold-{fold}"),
        )
        paths.append(job.write(work / f"fold-{fold}.json"))
    passes = settings.folds.inner_parts + 1 if settings.folds.scheme == "crossfit" else 1
    bar = FoldProgress(n_folds=len(numbers), stages_per_fold=passes * 4 + 1, show=show)

    def listen(event: Event) -> None:
        if event.kind == "stage":
            bar.stage(event.job, event.facts["stage"])
        elif event.kind == "left":
            bar.done(event.job)

    run_jobs(paths, at_once=jobs, threads=settings.threads, listen=listen)
    return [work / f"fold-{fold}" for fold in numbers]


def load_corpus(path: str | None) -> Corpus:
    """A corpus folder, or the demo corpus."""
    if path is not None and path != "demo":
        return Corpus.read(path)
    from probative.data.demo import demo_corpus

    return demo_corpus()


def reduced(corpus: Corpus, settings: RunSettings) -> Corpus:
    """The corpus with a seeded choice of its documents, where the settings ask for fewer."""
    if settings.documents is None or settings.documents >= len(corpus.doc_ids):
        return corpus
    order = sorted(corpus.doc_ids, key=lambda d: files.sha256_bytes(f"{settings.seed}/documents\0{d}".encode()))
    return only(corpus, order[: settings.documents])


def only(corpus: Corpus, doc_ids: Sequence[str]) -> Corpus:
    """The corpus with these documents alone."""
    kept = {
        n: t.filter(pl.col("doc_id").is_in(doc_ids)) if "doc_id" in t.columns else t for n, t in corpus.tables.items()
    }
    return Corpus(meta=corpus.meta, **kept)


def check_usable(corpus: Corpus) -> None:
    """Refuse what no model could learn from."""
    if corpus.gold.is_empty():
        raise DataError(
            f"{corpus.meta.name}: the corpus has no gold, so there is nothing to learn from or to evaluate against. "
            "Add a gold table (doc_id, criterion_id, sent_uid); `probative screen` decides on unlabelled documents."
        )
