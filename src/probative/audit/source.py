"""What is audited: a run folder, a zip of one, or a per_query file alone. Only ever read."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from probative.errors import DataError

COPY = "Copy the run again from its origin."
PER_QUERY = ("per_query.csv", "per_query.parquet", "per_query.jsonl")


@dataclass(frozen=True)
class Source:
    """A folder of results, or one per_query file without a folder."""

    root: Path
    per_query: Path | None
    is_folder: bool

    def path(self, name: str) -> Path:
        return self.root / name

    def has(self, name: str) -> bool:
        return self.is_folder and self.path(name).is_file()

    def record(self, name: str) -> dict[str, Any]:
        """A JSON file that must hold names and values."""
        found = self.json(name)
        if not isinstance(found, dict):
            raise DataError(f"{self.path(name)}: must be a JSON object, not a {type(found).__name__}. {COPY}")
        return found

    def json(self, name: str) -> Any:
        """A JSON file of the folder; a broken one is the user's error and says where."""
        try:
            return json.loads(self.path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(f"{self.path(name)}: is not readable JSON ({error}). {COPY}") from error

    @cached_property
    def manifest(self) -> dict[str, Any] | None:
        return self.record("manifest.json") if self.has("manifest.json") else None

    @cached_property
    def master(self) -> dict[str, Any] | None:
        if not self.has("metrics_master.json"):
            return None
        found = self.record("metrics_master.json")
        for part in ("metrics", "series"):
            listed = found.get(part, [])
            if not isinstance(listed, list) or not all(isinstance(one, dict) and "id" in one for one in listed):
                raise DataError(f"{self.path('metrics_master.json')}: {part} must be a list of records. {COPY}")
        return found

    @cached_property
    def ablation(self) -> Any:
        return self.json("ablation.json") if self.has("ablation.json") else None

    @cached_property
    def files(self) -> tuple[str, ...]:
        """Every file below the folder, as relative POSIX paths."""
        if not self.is_folder:
            return ()
        found = (p.relative_to(self.root) for p in self.root.rglob("*") if p.is_file())
        return tuple(sorted(PurePosixPath(p).as_posix() for p in found))


def _folder(root: Path) -> Source:
    per_query = next((root / name for name in PER_QUERY if (root / name).is_file()), None)
    if per_query is None:
        raise DataError(
            f"{root}: holds no {PER_QUERY[0]}, so there is nothing to recompute from. Give a run folder made by "
            "`probative run`, a zip of one, or a per_query file; to check what `probative evaluate --out` wrote, put "
            "the per_query file into that folder."
        )
    return Source(root=root, per_query=per_query, is_folder=True)


def _unpack(path: Path, into: Path) -> Path:
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                    raise DataError(f"{path}: the entry {name!r} points outside the archive. Do not trust this file.")
            archive.extractall(into)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DataError(f"{path}: is not a whole zip file ({error}). {COPY}") from error
    inner = [p for p in into.iterdir() if p.name != "__MACOSX"]
    return inner[0] if len(inner) == 1 and inner[0].is_dir() else into


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """The thing at `path`; a zip is unpacked to a temporary place and removed again."""
    if path.is_dir():
        yield _folder(path)
    elif not path.is_file():
        raise DataError(f"{path}: does not exist. Give a run folder, a zip of one, or a per_query file.")
    elif zipfile.is_zipfile(path):
        with TemporaryDirectory(prefix="probative-verify-") as place:
            yield _folder(_unpack(path, Path(place)))
    elif path.suffix.lower() == ".zip":
        raise DataError(f"{path}: is not a whole zip file. {COPY}")
    else:
        yield Source(root=path.parent, per_query=path, is_folder=False)
