"""One table from one file: Parquet, CSV of any dialect, JSONL. What is wrong is listed with its row."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from probative.data import json_text
from probative.data.problems import Problem
from probative.data.source import ROW, Table
from probative.errors import ConfigError

SUFFIXES = (".parquet", ".csv", ".jsonl", ".tsv", ".txt", ".ndjson")
SEPARATORS = (",", ";", "\t", "|")
_NO_TEXT = {
    b"PAR1": "Parquet under another name",
    b"PK\x03\x04": "a spreadsheet or a zip archive",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet",
    b"\x1f\x8b": "compressed",
}
QUOTING = "A quotation mark inside a field is written twice, and the field stands in quotation marks."
_NAMES = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What came out of one file."""

    table: Table | None
    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_table(path: Path, *, sep: str | None = None, encoding: str | None = None) -> Reading:
    """Read one file; never raises for what stands in it."""
    try:
        if path.suffix == ".parquet":
            return _parquet(path)
        data = path.read_bytes()
    except OSError as error:
        return _failed(path, "unreadable", f"cannot be read ({error.strerror}).", "Check its permissions.")
    if kind := next((kind for start, kind in _NO_TEXT.items() if data.startswith(start)), None):
        return _failed(path, "unreadable", f"is no text but {kind}.", "Export it as CSV in UTF-8.")
    data, notes, problems = _utf8(path, data, encoding)
    if problems:
        return Reading(table=None, notes=notes, problems=problems)
    lines = path.suffix in (".jsonl", ".ndjson")
    if not data.strip() and lines:
        return Reading(table=Table.of(path.name, pl.DataFrame()), notes=notes)
    if not data.strip():
        return _failed(path, "empty-table", "is empty.", "Give it a header and at least one row, or remove the file.")
    reading = _jsonl(path, data) if lines else _csv(path, data, sep)
    return Reading(table=reading.table, notes=notes + reading.notes, problems=reading.problems)


def _failed(path: Path, code: str, what: str, remedy: str) -> Reading:
    return Reading(table=None, problems=[Problem(code=code, file=path.name, what=what, remedy=remedy)])


def _parquet(path: Path) -> Reading:
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).splitlines()[0]
        return _failed(path, "unreadable", f"is no readable Parquet file ({reason}).", "Export it again.")
    return Reading(table=Table.of(path.name, frame))


def _utf8(path: Path, data: bytes, encoding: str | None) -> tuple[bytes, list[str], list[Problem]]:
    """The file in UTF-8; without `encoding` it must be that, or what its byte order mark says, nothing else."""
    notes: list[str] = []
    if encoding is None and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
        notes.append(f"{path.name}: read as UTF-16, as its byte order mark says")
    try:
        text = data.decode(encoding or "utf-8")
    except LookupError:
        common = "utf-8, cp1252, latin-1, utf-16"
        raise ConfigError(f"--encoding {encoding}: unknown encoding. Common ones: {common}.") from None
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start : error.start + 1].hex()
        what = f"byte 0x{byte} is not {(encoding or 'UTF-8').upper()} (line {row} of the file)."
        remedy = "Save the file as UTF-8, or name its encoding: --encoding cp1252 (Windows, Excel), latin-1, utf-16."
        return b"", notes, [Problem(code="encoding", file=path.name, row=row, what=what, remedy=remedy)]
    return (text.encode() if encoding else data).removeprefix(codecs.BOM_UTF8), notes, []


def _sniff(data: bytes, suffix: str) -> str:
    """The separator that cuts the header into the most fields."""
    if suffix == ".tsv":
        return "\t"
    header = data.split(b"\n", 1)[0].decode().replace("\r", "")
    return max(SEPARATORS, key=lambda mark: len(next(csv.reader([header], delimiter=mark), [])))


def _text(data: bytes) -> io.TextIOWrapper:
    csv.field_size_limit(max(csv.field_size_limit(), len(data)))
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")


def _csv(path: Path, data: bytes, sep: str | None) -> Reading:
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    mark = sep or _sniff(data, path.suffix)
    notes = [] if sep or mark == "," else [f"{path.name}: columns are taken to be separated by {_NAMES[mark]}"]
    try:
        header = [name.strip() for name in next(csv.reader(_text(data), delimiter=mark, strict=True), [])]
    except csv.Error as error:
        return _failed(path, "bad-quotes", f"has a header that cannot be cut into fields ({error}).", QUOTING)
    if not header:
        return _failed(path, "no-header", "begins with an empty line.", "Begin it with the names of its columns.")
    if repeated := sorted({name for name in header if header.count(name) > 1}):
        what = f"column {repeated[0]!r} stands there more than once."
        return _failed(path, "duplicate-column", what, "Rename or remove one of them.")
    try:
        frame = None if _is_odd(data, mark) else _fast(data, mark)
    except pl.exceptions.PolarsError:
        frame = None
    if frame is None or frame.width != len(header) or frame.to_series(-1).null_count():
        # Polars fills short rows with nulls and gives no row for long ones, so suspects are read again, row by row.
        frame, problems = _rows(path, data, mark, header)
    else:
        problems = []
        frame = frame.rename(dict(zip(frame.columns, header, strict=True))).with_row_index(ROW, offset=2)
    filled = frame.filter(~pl.all_horizontal(pl.exclude(ROW).is_null()))
    if blank := frame.height - filled.height:
        notes.append(f"{path.name}: {blank} blank rows skipped")
    return Reading(table=Table.of(path.name, filled), notes=notes, problems=problems)


