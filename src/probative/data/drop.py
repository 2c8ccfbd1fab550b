"""Leaving invalid rows out on request: what is left out is kept aside and told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from probative.data import columns
from probative.data.problems import Problem
from probative.data.source import ROW, Source, Table
from probative.data.validate import Checked, check


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A row that was left out (or, for a gap, renumbered), and why."""

    problem: Problem
    values: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON values."""
        return {"file": self.problem.file, "row": self.problem.row, "code": self.problem.code} | {
            "what": self.problem.what,
            "values": self.values,
        }


def drop_invalid(source: Source) -> tuple[Checked, list[Dropped]]:
    """Leave rows with problems out until nothing changes; what cannot be helped stays a problem."""
    dropped: list[Dropped] = []
    while True:
        checked = check(source)
        helped = [problem for problem in checked.problems if _helps(problem)]
        if not helped:
            return checked, dropped
        dropped += [Dropped(problem=problem, values=_values(source, problem)) for problem in helped]
        source = _without(source, helped)


def _helps(problem: Problem) -> bool:
    """Whether leaving the row out, or closing the gap, mends this problem."""
    return problem.row is not None and problem.table is not None


def _values(source: Source, problem: Problem) -> dict[str, Any]:
    table = source.tables.get(problem.table or "")
    row = table.frame.filter(pl.col(ROW) == problem.row).drop(ROW).to_dicts() if table is not None else []
    return {name: _plain(value) for name, value in row[0].items()} if row else {}


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _without(source: Source, problems: Sequence[Problem]) -> Source:
    doomed: dict[str, set[int]] = defaultdict(set)
    gaps: set[int] = set()
    for problem in problems:
        if problem.row is not None and problem.table is not None:
            (gaps if problem.code == "gap" else doomed[problem.table]).add(problem.row)
    tables = dict(source.tables)
    for name, rows in doomed.items():
        if name in tables and name != "sentences":
            tables[name] = _filtered(tables[name], rows)
    if "sentences" in tables and (gaps or doomed["sentences"]):
        tables["sentences"] = _closed_up(tables["sentences"], doomed["sentences"], gaps)
    # Rows that could not even be read are out of their table already; their problem is settled by saying so.
    return replace(source, tables=tables, problems=tuple(p for p in source.problems if not _helps(p)))


def _filtered(table: Table, rows: Collection[int]) -> Table:
    return Table(file=table.file, frame=table.frame.filter(~pl.col(ROW).is_in(list(rows))))


def _closed_up(table: Table, doomed: Collection[int], gaps: Collection[int]) -> Table:
    """The sentences without some rows, numbered from 0 again in the documents that this touches."""
    if not {"doc_id", "sent_idx"} <= set(table.columns):
        return _filtered(table, doomed)
    typed, _ = columns.typed("sentences", table)
    frame = table.frame.with_columns(typed["doc_id"], typed["sent_idx"])
    touched = frame.filter(pl.col(ROW).is_in([*doomed, *gaps]))["doc_id"].drop_nulls().unique()
    anew = (pl.col("sent_idx").rank("ordinal").over("doc_id") - 1).cast(pl.Int64)
    kept = _filtered(Table(file=table.file, frame=frame), doomed).frame.with_columns(
        pl.when(pl.col("doc_id").is_in(touched.to_list())).then(anew).otherwise("sent_idx").alias("sent_idx")
    )
    return Table(file=table.file, frame=kept)
