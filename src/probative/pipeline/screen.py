"""Screening: decisions about many new documents, streamed, resumable, with what could not be read set aside."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from probative import files
from probative.errors import ConfigError
from probative.pipeline import drift, threads
from probative.pipeline.documents import NewDocument, Row, Unreadable
from probative.pipeline.journal import DECISIONS, Journal, Progress, claim
from probative.pipeline.pipeline import Pipeline
from probative.pipeline.prevalence import Prevalence
from probative.pipeline.questions import NO_QUESTION
from probative.pipeline.reading import read, unique

BATCH_DOCUMENTS = 64
BATCH_CHARACTERS = 400_000
SUMMARY = "summary.json"
SYNTHETIC = "\nThe model was fitted on synthetic text: these decisions show that the software works, nothing more."

Show = Callable[[int, str], None]
"""(documents done, label)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """What screening did."""

    out: Path
    done: Progress
    warning: str | None
    synthetic: bool
    seconds: float

    @property
    def rejected(self) -> int:
        return self.done.rejected

    def summary(self) -> dict[str, Any]:
        """What summary.json says."""
        return dict(json.loads((self.out / SUMMARY).read_text(encoding="utf-8")))

    def sentence(self) -> str:
        """What was done, in words."""
        counts = ", ".join(f"{n:,} {state}" for state, n in self.done.states.items())
        silent = f" {self.done.silent:,} documents have no sentence." if self.done.silent else ""
        return (
            f"{self.done.documents:,} documents, {self.done.queries:,} queries: {counts}.{silent} "
            f"Decisions: {self.out / DECISIONS}{SYNTHETIC if self.synthetic else ''}"
        )


def screen(
    pipeline: Pipeline,
    source: Path,
    out: Path,
    *,
    resume: bool = False,
    show_text: bool = False,
    prevalence: float | None = None,
    show: Show = lambda done, label: None,
    finish: Callable[[Path], None] = lambda out: None,
) -> Screened:
    """Decide about every document of `source`; decisions.jsonl grows batch by batch and is whole after each.

    `finish` adds to the folder when every decision is made; interrupted there, it is called again on resuming.
    """
    if source.is_dir() and out.resolve().is_relative_to(source.resolve()):
        raise ConfigError(f"{out}: lies inside the folder that is screened. Choose another folder with --out.")
    started = time.perf_counter()
    elsewhere = None if prevalence is None else _prevalence(pipeline, prevalence)
    rows = _askable(unique(read(source)), pipeline)
    # The first row comes before the folder, so that a source of the wrong kind leaves nothing behind.
    rows = chain([first] if (first := next(rows, None)) else [], rows)
    options = [show_text, prevalence, BATCH_DOCUMENTS, BATCH_CHARACTERS]
    key = files.sha256_json([str(source.resolve()), dict(pipeline.facts), options])
    with claim(Journal(out, key, pipeline.profile.like()), resume=resume) as journal, _threads(pipeline):
        journal.skip(rows)
        before = journal.progress.documents
        while batch := _batch(rows):
            answer = pipeline.answer([row for row in batch if isinstance(row, NewDocument)])
            extra = [{} if elsewhere is None else elsewhere.of(decision) for decision in answer.decisions]
            lines = [d.to_dict(show_text=show_text) | e for d, e in zip(answer.decisions, extra, strict=True)]
            journal.append(batch, answer, lines)
            done = journal.progress.documents
            rate = (done - before) / (time.perf_counter() - started)
            show(done, f"{done:,} documents, {rate:,.1f}/s")
        warned = _sum_up(pipeline, journal)
        finish(out)
        journal.close()
        return Screened(
            out=out,
            done=journal.progress,
            warning=warned,
            synthetic=bool(pipeline.facts["corpus"]["synthetic"]),
            seconds=time.perf_counter() - started,
        )


def _threads(pipeline: Pipeline) -> Any:
    return threads.at_most(pipeline.settings.threads)


def _prevalence(pipeline: Pipeline, after: float) -> Prevalence:
    tune = pipeline.facts["tune"]
    return Prevalence(before=tune["n_positive"] / tune["n_queries"], after=after, decider=pipeline.decider)


def _askable(rows: Iterator[Row], pipeline: Pipeline) -> Iterator[Row]:
    """The same rows; a document for which there is no question becomes unreadable."""
    has_own = bool(pipeline.criteria)
    for row in rows:
        if has_own or isinstance(row, Unreadable) or row.criteria:
            yield row
        else:
            yield Unreadable(where=row.doc_id, reason=NO_QUESTION)


def _batch(rows: Iterator[Row]) -> Sequence[Row]:
    """The next rows: few enough, and short enough, for bounded memory."""
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += row.size if isinstance(row, NewDocument) else 0
        if len(batch) >= BATCH_DOCUMENTS or size >= BATCH_CHARACTERS:
            break
    return batch


def _sum_up(pipeline: Pipeline, journal: Journal) -> str | None:
    """Write what was found beside TUNE; the warning, where they differ."""
    done, facts = journal.progress, pipeline.facts
    shifts = drift.compare(pipeline.profile, journal.profile)
    warned = drift.warning(shifts)
    summary = {
        "documents": done.documents,
        "without_sentences": done.silent,
        "queries": done.queries,
        "states": done.states,
        "rejected": done.rejected,
        "model": {"corpus": facts["corpus"]["name"], "settings_hash": facts["settings_hash"]},
        "synthetic": facts["corpus"]["synthetic"],
        "drift": [{"name": s.name, "tune": s.tune, "here": s.here, "errors": s.errors} for s in shifts],
        "warning": warned,
    }
    files.write_json(journal.out / SUMMARY, summary)
    return warned


def read_decisions(out: Path) -> Iterator[dict[str, Any]]:
    """The decisions of a screening, one at a time."""
    with (out / DECISIONS).open(encoding="utf-8", newline="\n") as stream:
        for line in stream:
            yield json.loads(line)


def write_parquet(out: Path, *, show_text: bool = False) -> Path:
    """The decisions as one Parquet table, evidence as a list column, streamed from decisions.jsonl."""
    import polars as pl

    place: dict[str, Any] = {"sent_uid": pl.String, "start": pl.Int64, "end": pl.Int64, "probability": pl.Float64}
    place |= {"text": pl.String} if show_text else {}
    schema: dict[str, Any] = {
        "doc_id": pl.String, "criterion_id": pl.String, "probability": pl.Float64, "state": pl.String,
        "predicted": pl.Boolean, "evidence": pl.List(pl.Struct(place)), "note": pl.String,
    }  # fmt: skip
    extra = {"probability_at_prevalence": pl.Float64, "state_at_prevalence": pl.String}
    first = next(read_decisions(out), {})
    schema |= {name: kind for name, kind in extra.items() if name in first}
    path = out / "decisions.parquet"
    with files.writing(path) as aside:
        if first:
            pl.scan_ndjson(out / DECISIONS, schema=schema).sink_parquet(aside)
        else:
            pl.DataFrame(schema=schema).write_parquet(aside)
    return path