def _is_odd(data: bytes, mark: str) -> bool:
    """Whether the file has line ends or quotation marks of which Polars silently makes something else."""
    if data.count(b'"') % 2 or re.search(rb"\r(?!\n)", data):
        return True
    sep = mark.encode()
    quoted = re.finditer(rb'(?:\A|(?<=[\n%b]))"(?:[^"]++|"")*+"' % re.escape(sep), data)
    return any(data[field.end() : field.end() + 1] not in (sep, b"\r", b"\n", b"") for field in quoted)


def _fast(data: bytes, mark: str) -> pl.DataFrame:
    """As Polars reads it; a last line without an end would lose an empty field."""
    whole = data if data.endswith(b"\n") else data + b"\n"
    return pl.read_csv(whole, separator=mark, infer_schema=False)


def _rows(path: Path, data: bytes, mark: str, header: list[str]) -> tuple[pl.DataFrame, list[Problem]]:
    columns: list[list[str | None]] = [[] for _ in header]
    numbers: list[int] = []
    problems: list[Problem] = []
    reader = csv.reader(_text(data), delimiter=mark, strict=True)
    next(reader)
    row = 1
    while True:
        row += 1
        try:
            values = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            problems.append(
                Problem(
                    code="bad-quotes",
                    file=path.name,
                    row=row,
                    what=f"cannot be cut into fields ({error}).",
                    remedy=QUOTING,
                )
            )
            continue
        values = values or [""] * len(header)
        if len(values) != len(header):
            what = f"has {len(values)} fields, the header {len(header)}."
            remedy = "Put fields that contain the separator or a line break in quotation marks, or name it: --sep ';'"
            problems.append(Problem(code="ragged", file=path.name, row=row, what=what, remedy=remedy))
            continue
        numbers.append(row)
        for column, value in zip(columns, values, strict=True):
            column.append(value or None)
    frame = pl.DataFrame(dict(zip(header, columns, strict=True)), schema=dict.fromkeys(header, pl.String))
    return frame.with_columns(pl.Series(ROW, numbers, dtype=pl.Int64)), problems


def _jsonl(path: Path, data: bytes) -> Reading:
    lines = data.removesuffix(b"\n").split(b"\n")
    try:
        frame = pl.read_ndjson(data, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        return _lines(path, lines)
    if frame.height != len(lines) or json_text.HALVES.search(data) or _mixed(frame, lines):
        return _lines(path, lines)
    return Reading(table=Table.of(path.name, frame))


def _mixed(frame: pl.DataFrame, lines: list[bytes]) -> bool:
    """Whether a text column holds numbers, lists or objects, which Polars turned into text."""
    for column in frame.iter_columns():
        if column.dtype != pl.String:
            continue
        suspects = column.str.contains(r"^\s*(\[|\{|-?\d[\d.eE+-]*$|true$|false$)").fill_null(False).arg_true()
        if any(not isinstance(json_text.loads(lines[place].decode()).get(column.name), str) for place in suspects):
            return True
    return False


def _objects(lines: list[bytes]) -> Iterator[tuple[int, object, str | None]]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield number, json_text.loads(line.decode()), None
            except ValueError as error:
                yield number, None, str(error)


def _lines(path: Path, lines: list[bytes]) -> Reading:
    records: list[dict[str, object]] = []
    numbers: list[int] = []
    problems: list[Problem] = []
    for number, value, fault in _objects(lines):
        if isinstance(value, dict):
            records.append(value)
            numbers.append(number)
            continue
        what = f"is not valid JSON ({fault})." if fault else f"holds a {type(value).__name__}, not an object."
        remedy = 'Every line is one JSON object: {"doc_id": "d1", …}'
        problems.append(Problem(code="bad-line", file=path.name, row=number, what=what, remedy=remedy))
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = [_series(name, [record.get(name) for record in records]) for name in names]
    frame = pl.DataFrame([*columns, pl.Series(ROW, numbers, dtype=pl.Int64)])
    return Reading(table=Table.of(path.name, frame), problems=problems)


def _series(name: str, values: list[object]) -> pl.Series:
    """A column of one type where the values allow it, of Python objects where they are mixed."""
    kinds = {type(value) for value in values if value is not None}
    plain: dict[frozenset[type], pl.DataType] = {
        frozenset(): pl.String(),
        frozenset({str}): pl.String(),
        frozenset({int}): pl.Int64(),
        frozenset({bool}): pl.Boolean(),
        frozenset({float}): pl.Float64(),
        frozenset({int, float}): pl.Float64(),
    }
    return pl.Series(name, values, dtype=plain.get(frozenset(kinds), pl.Object()), strict=False)
