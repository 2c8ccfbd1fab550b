"""Python objects to sources: frames, dictionaries, lists of rows, and what ranx and ir_measures pass around."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from probative.errors import DataError

from .flat import Flat
from .per_query import read_per_query
from .source import Source, from_flat, read_path, read_trec_files
from .tables import SUFFIXES, Table, read_table, table
from .trec import SEPARATOR, from_judgements, split


def read_any(source: Any, *, gold: Any = None, probs: Any = None, pairs: Any = None, ties: str = "listed") -> Source:
    """Whatever holds predictions, as a source.

    Without `gold`: a run folder, a per_query file or a per_query frame. With it: scores as a file, a frame, a
    dictionary {query: {sentence: score}}, a ranx Run or ir_measures' ScoredDocs, and gold likewise. A query is a pair
    (document, criterion) or a text `document::criterion`.
    """
    if isinstance(source, Source):
        return source
    source, gold, probs, pairs = (_collected(value) for value in (source, gold, probs, pairs))
    if gold is None:
        if isinstance(source, (str, Path)):
            return read_path(Path(source), ties=ties)
        predictions = read_per_query(table(_frame(source), "predictions"), ties=ties)
        return Source(origin="predictions", predictions=predictions)
    if _is_file(source) and _is_file(gold) and Path(source).suffix.lower() not in SUFFIXES:
        return read_trec_files(Path(source), Path(gold), Path(probs) if probs is not None else None, ties=ties)
    flat = _flat(source, gold)
    if probs is not None:
        flat = flat.with_probs(_table(_keyed(probs, "prob"), "probs"))
    if pairs is not None:
        flat = flat.with_pairs(_table(pairs if _is_file(pairs) or _is_frame(pairs) else _pairs(pairs), "pairs"))
    return from_flat(flat, ties=ties)


def _is_file(value: Any) -> bool:
    return isinstance(value, (str, Path))


def _collected(value: Any) -> Any:
    return value.collect() if isinstance(value, pl.LazyFrame) else value


def _is_frame(value: Any) -> bool:
    return isinstance(value, pl.DataFrame) or type(value).__module__.split(".")[0] == "pandas"


def _table(value: Any, name: str) -> Table:
    return read_table(Path(value)) if _is_file(value) else table(_frame(value), name)


def _frame(value: Any) -> pl.DataFrame:
    if isinstance(value, pl.DataFrame):
        return value
    if _is_frame(value):
        return pl.DataFrame({str(name): _column(value[name]) for name in value.columns})
    if isinstance(value, Mapping) or (isinstance(value, list) and value and isinstance(value[0], Mapping)):
        return pl.DataFrame(value, strict=False, infer_schema_length=None)
    raise DataError(f"{type(value).__name__} is no table; give a file, a Polars or pandas frame, or a list of rows.")


def _column(values: Any) -> pl.Series:
    """A pandas column without a detour over pyarrow."""
    if values.dtype.kind in "iufb":
        return pl.Series(values.to_numpy())
    cells = [None if cell is None or cell != cell else cell for cell in _plain(values)]
    return pl.Series(cells, strict=False)


def _plain(values: Any) -> list[Any]:
    return [cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in values.tolist()]


def _flat(scores: Any, gold: Any) -> Flat:
    if _judged(scores) and _judged(gold):
        run, qrels = _judgements(scores, "score"), _judgements(gold, "relevance")
        return from_judgements(run, qrels, "scores", "gold")
    named = [_from_judged(value, column) for value, column in ((scores, "score"), (gold, "relevance"))]
    return Flat(scores=_table(named[0], "scores"), gold=_table(named[1], "gold"))


def _judged(value: Any) -> bool:
    """Whether something is keyed by query id, the way retrieval libraries do it."""
    if _is_file(value):
        return False
    if _is_frame(value):
        return "query_id" in list(value.columns) and "criterion_id" not in list(value.columns)
    return hasattr(value, "to_dict") or isinstance(value, Mapping) or not _rows(value)


def _rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _from_judged(value: Any, column: str) -> Any:
    if not _judged(value):
        return value
    frame = split(_judgements(value, column))
    return frame.filter(pl.col(column) > 0) if column == "relevance" else frame


def _judgements(value: Any, column: str) -> pl.DataFrame:
    """(query_id, sent_uid, score or relevance) from a frame, a dictionary, a ranx object or named tuples."""
    if _is_frame(value):
        frame = _frame(value)
        return frame.rename({"doc_id": "sent_uid"} if "sent_uid" not in frame.columns else {})
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, Mapping):
        return _from_mapping(value, column)
    field = "score" if column == "score" else "relevance"
    try:
        rows = [(str(row.query_id), str(row.doc_id), getattr(row, field)) for row in value]
    except (AttributeError, TypeError) as error:
        raise DataError(
            f"a {type(value).__name__} holds no {column}s; give a file, a frame, a dictionary "
            f"{{query: {{sentence: {column}}}}}, or what ranx and ir_measures read."
        ) from error
    return pl.DataFrame(rows, schema=["query_id", "sent_uid", column], orient="row", infer_schema_length=None)


def _from_mapping(value: Mapping[Any, Any], column: str) -> pl.DataFrame:
    query_ids: list[str] = []
    uids: list[str] = []
    numbers: list[float] = []
    for query, found in value.items():
        members = found if isinstance(found, Mapping) else dict.fromkeys(found, 1)
        query_ids += [query_text(query)] * len(members)
        uids += map(str, members)
        numbers += members.values()
        if not members and column == "relevance":
            query_ids, uids, numbers = [*query_ids, query_text(query)], [*uids, ""], [*numbers, 0]
    schema = {"query_id": pl.String, "sent_uid": pl.String, column: pl.Float64}
    return pl.DataFrame({"query_id": query_ids, "sent_uid": uids, column: numbers}, schema=schema)


def query_text(query: Any) -> str:
    """A query's key as `document::criterion`."""
    return SEPARATOR.join(map(str, query)) if isinstance(query, tuple) else str(query)


def _keyed(value: Any, column: str) -> Any:
    """A table from {query: number}; anything else as it is."""
    if not isinstance(value, Mapping) or all(
        isinstance(cell, (list, pl.Series, np.ndarray)) for cell in value.values()
    ):
        return value
    frame = pl.DataFrame({"query_id": [query_text(query) for query in value], column: list(value.values())})
    return split(frame)


def _pairs(value: Iterable[Any]) -> pl.DataFrame:
    return split(pl.DataFrame({"query_id": [query_text(query) for query in value]}))
