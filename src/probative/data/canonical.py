"""The six tables in their one order, with every default filled in."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from probative.data.source import ROW

MARK = ["doc_id", "criterion_id", "sent_uid"]
PAIR = ["doc_id", "criterion_id"]


def frames(
    typed: Mapping[str, pl.DataFrame], sentences: pl.DataFrame, marks: Mapping[str, pl.DataFrame]
) -> dict[str, pl.DataFrame]:
    """Checked tables as a corpus holds them."""
    sentences = _sentences(sentences)
    documents = _documents(typed, sentences)
    criteria = _criteria(typed.get("criteria"))
    gold, rejected = (_marks(marks.get(name), sentences) for name in ("gold", "rejected"))
    pairs = _pairs(typed.get("pairs"), documents, criteria, gold)
    return {
        "documents": documents,
        "sentences": sentences,
        "criteria": criteria,
        "gold": gold,
        "rejected": rejected,
        "pairs": pairs,
    }


def _sentences(frame: pl.DataFrame) -> pl.DataFrame:
    names = ["doc_id", "sent_idx", "sent_uid", "text"]
    if "start" in frame.columns and frame["start"].null_count() < frame.height:
        names += ["start", "end"]
    return frame.select(names).sort("doc_id", "sent_idx")


def _documents(typed: Mapping[str, pl.DataFrame], sentences: pl.DataFrame) -> pl.DataFrame:
    if "documents" not in typed:
        return sentences.select("doc_id").unique().sort("doc_id")
    return typed["documents"].drop(ROW, "text", strict=False).sort("doc_id")


def _criteria(frame: pl.DataFrame | None) -> pl.DataFrame:
    if frame is None:
        return pl.DataFrame(schema=dict.fromkeys(("criterion_id", "text", "name"), pl.String))
    named = frame if "name" in frame.columns else frame.with_columns(name=pl.lit(None, pl.String))
    return named.select("criterion_id", "text", pl.col("name").fill_null(pl.col("criterion_id"))).sort("criterion_id")


def _marks(frame: pl.DataFrame | None, sentences: pl.DataFrame) -> pl.DataFrame:
    if frame is None:
        return pl.DataFrame(schema=dict.fromkeys(MARK, pl.String))
    order = sentences.select("sent_uid", "sent_idx")
    joined = frame.select(MARK).unique().join(order, on="sent_uid", how="left")
    return joined.sort("doc_id", "criterion_id", "sent_idx").drop("sent_idx")


def _pairs(
    frame: pl.DataFrame | None, documents: pl.DataFrame, criteria: pl.DataFrame, gold: pl.DataFrame
) -> pl.DataFrame:
    if frame is None:
        frame = documents.select("doc_id").join(criteria.select("criterion_id"), how="cross")
    if "has_evidence" not in frame.columns:
        frame = frame.with_columns(has_evidence=pl.lit(None, pl.Int64))
    located = gold.select(PAIR).unique().with_columns(located=pl.lit(1, pl.Int64))
    return (
        frame.select(*PAIR, "has_evidence")
        .join(located, on=PAIR, how="left")
        .select(*PAIR, pl.coalesce("has_evidence", "located", pl.lit(0)).cast(pl.Int8).alias("has_evidence"))
        .sort(PAIR)
    )
