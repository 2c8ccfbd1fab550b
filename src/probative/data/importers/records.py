"""Walking through other people's JSON: what is not as it should be is listed with its place, and passed over."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from probative.data import json_text
from probative.data.problems import Problem
from probative.errors import ConfigError, DataError

T = TypeVar("T")
_NAMES = {str: "text", int: "a whole number", list: "a list", dict: "an object", bool: "true or false"}


@dataclass(slots=True)
class Walk:
    """A walk through one file; collects problems."""

    file: str
    problems: list[Problem] = field(default_factory=list)

    def get(self, record: Any, key: str, kind: type[T], where: str, row: int | None = None) -> T | None:
        """The value of a key, or None and a problem when it is absent or of another type."""
        value = record.get(key) if isinstance(record, dict) else None
        if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
            return value
        found = "is missing" if value is None else f"is a {type(value).__name__}"
        self.complain("wrong-type", f"{where}: {key!r} {found}.", f"{key!r} must be {_NAMES[kind]}.", row)
        return None

    def may(self, record: Any, key: str, kind: type[T], where: str, row: int | None = None) -> T | None:
        """As `get`, where the key may be absent or null."""
        absent = isinstance(record, dict) and record.get(key) is None
        return None if absent else self.get(record, key, kind, where, row)

    def complain(self, code: str, what: str, remedy: str, row: int | None = None) -> None:
        self.problems.append(Problem(code=code, file=self.file, row=row, what=what, remedy=remedy))


def read_text(path: Path, encoding: str | None) -> str:
    """A whole text file; UTF-8 unless said otherwise."""
    try:
        return path.read_text(encoding=encoding or "utf-8-sig")
    except LookupError:
        raise ConfigError(f"--encoding {encoding}: unknown encoding.") from None
    except UnicodeDecodeError as error:
        remedy = "Name its encoding: --encoding cp1252 (Windows), latin-1, utf-16."
        raise DataError(f"{path}: byte {error.start} is not {encoding or 'UTF-8'}. {remedy}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from None


def read_json(path: Path, encoding: str | None) -> dict[str, Any]:
    """A JSON file that holds one object."""
    try:
        value = json_text.loads(read_text(path, encoding))
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path}, line {error.lineno}: is not valid JSON ({error.msg}). Download or export it again."
        ) from None
    if not isinstance(value, dict):
        raise DataError(f"{path}: must hold one JSON object, not a {type(value).__name__}.")
    return value


def json_files(path: Path) -> list[Path]:
    """The file itself, or the JSON files of a folder, sorted."""
    if not path.exists():
        raise DataError(f"{path}: does not exist. Give the file, or the folder that holds it.")
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise DataError(f"{path}: holds no .json file.")
    return files
