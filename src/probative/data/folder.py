"""A corpus folder, or somebody else's files with --map, as unchecked tables."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from probative.data import columns
from probative.data.meta import read_meta
from probative.data.problems import Problem
from probative.data.source import TABLES, Source, Table
from probative.data.tables import read_table
from probative.errors import ConfigError, DataError

FORMATS = (".parquet", ".csv", ".jsonl")


def parse_map(assignments: Iterable[str]) -> dict[str, str]:
    """`doc_id=post,text=body` as {ours: theirs}."""
    mapping: dict[str, str] = {}
    for part in (piece.strip() for text in assignments for piece in text.split(",")):
        ours, equals, theirs = part.partition("=")
        if not equals or not ours.strip() or not theirs.strip():
            raise ConfigError(f"--map {part}: must look like ours=theirs, for example --map doc_id=post,text=body")
        if ours.strip() in mapping:
            raise ConfigError(f"--map {ours.strip()}: stands there twice.")
        mapping[ours.strip()] = theirs.strip()
    return mapping


def _check_map(mapping: Mapping[str, str]) -> None:
    plain = {column.name for table in TABLES for column in columns.SCHEMA[table]}
    for ours in mapping:
        table, dot, column = ours.partition(".")
        known = {c.name for c in columns.SCHEMA.get(table, ())} if dot else {*plain, *TABLES}
        if (column if dot else ours) not in known:
            valid = [*TABLES, *sorted(plain), *(f"{t}.{c.name}" for t in TABLES for c in columns.SCHEMA[t])]
            near = difflib.get_close_matches(ours, valid, n=1, cutoff=0.5)
            hint = (
                f"Did you mean {near[0]!r}?"
                if near
                else f"Left of = stands a table or one of: {', '.join(sorted(plain))}."
            )
            raise ConfigError(f"--map {ours}={mapping[ours]}: unknown name {ours!r}. {hint}")


def _separator(sep: str | None) -> str | None:
    if sep in ("\\t", "tab"):
        return "\t"
    if sep is not None and (len(sep) != 1 or not sep.isascii() or sep == '"'):
        raise ConfigError(f"--sep {sep!r}: must be one character, or tab.")
    return sep


def read_folder(
    path: Path,
    *,
    mapping: Mapping[str, str] | None = None,
    sep: str | None = None,
    encoding: str | None = None,
) -> Source:
    """Read every table that the folder has.

    `mapping` says which column of theirs is which of ours (`text=body`, or `gold.quote=highlight` for one table) and
    which file is which table (`documents=posts.csv`).
    """
    mapping = dict(mapping or {})
    _check_map(mapping)
    sep = _separator(sep)
    if not path.exists():
        raise DataError(f"{path}: does not exist. Give the folder that holds the tables.")
    if not path.is_dir():
        formats = "redsm5, contractnli, cuad, jsonl"
        raise DataError(f"{path}: is a file. Give the folder that holds the tables, or name its --format: {formats}.")
    meta, problems = read_meta(path)
    notes: list[str] = []
    tables: dict[str, Table] = {}
    used: set[str] = set()
    for name in TABLES:
        file, faults = _find(path, name, mapping.get(name))
        problems += faults
        if file is None:
            continue
        reading = read_table(file, sep=sep, encoding=encoding)
        notes += reading.notes
        unread = ("ragged", "bad-line", "bad-quotes")
        problems += [replace(p, table=name) if p.code in unread else p for p in reading.problems]
        if reading.table is not None:
            tables[name], renamed = _rename(name, reading.table, mapping)
            used |= renamed
    if not any(problem.table is None for problem in problems):
        _all_used(mapping, used)
    return Source(meta=meta, tables=tables, notes=tuple(notes), problems=tuple(problems))


def _find(folder: Path, name: str, chosen: str | None) -> tuple[Path | None, list[Problem]]:
    if chosen is not None:
        if not (folder / chosen).is_file():
            near = difflib.get_close_matches(chosen, [p.name for p in folder.iterdir()], n=1, cutoff=0.5)
            hint = f" Closest match: {near[0]!r}." if near else ""
            raise ConfigError(f"--map {name}={chosen}: {folder} has no such file.{hint}")
        return folder / chosen, []
    found = [folder / f"{name}{suffix}" for suffix in FORMATS if (folder / f"{name}{suffix}").is_file()]
    if len(found) < 2:
        return (found[0] if found else None), []
    names = " and ".join(file.name for file in found)
    what = f"the table {name!r} is there more than once: {names}."
    return found[0], [Problem(code="two-files", file=found[0].name, what=what, remedy="Remove all but one of them.")]


def _rename(name: str, table: Table, mapping: Mapping[str, str]) -> tuple[Table, set[str]]:
    renaming: dict[str, str] = {}
    used: set[str] = set()
    for column in columns.SCHEMA[name]:
        key = f"{name}.{column.name}" if f"{name}.{column.name}" in mapping else column.name
        theirs = mapping.get(key)
        if theirs is not None and theirs in table.columns:
            used.add(key)
            if theirs != column.name:
                renaming[theirs] = column.name
    frame = table.frame.drop([ours for ours in renaming.values() if ours in table.columns and ours not in renaming])
    return Table(file=table.file, frame=frame.rename(renaming)), used


def _all_used(mapping: Mapping[str, str], used: set[str]) -> None:
    for ours, theirs in mapping.items():
        if ours not in used and ours not in TABLES:
            raise ConfigError(f"--map {ours}={theirs}: no table has a column {theirs!r} for it.")
