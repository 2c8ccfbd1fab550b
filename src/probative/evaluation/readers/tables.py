"""One table from a CSV, Parquet or JSONL file, or from memory, under the names that the readers know."""

from __future__ import annotations

import csv
import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import polars as pl

from probative.errors import DataError
from probative.segments import IntArray

from .problems import Problems

SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
ALIASES = {"post_id": "doc_id", "fold_id": "fold"}
ROW = "__row"
REPEATED = "_duplicated_0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A frame, its name in messages, and the number of every row (from 1, the header not counted)."""

    frame: pl.DataFrame
    origin: str

    @property
    def rows(self) -> IntArray:
        return self.frame[ROW].to_numpy().astype(np.int64)

    def has(self, name: str) -> bool:
        return name in self.frame.columns

    def take(self, frame: pl.DataFrame) -> Table:
        return replace(self, frame=frame)


def read_table(path: Path) -> Table:
    """Read a file by its suffix. CSV cells stay text until a column asks for something else."""
    if not path.exists():
        raise DataError(f"{path}: there is no such file.")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(f"{path}: tables are read from {', '.join(SUFFIXES)}; this ends in {suffix or 'nothing'!r}.")
    try:
        frame = _READ[suffix](path)
    except pl.exceptions.NoDataError as error:
        raise DataError(f"{path}: is empty; a table needs at least its header.") from error
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{path}: cannot be read as {suffix[1:]}: {str(error).splitlines()[0]}") from error
    return table(frame, str(path))


def _read_csv(path: Path, separator: str = ",") -> pl.DataFrame:
    try:
        frame = pl.read_csv(path, separator=separator, infer_schema=False)
    except pl.exceptions.ComputeError:
        _find_bad_row(path, separator)
        raise
    twice = next((name for name in frame.columns if name.endswith(REPEATED)), None)
    if twice:
        raise DataError(f"{path}: has the column {twice.removesuffix(REPEATED)!r} twice. Keep one of them.")
    return frame


def _find_bad_row(path: Path, separator: str) -> None:
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"{path}, line {number}: is not UTF-8 text. Save the file as UTF-8.") from error
    with path.open(encoding="utf-8", newline="") as text:
        rows = csv.reader(text, delimiter=separator)
        try:
            width = len(next(rows, []))
            for number, row in enumerate(rows, start=1):
                if len(row) > width:
                    raise DataError(
                        f"{path}, row {number}: has {len(row)} fields, the header has {width}. A field that holds a "
                        "separator or a quotation mark stands in quotation marks."
                    )
        except csv.Error:  # Polars has its own words for it
            return


def _read_parquet(path: Path) -> pl.DataFrame:
    return pl.read_parquet(path)


def _read_jsonl(path: Path) -> pl.DataFrame:
    if not path.stat().st_size:
        raise pl.exceptions.NoDataError("empty")
    try:
        return pl.read_ndjson(path, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        _find_bad_line(path)
        raise


def _find_bad_line(path: Path) -> None:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                row = json.loads(line, parse_constant=_refuse)
            except json.JSONDecodeError as error:
                raise DataError(
                    f"{path}, row {number}: is not valid JSON ({error.msg}, column {error.colno})."
                ) from error
            except ValueError as error:
                raise DataError(f"{path}, row {number}: {error}.") from error
            if not isinstance(row, dict):
                raise DataError(f"{path}, row {number}: must be one JSON object a line.")
            for name, value in row.items():
                if isinstance(value, list) and any(isinstance(member, (list, dict)) for member in value):
                    raise DataError(f"{path}, row {number}: the members of {name} must be plain values.")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number in JSON; write null where there is none")


_READ: Mapping[str, Callable[[Path], pl.DataFrame]] = {
    ".csv": _read_csv,
    ".tsv": lambda path: _read_csv(path, "\t"),
    ".parquet": _read_parquet,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
}


def table(frame: pl.DataFrame, origin: str) -> Table:
    """A frame with aliases resolved and rows numbered."""
    clean = frame.rename({name: name.strip().lstrip("\ufeff") for name in frame.columns})
    for alias, name in ALIASES.items():
        if alias in clean.columns and name in clean.columns:
            raise DataError(f"{origin}: has both {alias!r} and {name!r}, which mean the same. Keep one of them.")
    clean = clean.rename({alias: name for alias, name in ALIASES.items() if alias in clean.columns})
    return Table(frame=clean.with_row_index(ROW, offset=1), origin=origin)


def require(source: Table, names: Sequence[str]) -> None:
    """Refuse a table that lacks a column, with the nearest name that it has."""
    present = [name for name in source.frame.columns if name != ROW]
    missing = [name for name in names if name not in present]
    if not missing:
        return
    near = difflib.get_close_matches(missing[0], present, n=1, cutoff=0.6)
    hint = f"Did you mean {near[0]!r}?" if near else f"It has: {', '.join(present) or 'none'}."
    plural = "columns" if len(missing) > 1 else "column"
    raise DataError(f"{source.origin}: lacks the {plural} {', '.join(missing)}. {hint}")


def with_ids(source: Table, names: Sequence[str], problems: Problems) -> Table:
    """Identifiers as text; an empty one is a problem of its row."""
    require(source, names)
    frame = source.frame.with_columns(pl.col(name).cast(pl.String).fill_null("") for name in names)
    rows = source.rows
    for name in names:
        empty = (frame[name] == "").to_numpy()
        problems.add(source.origin, rows[empty], lambda i, name=name: f"{name} is empty.")  # type: ignore[misc]
    return source.take(frame)


def find_duplicates(source: Table, names: Sequence[str], what: str, problems: Problems) -> None:
    """Note every row that repeats an earlier one in these columns."""
    keys = source.frame.select(pl.struct(names).is_first_distinct()).to_series().to_numpy()
    repeated = source.frame.filter(~keys)
    problems.add(
        source.origin,
        repeated[ROW].to_numpy(),
        lambda i: f"{what} {' / '.join(map(repr, repeated.select(names).row(i)))} was already given above; keep one.",
    )
