"""What is wrong with a corpus: one record a problem, and how problems are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from probative.errors import DataError

SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong, where it stands, and what to do about it.

    Rows are counted as a spreadsheet counts them for CSV (the header is row 1), as lines for JSONL, from 1 for Parquet.
    """

    code: str
    file: str
    row: int | None = None
    what: str
    remedy: str
    table: str | None = None
    """The table that the row belongs to, where leaving the row out would help."""

    def __str__(self) -> str:
        place = self.file if self.row is None else f"{self.file}, row {self.row}"
        return f"{place}: {self.what} {self.remedy}"

    def as_dict(self) -> dict[str, Any]:
        """The problem as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Teller:
    """Makes problems of one table's rows."""

    table: str
    file: str

    def __call__(self, row: int | None, code: str, what: str, remedy: str) -> Problem:
        return Problem(code=code, file=self.file, row=row, what=what, remedy=remedy, table=self.table)


def refuse(problems: Sequence[Problem], where: str) -> None:
    """Raise one DataError that tells the first problems and counts the rest."""
    if not problems:
        return
    lines = [str(problem) for problem in problems[:SHOWN]]
    if len(problems) > SHOWN:
        lines.append(f"… and {len(problems) - SHOWN} more; `probative data validate {where}` lists every one.")
    raise DataError("\n".join(lines))
