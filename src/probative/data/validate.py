"""Everything that is wrong with a corpus, found in one pass; and the corpus, when nothing is."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from probative.data import columns
from probative.data.corpus import Corpus
from probative.data.meta import CorpusMeta
from probative.data.problems import Problem
from probative.data.source import ROW, Source

MARKS = ("gold", "rejected")
MARK_COLUMNS = ("doc_id", "criterion_id", "sent_uid")


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What validation found: problems, things worth saying, and the tables in canonical order."""

    meta: CorpusMeta
    problems: list[Problem]
    notes: list[str]
    frames: dict[str, pl.DataFrame]

    def corpus(self) -> Corpus:
        """The corpus; only to be asked for when there are no problems."""
        return Corpus(meta=self.meta, **self.frames)


def check(source: Source) -> Checked:
    problems = list(source.problems)
    typed = {}
    for name, table in source.tables.items():
        lacking = columns.missing(name, table)
        problems += lacking
        if not lacking:
            typed[name], wrong = columns.typed(name, table)
            problems += wrong
    frames = {}
    if not problems:
        s = typed["sentences"].drop(ROW).sort("doc_id", "sent_idx")
        c = typed["criteria"].drop(ROW).sort("criterion_id")
        if "name" not in c.columns:
            c = c.with_columns(name="criterion_id")
        c = c.select("criterion_id", "text", pl.col("name").fill_null(pl.col("criterion_id")))
        d = typed["documents"].drop(ROW, "text", strict=False) if "documents" in typed else s.select("doc_id").unique()
        d = d.sort("doc_id")
        empty = pl.DataFrame(schema=dict.fromkeys(MARK_COLUMNS, pl.String))
        g = {m: (typed[m].select(MARK_COLUMNS) if m in typed else empty).unique().sort(MARK_COLUMNS) for m in MARKS}
        order = s.select("sent_uid").with_row_index("i")
        g = {m: f.join(order, on="sent_uid").sort("doc_id", "criterion_id", "i").drop("i") for m, f in g.items()}
        p = (
            typed["pairs"].drop(ROW)
            if "pairs" in typed
            else d.select("doc_id").join(c.select("criterion_id"), how="cross")
        )
        if "has_evidence" not in p.columns:
            p = p.with_columns(has_evidence=pl.lit(None, pl.Int64))
        located = g["gold"].select("doc_id", "criterion_id").unique().with_columns(l=pl.lit(1))
        p = (
            p.join(located, on=["doc_id", "criterion_id"], how="left")
            .with_columns(has_evidence=pl.coalesce("has_evidence", "l", pl.lit(0)).cast(pl.Int8))
            .drop("l")
            .sort("doc_id", "criterion_id")
        )
        frames = dict(documents=d, sentences=s, criteria=c, pairs=p, **g)
    return Checked(meta=source.meta, problems=problems, notes=list(source.notes), frames=frames)
