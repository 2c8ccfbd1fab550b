"""A model folder one can trust: data only, every file listed and hashed, nothing read before it is checked."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

from probative import files
from probative.errors import ConfigError, ModelError
from probative.version import __version__

SCHEMA_VERSION = 1
FACTS = "model.json"
SUFFIXES = (".json", ".safetensors", ".txt", ".md")
"""What a model folder may hold: numbers and text. Nothing in it is ever executed or unpickled."""


def free(folder: Path) -> None:
    """Refuse a model folder that is there: models are never overwritten."""
    if folder.exists():
        raise ConfigError(f"{folder}: already exists. Name another folder with --out; a model is never overwritten.")


def seal(folder: Path, facts: dict[str, Any]) -> None:
    """Write model.json with the hash of every other file: the last thing done to a model."""
    hashes = {
        p.relative_to(folder).as_posix(): files.sha256_file(p)
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.name != FACTS
    }
    head = {"schema_version": SCHEMA_VERSION, "kind": "model", "probative": __version__}
    files.write_json(folder / FACTS, {**head, **facts, "files": hashes})


def check(folder: Path) -> dict[str, Any]:
    """The facts of a model folder whose files are all there, unchanged, and nothing but what is listed."""
    try:
        return _checked(folder)
    except (OSError, RecursionError) as error:
        raise ModelError(f"{folder}: cannot be read ({error}). Copy the model again, or fit it again.") from error


def _checked(folder: Path) -> dict[str, Any]:
    facts = _facts(folder)
    listed: dict[str, str] = facts["files"]
    for name, digest in listed.items():
        _check_file(folder, name, digest)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            raise ModelError(f"{path}: is a link. A model folder holds plain files only; take the link out.")
        if path.is_file() and name != FACTS and name not in listed:
            raise ModelError(f"{path}: is not part of this model. Take it out, or fit the model again.")
    return facts


def _facts(folder: Path) -> dict[str, Any]:
    path = folder / FACTS
    if path.is_symlink() or not path.is_file():
        raise ModelError(f"{folder}: is not a model folder, it has no {FACTS}. `probative fit` makes one.")
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: cannot be read as JSON ({error}). Copy the model again, or fit it again.") from error
    if not isinstance(facts, dict) or facts.get("kind") != "model" or not isinstance(facts.get("files"), dict):
        raise ModelError(f"{path}: does not describe a model. `probative fit` makes one.")
    version = facts.get("schema_version")
    if version != SCHEMA_VERSION:
        raise ModelError(
            f"{path}: has schema version {version!r}; this probative ({__version__}) reads {SCHEMA_VERSION}. "
            f"It was made by probative {facts.get('probative')}: install that version, or fit the model again."
        )
    return facts


def _check_file(folder: Path, name: str, digest: str) -> None:
    parts = PurePosixPath(name)
    if parts.is_absolute() or ".." in parts.parts or not parts.parts or set(name) & {"\\", "\0"}:
        raise ModelError(f"{folder / FACTS}: names {name!r}, which points outside the model. Do not use this model.")
    path = folder / name
    if parts.suffix not in SUFFIXES:
        raise ModelError(f"{path}: a model holds only {', '.join(SUFFIXES)} files. Do not use this model.")
    if path.is_symlink() or not path.resolve().is_relative_to(folder.resolve()):
        raise ModelError(f"{path}: is a link, which may lead outside the model. Do not use this model.")
    if not path.is_file():
        raise ModelError(f"{path}: is missing. Copy the model again, or fit it again.")
    if files.sha256_file(path) != digest:
        raise ModelError(f"{path}: has changed since the model was made. Copy the model again, or fit it again.")
