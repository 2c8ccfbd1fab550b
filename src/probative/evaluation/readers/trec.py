"""TREC run and qrels lines to the flat tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from probative.errors import DataError

from .flat import Flat
from .tables import table

SEPARATOR = "::"
ALONE = "query"
"""The criterion of a query id that names none."""


def read_trec(run: Path, qrels: Path) -> Flat:
    """A run and its qrels; equal scores keep the order of the run's rank column, then of its lines."""
    ranked = _fields(run, ("query_id", "q0", "sent_uid", "rank", "score", "tag"))
    judged = _fields(qrels, ("query_id", "iteration", "sent_uid", "relevance"))
    flat = from_judgements(ranked, judged, str(run), str(qrels))
    rank = pl.col("rank").cast(pl.Float64, strict=False)
    return replace(flat, scores=flat.scores.take(flat.scores.frame.sort(rank, maintain_order=True)))


def from_judgements(run: pl.DataFrame, qrels: pl.DataFrame, run_name: str, qrels_name: str) -> Flat:
    """Flat tables from frames (query_id, sent_uid, score) and (query_id, sent_uid, relevance).

    Relevance above 0 is gold. A query that the qrels do not name is unlabelled, as trec_eval has it; one whose
    sentences are all judged 0 is a labelled query without evidence.
    """
    judged = table(split(qrels), qrels_name)
    relevance = judged.frame["relevance"].cast(pl.Float64, strict=False)
    if relevance.null_count():
        at = int(relevance.is_null().arg_max() or 0)
        raise DataError(f"{qrels_name}, row {at + 1}: relevance {judged.frame['relevance'][at]!r} is not a number.")
    return Flat(
        scores=table(split(run), run_name),
        gold=judged.take(judged.frame.filter(relevance > 0)),
        pairs=judged.take(judged.frame.unique(["doc_id", "criterion_id"], keep="first", maintain_order=True)),
    )


def split(frame: pl.DataFrame) -> pl.DataFrame:
    """`query_id` as doc_id and criterion_id, cut at the last `::`; an id without it is a document of its own."""
    text = pl.col("query_id").cast(pl.String)
    cut = text.str.extract_groups(f"(?s)^(?<doc>.*){SEPARATOR}(?<criterion>.*)$")
    doc = cut.struct.field("doc").fill_null(text)
    criterion = cut.struct.field("criterion").fill_null(ALONE)
    return frame.with_columns(doc.alias("doc_id"), criterion.alias("criterion_id")).drop("query_id")


def _fields(path: Path, names: tuple[str, ...]) -> pl.DataFrame:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is not UTF-8 text.") from error
    if not lines:
        raise DataError(f"{path}: is empty.")
    parts = pl.Series("line", lines).str.strip_chars().str.replace_all(r"\s+", " ").str.split(" ")
    sizes = parts.list.len()
    wrong = (sizes != len(names)).arg_true()
    if len(wrong):
        at = int(wrong[0])
        expected = " ".join(names)
        raise DataError(f"{path}, row {at + 1}: has {sizes[at]} fields, not the {len(names)} of `{expected}`.")
    return parts.list.to_struct(fields=list(names)).struct.unnest()
