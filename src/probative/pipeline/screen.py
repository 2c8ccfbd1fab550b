"""Screening: decisions about many new documents, streamed, resumable, with what could not be read set aside."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from probative import files
from probative.errors import ConfigError
from probative.pipeline import drift
from probative.pipeline.documents import NewDocument, Row, Unreadable, read, unique
from probative.pipeline.drift import Profile
from probative.pipeline.pipeline import Pipeline
from probative.pipeline.prevalence import at_prevalence
from probative.types import State

BATCH_DOCUMENTS = 64
BATCH_CHARACTERS = 400_000
DECISIONS, REJECTS, PROGRESS, SUMMARY = "decisions.jsonl", "rejects.jsonl", ".progress.json", "summary.json"

Show = Callable[[int, str], None]
"""(documents done, label)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """What screening did."""

    out: Path
    documents: int
    queries: int
    states: dict[str, int]
    rejected: int
    warning: str | None
    seconds: float

    def summary(self) -> dict[str, Any]:
        """What summary.json says."""
        return dict(json.loads((self.out / SUMMARY).read_text(encoding="utf-8")))

    def sentence(self) -> str:
        """What was done, in one sentence."""
        counts = ", ".join(f"{n:,} {state}" for state, n in self.states.items())
        return f"{self.documents:,} documents, {self.queries:,} queries: {counts}. Decisions: {self.out / DECISIONS}"


def screen(
    pipeline: Pipeline,
    source: Path,
    out: Path,
    *,
    resume: bool = False,
    show_text: bool = False,
    prevalence: float | None = None,
    show: Show = lambda done, label: None,
) -> Screened:
    """Decide about every document of `source`; decisions.jsonl grows batch by batch and is whole after each."""
    started = time.perf_counter()
    with Claim(out, pipeline, source, resume=resume, options=[show_text, prevalence]) as journal:
        rows = unique(read(source))
        for _ in islice(rows, journal.rows):
            pass
        while batch := _batch(rows):
            _append(pipeline, batch, journal, show_text=show_text, prevalence=prevalence)
            rate = journal.documents / max(time.perf_counter() - started, 1e-9)
            show(journal.documents, f"{journal.documents:,} documents, {rate:,.0f}/s")
        return journal.finish(pipeline, time.perf_counter() - started)


def _batch(rows: Iterator[Row]) -> list[Row]:
    """The next rows: few enough, and short enough, for bounded memory."""
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        if isinstance(row, NewDocument):
            size += len(row.text or "") + sum(len(text) for _, text in row.sentences or ())
        if len(batch) >= BATCH_DOCUMENTS or size >= BATCH_CHARACTERS:
            break
    return batch


def _append(
    pipeline: Pipeline, batch: list[Row], journal: Journal, *, show_text: bool, prevalence: float | None
) -> None:
    documents = [row for row in batch if isinstance(row, NewDocument)]
    rejects = [{"where": row.where, "reason": row.reason} for row in batch if isinstance(row, Unreadable)]
    answer = pipeline.answer(documents)
    lines = []
    for decision in answer.decisions:
        values = decision.to_dict(show_text=show_text)
        if prevalence is not None:
            values |= at_prevalence(decision, pipeline, prevalence)
        lines.append(values)
    journal.profile.add(answer.gate, answer.states, answer.doc)
    journal.count(len(batch), len(documents), answer.decisions, len(rejects))
    journal.write(lines, rejects)


