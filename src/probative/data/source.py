"""Tables as somebody wrote them, before anything is checked: what readers and importers hand to validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from probative.data.meta import CorpusMeta
from probative.data.problems import Problem

ROW = "__row"
"""The column that carries each row's number in its file."""

TABLES = ("documents", "sentences", "criteria", "gold", "rejected", "pairs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table and the name of the file that messages shall quote."""

    file: str
    frame: pl.DataFrame

    @staticmethod
    def of(file: str, frame: pl.DataFrame, *, first: int = 1) -> Table:
        """A table whose rows are numbered from `first` unless the frame numbers them itself in `__row`."""
        if ROW not in frame.columns:
            frame = frame.with_row_index(ROW, offset=first)
        return Table(file=file, frame=frame.with_columns(pl.col(ROW).cast(pl.Int64)))

    @property
    def columns(self) -> list[str]:
        return [name for name in self.frame.columns if name != ROW]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Unchecked tables by name (documents or sentences, criteria, gold, and optionally rejected and pairs)."""

    meta: CorpusMeta
    tables: Mapping[str, Table]
    notes: Sequence[str] = ()
    """What was assumed about the files, to be echoed."""
    problems: Sequence[Problem] = field(default=())
    """What was already found while reading."""
