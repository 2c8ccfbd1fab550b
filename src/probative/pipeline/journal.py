"""How far a screening is, and the files that it appends to: whole after every batch, whatever happens in between."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from probative import files
from probative.errors import ConfigError, ProbativeError
from probative.pipeline.answer import Answer
from probative.pipeline.documents import Row, Unreadable
from probative.pipeline.drift import Profile
from probative.types import State

DECISIONS, REJECTS, PROGRESS, LOCK = "decisions.jsonl", "rejects.jsonl", ".progress.json", ".lock"


@dataclass(kw_only=True)
class Progress:
    """What was done up to the last whole batch."""

    key: str
    """Of source, model and options."""
    read: str = ""
    """A running hash of all rows read."""
    rows: int = 0
    documents: int = 0
    silent: int = 0
    queries: int = 0
    rejected: int = 0
    states: dict[str, int] = field(default_factory=lambda: {str(state): 0 for state in State})
    sizes: dict[str, int] = field(default_factory=lambda: {DECISIONS: 0, REJECTS: 0})
    profile: dict[str, Any] = field(default_factory=dict)


class Journal:
    """The files of one screening; a kill loses at most the batch in progress."""

    def __init__(self, out: Path, key: str, profile: Profile) -> None:
        self.out, self.profile = out, profile
        self.progress = Progress(key=key)

    def begin(self) -> None:
        """At nothing."""
        self.note()
        for name in self.progress.sizes:
            (self.out / name).touch()

    def restore(self) -> None:
        """Go back to the last whole batch."""
        try:
            found = Progress(**json.loads((self.out / PROGRESS).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise ConfigError(
                f"{self.out / PROGRESS}: cannot be read. Choose another folder with --out and begin again."
            ) from error
        if found.key != self.progress.key:
            raise ConfigError(
                f"{self.out}: holds a screening of other documents, by another model or with other options. "
                "Give the same ones to --resume, or choose another folder with --out."
            )
        for name, size in found.sizes.items():
            path = self.out / name
            if path.exists() and path.stat().st_size >= size:
                os.truncate(path, size)
            elif size:
                raise ConfigError(f"{path}: is shorter than it was. Choose another folder with --out and begin again.")
        self.progress, self.profile = found, Profile.from_dict(found.profile)

    def skip(self, rows: Iterator[Row]) -> None:
        """Pass over the rows that are done, once sure that they are the same."""
        if _read("", islice(rows, self.progress.rows)) != self.progress.read:
            raise ConfigError(
                f"{self.out}: the documents have changed since the screening was interrupted. "
                "Choose another folder with --out and begin again."
            )

    def append(self, batch: Sequence[Row], answer: Answer, lines: Iterable[dict[str, Any]]) -> None:
        """Write one batch, then note that it is whole."""
        rejects = [{"where": row.where, "reason": row.reason} for row in batch if isinstance(row, Unreadable)]
        self.profile.add(answer.gate, answer.states, answer.doc)
        done = self.progress
        done.read = _read(done.read, batch)
        done.rows += len(batch)
        done.documents += len(batch) - len(rejects)
        done.silent += answer.silent
        done.queries += len(answer.decisions)
        done.rejected += len(rejects)
        for decision in answer.decisions:
            done.states[str(decision.state)] += 1
        for name, values in ((DECISIONS, lines), (REJECTS, rejects)):
            done.sizes[name] += _append(self.out / name, values)
        self.note()

    def note(self) -> None:
        """Keep how far it is."""
        self.progress.profile = self.profile.to_dict()
        files.write_json(self.out / PROGRESS, asdict(self.progress))

    def close(self) -> None:
        """Nothing is left to resume."""
        if not self.progress.rejected:
            (self.out / REJECTS).unlink(missing_ok=True)
        for path in [self.out / PROGRESS, self.out / LOCK, *self.out.glob(".*.part")]:
            path.unlink(missing_ok=True)


@contextmanager
def claim(journal: Journal, *, resume: bool) -> Iterator[Journal]:
    """Hold the output folder for one process, at its beginning or where an interrupted screening left off."""
    out = journal.out
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out}: is a file. Choose a folder with --out.")
    unfinished = (out / PROGRESS).exists()
    if out.exists() and not (resume and unfinished) and not all(_scrap(path) for path in out.iterdir()):
        how = "holds an interrupted screening. Continue it with --resume" if unfinished else "is not empty. Empty it"
        raise ConfigError(f"{out}: {how}, or choose another folder with --out.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{out}: cannot be made ({error.strerror}). Choose another folder with --out.") from error
    with files.lock(out / LOCK, wait=0.0):
        if unfinished:
            journal.restore()
        else:
            journal.begin()
        yield journal


def _scrap(path: Path) -> bool:
    """What a screening killed in its first moment leaves behind."""
    return path.name == LOCK or (path.name.startswith(".") and path.name.endswith(".part"))


def _append(path: Path, values: Iterable[dict[str, Any]]) -> int:
    """Add lines; how many bytes they are."""
    text = "".join(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n" for value in values).encode()
    try:
        with path.open("ab") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise ProbativeError(
            f"{path}: cannot be written ({error.strerror}). Make room, then go on with --resume."
        ) from error
    return len(text)


def _read(before: str, rows: Iterable[Row]) -> str:
    for row in rows:
        before = hashlib.sha256(f"{before}{row!r}".encode()).hexdigest()
    return before