class Journal:
    """The files of one screening and how far it is; a kill loses at most the batch in progress."""

    def __init__(self, out: Path, profile: Profile, key: str) -> None:
        self.out, self.profile, self.key = out, profile, key
        self.rows = self.documents = self.queries = self.rejected = 0
        self.states = {str(state): 0 for state in State}
        self.sizes = {DECISIONS: 0, REJECTS: 0}

    def restore(self) -> None:
        """Go back to the last whole batch."""
        state = json.loads((self.out / PROGRESS).read_text())
        if state["key"] != self.key:
            raise ConfigError(
                f"{self.out}: holds a screening of other documents, by another model or with other options. "
                "Give the same ones to --resume, or choose another folder with --out."
            )
        self.rows, self.documents, self.queries = state["rows"], state["documents"], state["queries"]
        self.rejected, self.states, self.sizes = state["rejected"], state["states"], state["sizes"]
        self.profile = Profile.from_dict(state["profile"])
        for name, size in self.sizes.items():
            path = self.out / name
            if not path.exists() or path.stat().st_size < size:
                raise ConfigError(f"{path}: is shorter than it was. Choose another folder with --out and begin again.")
            os.truncate(path, size)

    def count(self, rows: int, documents: int, decisions: Any, rejected: int) -> None:
        """Add one batch."""
        self.rows += rows
        self.documents += documents
        self.rejected += rejected
        for decision in decisions:
            self.queries += 1
            self.states[str(decision.state)] += 1

    def write(self, lines: list[dict[str, Any]], rejects: list[dict[str, str]]) -> None:
        """Append one batch, then note that it is whole."""
        for name, values in ((DECISIONS, lines), (REJECTS, rejects)):
            with (self.out / name).open("a", encoding="utf-8") as stream:
                stream.writelines(json.dumps(v, ensure_ascii=False, allow_nan=False) + "\n" for v in values)
                stream.flush()
                os.fsync(stream.fileno())
            self.sizes[name] = (self.out / name).stat().st_size
        state = {
            name: getattr(self, name) for name in ("key", "rows", "documents", "queries", "rejected", "states", "sizes")
        }
        files.write_json(self.out / PROGRESS, {**state, "profile": self.profile.to_dict()})

    def finish(self, pipeline: Pipeline, seconds: float) -> Screened:
        """Sum up beside TUNE, and take the journal away."""
        shifts = drift.compare(pipeline.profile, self.profile)
        warned = drift.warning(shifts)
        summary = {
            "documents": self.documents,
            "queries": self.queries,
            "states": self.states,
            "rejected": self.rejected,
            "model": {"corpus": pipeline.facts["corpus"]["name"], "settings_hash": pipeline.facts["settings_hash"]},
            "synthetic": pipeline.facts["corpus"]["synthetic"],
            "drift": [{"name": s.name, "tune": s.tune, "here": s.here, "errors": s.errors} for s in shifts],
            "warning": warned,
        }
        files.write_json(self.out / SUMMARY, summary)
        if not self.rejected:
            (self.out / REJECTS).unlink(missing_ok=True)
        (self.out / PROGRESS).unlink(missing_ok=True)
        return Screened(
            out=self.out,
            documents=self.documents,
            queries=self.queries,
            states=self.states,
            rejected=self.rejected,
            warning=warned,
            seconds=seconds,
        )


class Claim:
    """The output folder, for one process at a time."""

    def __init__(self, out: Path, pipeline: Pipeline, source: Path, *, resume: bool, options: Any) -> None:
        self.out, self.resume = out, resume
        key = files.sha256_json(
            [str(source.resolve()), pipeline.facts["settings_hash"], pipeline.facts["decider"], options]
        )
        self.journal = Journal(out, pipeline.profile.like(), key)

    def __enter__(self) -> Journal:
        unfinished = (self.out / PROGRESS).exists()
        if self.out.is_file():
            raise ConfigError(f"{self.out}: is a file. Choose a folder with --out.")
        if self.out.exists() and any(self.out.iterdir()) and not (self.resume and unfinished):
            hint = (
                "holds an interrupted screening. Continue it with --resume" if unfinished else "is not empty. Empty it"
            )
            raise ConfigError(f"{self.out}: {hint}, or choose another folder with --out.")
        self.out.mkdir(parents=True, exist_ok=True)
        self._lock = files.lock(self.out / ".lock", wait=0.0)
        self._lock.__enter__()
        if unfinished:
            self.journal.restore()
        else:
            self.journal.write([], [])
        return self.journal

    def __exit__(self, *error: Any) -> None:
        (self.out / ".lock").unlink(missing_ok=True)
        self._lock.__exit__(*error)


def read_decisions(out: Path) -> Iterator[dict[str, Any]]:
    """The decisions of a finished screening, one at a time."""
    with (out / DECISIONS).open(encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def write_parquet(out: Path) -> Path:
    """The decisions as one Parquet table, evidence as a list column, streamed from decisions.jsonl."""
    import polars as pl

    path = out / "decisions.parquet"
    with files.writing(path) as aside:
        pl.scan_ndjson(out / DECISIONS).sink_parquet(aside)
    return path
