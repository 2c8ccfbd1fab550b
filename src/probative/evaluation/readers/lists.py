"""List columns as flat codes behind offsets, and where one list's members stand in another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from probative import segments
from probative.evaluation.predictions import HashArray
from probative.segments import BoolArray, FloatArray, IntArray

from .problems import Problems
from .tables import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """One list of sentence codes a query."""

    offsets: IntArray
    code: IntArray

    @property
    def sizes(self) -> IntArray:
        return np.diff(self.offsets)


def parse(source: Table, name: str, inner: pl.DataType, problems: Problems) -> pl.Series:
    """A column as lists: native ones as they are, text read as JSON; an empty cell is an empty list."""
    column = source.frame[name]
    if isinstance(column.dtype, pl.List):
        return _native(source, column, inner, problems)
    if column.dtype == pl.Null:
        return pl.Series(name, [[]] * len(column), dtype=pl.List(inner))
    if column.dtype != pl.String:
        problems.add_table(source.origin, f"{name} must hold lists (JSON arrays in CSV), not {column.dtype}.")
        return pl.Series(name, [[]] * len(column), dtype=pl.List(inner))
    text = column.fill_null("[]").str.strip_chars().replace("", "[]")
    try:
        if not text.str.starts_with("[").all():
            raise pl.exceptions.ComputeError("not lists")
        decoded = text.str.json_decode(pl.List(inner))
    except pl.exceptions.PolarsError:
        decoded = _row_by_row(source, name, text, inner, problems)
    return _no_nulls(source, decoded, problems)


def _native(source: Table, column: pl.Series, inner: pl.DataType, problems: Problems) -> pl.Series:
    try:
        lists = column.cast(pl.List(inner))
    except pl.exceptions.PolarsError:
        problems.add_table(source.origin, f"{column.name} must hold lists of {inner}, not {column.dtype}.")
        return pl.Series(column.name, [[]] * len(column), dtype=pl.List(inner))
    return _no_nulls(source, lists.fill_null(pl.Series([[]], dtype=pl.List(inner))), problems)


def _no_nulls(source: Table, lists: pl.Series, problems: Problems) -> pl.Series:
    if not flat(lists).null_count():
        return lists
    holes = lists.list.eval(pl.element().is_null()).list.any().fill_null(False).to_numpy()
    problems.add(source.origin, source.rows[holes], lambda i: f"{lists.name} holds an empty member (null).")
    return lists.list.drop_nulls()


def _row_by_row(source: Table, name: str, text: pl.Series, inner: pl.DataType, problems: Problems) -> pl.Series:
    lists: list[list[Any]] = []
    bad: list[tuple[int, str]] = []
    for row, cell in zip(source.rows, text, strict=True):
        try:
            lists.append(_members(json.loads(cell), inner))
        except (ValueError, TypeError) as error:
            bad.append((int(row), str(error)))
            lists.append([])
    problems.add(
        source.origin,
        [row for row, _ in bad],
        lambda i: f'{name} is not a JSON array such as ["s1", "s2"] ({bad[i][1]}).',
    )
    return pl.Series(name, lists, dtype=pl.List(inner))


def _members(value: Any, inner: pl.DataType) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"it is a {type(value).__name__}")
    if inner == pl.Float64:
        return [None if member is None else float(member) for member in value]
    if any(isinstance(member, (list, dict)) for member in value):
        raise TypeError("its members must be plain identifiers")
    return [None if member is None else str(member) for member in value]


def flat(lists: pl.Series) -> pl.Series:
    """The members of all lists, list after list; empty lists leave nothing behind."""
    return lists.filter(lists.list.len() > 0).explode()


def offsets(lists: pl.Series) -> IntArray:
    """Where each list begins in `flat`."""
    return segments.from_lengths(lists.list.len().to_numpy().astype(np.int64))


def encode(columns: Mapping[str, pl.Series]) -> dict[str, Lists]:
    """Lists of text as lists of codes that all columns share."""
    flats = {name: flat(lists) for name, lists in columns.items()}
    merged = pl.concat([series.rename("uid") for series in flats.values()])
    codes = codes_of(merged)
    cuts = np.cumsum([len(series) for series in flats.values()])[:-1]
    pieces = np.split(codes, cuts)
    return {
        name: Lists(offsets=offsets(lists), code=piece)
        for (name, lists), piece in zip(columns.items(), pieces, strict=True)
    }


def codes_of(text: pl.Series) -> IntArray:
    """Equal text, equal code."""
    # A category set of its own, because the global one would keep every identifier ever read.
    categories = text.cast(pl.Categorical(pl.Categories.random()))
    return categories.to_physical().to_numpy().astype(np.int64)


def _keys(lists: Lists, width: int) -> IntArray:
    return segments.owner(lists.offsets) * width + lists.code


def places(members: Lists, lists: Lists) -> IntArray:
    """For every member its place (from 1) in the list of the same query, 0 where it is not in it."""
    found = np.zeros(len(members.code), dtype=np.int64)
    owner, place = segments.owner(members.offsets), segments.within(members.offsets)
    # A pool or a selection is mostly the head of its ranking: the same place is looked at before any search.
    inside = np.flatnonzero(place < lists.sizes[owner])
    same = inside[lists.code[lists.offsets[owner[inside]] + place[inside]] == members.code[inside]]
    found[same] = place[same] + 1
    rest = np.flatnonzero((found == 0) & (lists.sizes[owner] > 0))
    if len(rest):
        found[rest] = _search(owner[rest], members.code[rest], lists)
    return found


def _search(owner: IntArray, code: IntArray, lists: Lists) -> IntArray:
    asked = np.unique(owner)
    rows, sizes = segments.rows(lists.offsets, asked), lists.sizes[asked]
    width = int(max(code.max(), lists.code[rows].max())) + 1
    keys = np.repeat(asked, sizes) * width + lists.code[rows]
    place = segments.within(segments.from_lengths(sizes)) + 1
    order = np.argsort(keys)
    wanted = owner * width + code
    at = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    nearest = order[at]
    return np.where(keys[nearest] == wanted, place[nearest], 0)


def repeats(lists: Lists) -> BoolArray:
    """For every query whether its list names a member twice."""
    twice = np.zeros(len(lists.offsets) - 1, dtype=np.bool_)
    if len(lists.code):
        width = int(lists.code.max()) + 1
        keys = np.sort(_keys(lists, width))
        twice[keys[1:][keys[1:] == keys[:-1]] // width] = True
    return twice


def sums(hashes: HashArray, offsets: IntArray) -> HashArray:
    """The sum of every segment, in whatever order its members stand; overflow wraps around."""
    running = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(hashes, dtype=np.uint64)))
    return running[offsets[1:]] - running[offsets[:-1]]


def count(values: BoolArray, offsets: IntArray) -> IntArray:
    """How many of every segment are true."""
    running: FloatArray | IntArray = np.concatenate(([0], np.cumsum(values, dtype=np.int64)))
    return (running[offsets[1:]] - running[offsets[:-1]]).astype(np.int64)
