"""A corpus to a folder: Parquet, CSV or JSONL, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from probative.data.meta import FILE
from probative.errors import ConfigError
from probative.files import writing_folder

if TYPE_CHECKING:
    from probative.data.corpus import Corpus

WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "parquet": lambda frame, path: frame.write_parquet(path),
    "csv": lambda frame, path: frame.write_csv(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
}


def write_corpus(corpus: Corpus, folder: Path, kind: str) -> Path:
    """Write corpus.toml and the tables; a `rejected` table only when there is something in it."""
    if kind not in WRITERS:
        raise ConfigError(f"format {kind!r}: must be one of {', '.join(WRITERS)}.")
    with writing_folder(folder) as aside:
        (aside / FILE).write_text(corpus.meta.to_toml(), encoding="utf-8")
        for name, frame in corpus.tables.items():
            if name == "rejected" and not frame.height:
                continue
            WRITERS[kind](frame, aside / f"{name}.{kind}")
    return folder
