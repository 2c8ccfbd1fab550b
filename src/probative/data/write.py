"""A corpus to a folder: Parquet, CSV or JSONL, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from probative.data.meta import FILE
from probative.data.source import TABLES
from probative.errors import ConfigError, DataError
from probative.files import writing_folder

if TYPE_CHECKING:
    from probative.data.corpus import Corpus

DROPPED = "dropped.jsonl"

WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "parquet": lambda frame, path: frame.write_parquet(path),
    "csv": lambda frame, path: frame.write_csv(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
}


def write_corpus(corpus: Corpus, folder: Path, kind: str, beside: Mapping[str, str] | None = None) -> Path:
    """Write corpus.toml, the tables and the texts of `beside`.

    A `rejected` table is written only when there is something in it. An earlier corpus in the folder is replaced.
    """
    if kind not in WRITERS:
        raise ConfigError(f"format {kind!r}: must be one of {', '.join(WRITERS)}.")
    refuse_strangers(folder)
    with writing_folder(folder) as aside:
        (aside / FILE).write_text(corpus.meta.to_toml(), encoding="utf-8")
        for name, text in (beside or {}).items():
            (aside / name).write_text(text, encoding="utf-8")
        for name, frame in corpus.tables.items():
            if frame.height or name != "rejected":
                _write(frame, aside / f"{name}.{kind}", kind)
    return folder


def _write(frame: pl.DataFrame, path: Path, kind: str) -> None:
    try:
        WRITERS[kind](frame, path)
    except pl.exceptions.PolarsError as error:  # a full disk, which Polars reports as a fault of the format
        raise OSError(str(error).rsplit(": ", 1)[-1]) from error


def refuse_strangers(folder: Path) -> None:
    """Refuse to replace a folder that holds anything but a corpus."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise DataError(f"{folder}: is a file. Choose another folder to write to.")
    ours = {FILE, DROPPED, *(f"{name}.{kind}" for name in TABLES for kind in WRITERS)}
    if strangers := sorted(path.name for path in folder.iterdir() if path.name not in ours):
        raise DataError(f"{folder}: holds other files ({strangers[0]}), which would be lost. Choose a new folder.")
