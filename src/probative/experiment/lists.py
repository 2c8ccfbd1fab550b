"""Flat arrays with offsets as the list columns of a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from probative import segments
from probative.segments import IntArray

CONTROLS = {chr(code): json.dumps(chr(code))[1:-1] for code in range(32)}


def column(values: pl.Series, offsets: IntArray) -> pl.Series:
    """One list a segment, empty where the segment is."""
    n = len(offsets) - 1
    table = pl.DataFrame({"segment": segments.owner(offsets), "value": values})
    lists = table.group_by("segment", maintain_order=True).agg("value")
    every = pl.DataFrame({"segment": np.arange(n, dtype=np.int64)}).join(
        lists, on="segment", how="left", maintain_order="left"
    )
    empty = pl.lit([], dtype=pl.List(values.dtype))
    return every.select(pl.col("value").fill_null(empty))["value"]


def names(all_names: Sequence[str]) -> pl.Series:
    """The names as one series that rows can be gathered from."""
    return pl.Series(all_names, dtype=pl.String)


def as_json(table: pl.DataFrame) -> pl.DataFrame:
    """The table with its list columns as JSON arrays, for CSV."""
    made: list[Any] = []
    for name, dtype in table.schema.items():
        if not isinstance(dtype, pl.List):
            continue
        column = pl.col(name)
        if dtype.inner == pl.String:
            inner = column.list.eval(_quoted(pl.element()))
        else:
            inner = column.list.eval(pl.element().cast(pl.String))
        made.append(pl.concat_str(pl.lit("["), inner.list.join(","), pl.lit("]")).alias(name))
    return table.with_columns(made)


def _quoted(text: pl.Expr) -> pl.Expr:
    escaped = text.str.replace_all("\\", "\\\\", literal=True).str.replace_all('"', '\\"', literal=True)
    for raw, code in CONTROLS.items():
        escaped = escaped.str.replace_all(raw, code, literal=True)
    return pl.lit('"') + escaped + pl.lit('"')
