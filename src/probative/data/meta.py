"""What a corpus says about itself: corpus.toml."""

from __future__ import annotations

import difflib
import json
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from probative.data.problems import Problem

FILE = "corpus.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusMeta:
    """Name, origin and terms of a corpus; `synthetic` is shown on everything made from it."""

    name: str
    version: str = ""
    licence: str = ""
    language: str = "en"
    source: str = ""
    synthetic: bool = False
    exclude_from_training: tuple[str, ...] = ()

    def to_toml(self) -> str:
        """The text of corpus.toml."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in values)


def read_meta(folder: Path) -> tuple[CorpusMeta, list[Problem]]:
    """Read corpus.toml; without one the corpus is named after its folder."""
    default = CorpusMeta(name=folder.resolve().name)
    path = folder / FILE
    if not path.exists() and not path.is_symlink():
        return default, []
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        remedy = "Check its permissions, or remove it."
        return default, [
            Problem(code="unreadable", file=FILE, what=f"cannot be read ({error.strerror}).", remedy=remedy)
        ]
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 (byte {error.start})."
        return default, [Problem(code="encoding", file=FILE, what=what, remedy="Save it as UTF-8.")]
    except tomllib.TOMLDecodeError as error:
        remedy = 'Write it as `name = "…"`, one setting a line; texts stand in quotes.'
        return default, [Problem(code="bad-toml", file=FILE, what=f"is not valid TOML: {error}.", remedy=remedy)]
    return _checked(values, default)


def _checked(values: dict[str, Any], default: CorpusMeta) -> tuple[CorpusMeta, list[Problem]]:
    known = [field.name for field in fields(CorpusMeta)]
    problems: list[Problem] = []
    accepted: dict[str, Any] = {"name": default.name}
    for key, value in values.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            remedy = f"Did you mean {near[0]!r}?" if near else f"Valid keys: {', '.join(known)}."
            problems.append(Problem(code="unknown-key", file=FILE, what=f"unknown key {key!r}.", remedy=remedy))
        elif wanted := _mismatch(key, value):
            what = f"{key} is {value!r}."
            problems.append(Problem(code="wrong-type", file=FILE, what=what, remedy=f"Write {wanted}."))
        else:
            accepted[key] = tuple(value) if isinstance(value, list) else value
    return CorpusMeta(**accepted), problems


def _mismatch(key: str, value: object) -> str | None:
    """What should have been written, or None when the value is of the right type."""
    if key == "synthetic":
        return None if isinstance(value, bool) else "synthetic = true or synthetic = false, without quotes"
    if key == "exclude_from_training":
        right = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return None if right else 'a list of criterion ids: exclude_from_training = ["A.10"]'
    return None if isinstance(value, str) else f'a text in quotes: {key} = "…"'
