"""The columns of every table, and turning what was read into them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal

import polars as pl

from probative.data.problems import Problem
from probative.data.source import ROW, Table

Kind = Literal["id", "text", "int", "flag", "group"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column that a table may have."""

    name: str
    kind: Kind
    required: bool = True


def _id(name: str, *, required: bool = True) -> Column:
    return Column(name=name, kind="id", required=required)


def _text(name: str, *, required: bool = True) -> Column:
    return Column(name=name, kind="text", required=required)


def _int(name: str, *, required: bool = True) -> Column:
    return Column(name=name, kind="int", required=required)


_SPAN = (_int("start", required=False), _int("end", required=False))
_PAIR = (_id("doc_id"), _id("criterion_id"))
_MARK = (*_PAIR, _id("sent_uid", required=False), *_SPAN, _text("quote", required=False))
SCHEMA: dict[str, tuple[Column, ...]] = {
    "documents": (_id("doc_id"), _text("text", required=False)),
    "sentences": (_id("doc_id"), _int("sent_idx"), _id("sent_uid"), _text("text"), *_SPAN),
    "criteria": (_id("criterion_id"), _text("text"), _text("name", required=False)),
    "gold": _MARK,
    "rejected": _MARK,
    "pairs": (*_PAIR, Column(name="has_evidence", kind="flag", required=False)),
}


def missing(name: str, table: Table) -> list[Problem]:
    """Required columns that the table does not have; a JSONL file without lines has none and needs none."""
    if not table.columns and not table.frame.height:
        return []
    found = []
    names = {column.name for column in SCHEMA[name]}
    for column in SCHEMA[name]:
        if column.required and column.name not in table.columns:
            free = [other for other in table.columns if other not in names]
            near = difflib.get_close_matches(column.name, free, n=1, cutoff=0.5)
            guess = near[0] if near else free[0] if len(free) == 1 else "YOUR_COLUMN"
            what = f"column {column.name!r} is missing; there are: {', '.join(table.columns) or 'none'}."
            remedy = f"Name the column that holds it: --map {name}.{column.name}={guess}"
            found.append(Problem(code="missing-column", file=table.file, what=what, remedy=remedy))
    return found


def typed(name: str, table: Table) -> tuple[pl.DataFrame, list[Problem]]:
    """The table's own columns with their types; a value of another type is named and becomes empty."""
    frame = table.frame
    problems: list[Problem] = []
    wanted = [*SCHEMA[name], *_groups(name, table)]
    for column in wanted:
        if column.name in table.columns:
            cast, wrong = _cast(frame[column.name], column.kind)
            found = frame.filter(wrong).select(ROW, column.name).rows()
            problems += [_wrong(name, table, column, row, value) for row, value in found]
            frame = frame.with_columns(cast.alias(column.name))
        elif column.required:
            frame = frame.with_columns(pl.lit(None, pl.String).alias(column.name))
    return frame.select(ROW, *(column.name for column in wanted if column.name in frame.columns)), problems


def _groups(name: str, table: Table) -> list[Column]:
    """The grouping columns: whatever else a documents table has."""
    known = [column.name for column in SCHEMA[name]]
    others = [column for column in table.columns if column not in known] if name == "documents" else []
    return [Column(name=column, kind="group", required=False) for column in others]


def _wrong(name: str, table: Table, column: Column, row: int, value: object) -> Problem:
    wanted = {
        "id": "text or a whole number",
        "text": "text",
        "int": "a whole number",
        "flag": "0, 1 or empty (empty: taken from gold)",
        "group": "one value: text, a number or a date",
    }[column.kind]
    told = repr(value) if column.kind in ("int", "flag") else f"a {type(value).__name__}"
    what = f"{column.name} is {told}."
    return Problem(code="wrong-type", file=table.file, row=row, what=what, remedy=f"Write {wanted}.", table=name)


def _blank_to_null(column: pl.Expr) -> pl.Expr:
    return pl.when(column.str.strip_chars() != "").then(column)


def _cast(values: pl.Series, kind: Kind) -> tuple[pl.Series, pl.Series]:
    """The values in the column's type, and which of them could not be brought to it."""
    if values.dtype == pl.Object:
        values, odd = _objects(values, kind)
    else:
        odd = pl.repeat(False, len(values), dtype=pl.Boolean, eager=True)
    cast, wrong = _cast_plain(values, kind)
    return cast, wrong | odd


def _objects(values: pl.Series, kind: Kind) -> tuple[pl.Series, pl.Series]:
    """A column of mixed types as text, and which values are of no type that the column allows."""
    allowed: tuple[type, ...] = {"id": (str, int), "text": (str,)}.get(kind, (str, int, float, bool))
    right = [isinstance(v, allowed) and (kind != "id" or not isinstance(v, bool)) for v in values.to_list()]
    text = [str(v) if fine else None for v, fine in zip(values.to_list(), right, strict=True)]
    odd = [not fine and v is not None for v, fine in zip(values.to_list(), right, strict=True)]
    return pl.Series(text, dtype=pl.String), pl.Series(odd, dtype=pl.Boolean)


def _cast_plain(values: pl.Series, kind: Kind) -> tuple[pl.Series, pl.Series]:
    if kind in ("int", "flag"):
        return _numbers(values, flag=kind == "flag")
    none = pl.repeat(False, len(values), dtype=pl.Boolean, eager=True)
    lossless = values.dtype.is_integer() if kind == "id" else kind == "group" and _is_scalar(values.dtype)
    if values.dtype in (pl.String, pl.Null) or isinstance(values.dtype, pl.Categorical | pl.Enum) or lossless:
        text = values.cast(pl.String)
        return text.to_frame("x").select(_blank_to_null(pl.col("x"))).to_series(), none
    return pl.repeat(None, len(values), dtype=pl.String, eager=True), values.is_not_null()


def _is_scalar(kind: pl.DataType) -> bool:
    return not (kind.is_nested() or kind in (pl.Binary, pl.Object))


def _numbers(values: pl.Series, *, flag: bool) -> tuple[pl.Series, pl.Series]:
    given = values.is_not_null()
    if flag and values.dtype == pl.String:
        values = values.str.strip_chars().str.to_lowercase().replace({"true": "1", "false": "0"})
    if values.dtype == pl.String:
        values = values.str.strip_chars()
        given &= values != ""
    if not (
        values.dtype == pl.String or values.dtype == pl.Null or values.dtype == pl.Boolean or values.dtype.is_numeric()
    ):
        return pl.repeat(None, len(values), dtype=pl.Int64, eager=True), given
    number = values.cast(pl.Float64, strict=False)
    whole = number.is_finite() & (number == number.floor()) & (number.abs() < 2**53)
    if flag:
        whole &= number.is_in([0.0, 1.0])
    whole = whole.fill_null(False)
    cast = number.to_frame("x").select(pl.when(whole).then(pl.col("x"))).to_series().cast(pl.Int64)
    return cast, given & ~whole


def spare(name: str, table: Table) -> list[str]:
    """Columns that this table has and nothing uses."""
    known = [column.name for column in SCHEMA[name]]
    return [] if name == "documents" else [column for column in table.columns if column not in known]
