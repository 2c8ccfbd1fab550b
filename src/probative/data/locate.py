"""Gold as people annotate it: a sentence's uid, a span of the text, or a quote. All end as uids; nothing is guessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from probative.data.problems import Problem, Teller
from probative.data.quotes import Page, snippet
from probative.data.source import ROW

LOCATED = (ROW, "doc_id", "criterion_id", "sent_uid")


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """Marks with uids, as many rows a mark as it touches sentences; and the marks that found no place."""

    frame: pl.DataFrame
    problems: list[Problem]


def locate(
    name: str, file: str, marks: pl.DataFrame, sentences: pl.DataFrame, texts: Mapping[str, str] | None
) -> Located:
    """Bring every mark to sentence uids. `texts` are whole documents, where the corpus has them."""
    absent = {"sent_uid": pl.String, "start": pl.Int64, "end": pl.Int64, "quote": pl.String}
    marks = marks.with_columns(pl.lit(None, kind).alias(c) for c, kind in absent.items() if c not in marks.columns)
    by_uid = pl.col("sent_uid").is_not_null()
    by_span = ~by_uid & pl.col("start").is_not_null() & pl.col("end").is_not_null()
    by_quote = ~by_uid & ~by_span & pl.col("quote").is_not_null()
    teller = Teller(name, file)
    spans, span_problems = _spans(marks.filter(by_span), sentences, texts, teller)
    quotes, quote_problems = _quotes(marks.filter(by_quote), sentences, texts, teller)
    homeless = [
        teller(row, "no-place", "names no sentence.", "Give sent_uid, or start and end, or quote.")
        for row in marks.filter(~(by_uid | by_span | by_quote))[ROW]
    ]
    homeless += _elsewhere(marks.filter(by_uid), sentences, teller)
    frame = pl.concat([marks.filter(by_uid).select(LOCATED), spans, quotes]).sort(ROW, maintain_order=True)
    return Located(frame=frame, problems=homeless + span_problems + quote_problems)


def _elsewhere(marks: pl.DataFrame, sentences: pl.DataFrame, teller: Teller) -> list[Problem]:
    """Marks whose sentence is not where their span or quote is: one of the two is wrong."""
    positions = [name for name in ("start", "end") if {"start", "end"} <= set(sentences.columns)]
    own = sentences.select("doc_id", "sent_uid", "text", *(pl.col(name).alias(f"own_{name}") for name in positions))
    there = marks.join(own, on=["doc_id", "sent_uid"], how="inner", maintain_order="left")
    plain, quote = (pl.col(name).str.replace_all(r"\s+", " ").str.strip_chars() for name in ("text", "quote"))
    apart = ~plain.str.contains(quote, literal=True) & ~quote.str.contains(plain, literal=True)
    if positions:
        apart = apart.fill_null(False) | (pl.col("start") >= pl.col("own_end")) | (pl.col("end") <= pl.col("own_start"))
    remedy = "Correct it, or leave out what does not count."
    return [
        teller(row, "other-place", f"sentence {uid!r} is not where its start and end or its quote are.", remedy)
        for row, uid in there.filter(apart)
        .unique(ROW, keep="first", maintain_order=True)
        .select(ROW, "sent_uid")
        .rows()
    ]


def _spans(
    marks: pl.DataFrame, sentences: pl.DataFrame, texts: Mapping[str, str] | None, teller: Teller
) -> tuple[pl.DataFrame, list[Problem]]:
    nothing = pl.DataFrame(schema=dict(zip(LOCATED, (pl.Int64, pl.String, pl.String, pl.String), strict=True)))
    if not marks.height:
        return nothing, []
    if "start" not in sentences.columns:
        remedy = "Give the documents table instead of sentences, or start and end of every sentence, or sent_uid."
        what = "is a span, but the sentences have no start and end."
        return nothing, [teller(row, "no-positions", what, remedy) for row in marks[ROW]]
    length = _lengths(sentences, texts)
    marks = marks.join(length, on="doc_id", how="left", maintain_order="left")
    backwards = pl.col("start") >= pl.col("end")
    outside = ~backwards & ((pl.col("start") < 0) | (pl.col("end") > pl.col("length")))
    problems = []
    for row, start, end in marks.filter(backwards).select(ROW, "start", "end").rows():
        what = f"start {start} is not before end {end}."
        problems.append(teller(row, "bad-span", what, "end is the position after the last character."))
    for row, start, end, size in marks.filter(outside).select(ROW, "start", "end", "length").rows():
        what = f"the span {start}–{end} is outside the text, which has {size} characters."
        problems.append(teller(row, "span-outside", what, "Count characters, not bytes, from 0 at the text's start."))
    good = marks.filter((~backwards & ~outside).fill_null(True))
    differing = _differing(good, texts)
    for row in differing:
        remedy = "Correct start and end (in characters, from 0), or remove the quote column."
        problems.append(teller(row, "span-mismatch", "the text of the span is not the quote.", remedy))
    good = good.filter(~pl.col(ROW).is_in(differing)) if differing else good
    placed = sentences.select(
        "doc_id", "sent_uid", "sent_idx", pl.col("start").alias("from"), pl.col("end").alias("to")
    )
    touched = (
        good.drop("sent_uid")
        .join(placed, on="doc_id", how="inner", maintain_order="left_right")
        .filter((pl.col("start") < pl.col("to")) & (pl.col("end") > pl.col("from")))
    )
    known = good.join(placed.select("doc_id").unique(), on="doc_id", how="semi")
    lost = known.join(touched, on=ROW, how="anti")[ROW]
    problems += [teller(row, "empty-span", "the span touches no sentence.", "Correct start and end.") for row in lost]
    return touched.select(LOCATED), problems


def _lengths(sentences: pl.DataFrame, texts: Mapping[str, str] | None) -> pl.DataFrame:
    if texts is None:
        return sentences.group_by("doc_id").agg(length=pl.col("end").max())
    return pl.DataFrame({"doc_id": list(texts)}, schema={"doc_id": pl.String}).with_columns(
        pl.Series("length", [len(text) for text in texts.values()], dtype=pl.Int64)
    )


def _differing(marks: pl.DataFrame, texts: Mapping[str, str] | None) -> list[int]:
    """Rows whose span and quote, both given, say different things."""
    if texts is None:
        return []
    both = marks.filter(pl.col("quote").is_not_null()).select(ROW, "doc_id", "start", "end", "quote")
    return [
        row
        for row, doc_id, start, end, quote in both.rows()
        if doc_id in texts and texts[doc_id][start:end].split() != quote.split()
    ]


def _quotes(
    marks: pl.DataFrame, sentences: pl.DataFrame, texts: Mapping[str, str] | None, teller: Teller
) -> tuple[pl.DataFrame, list[Problem]]:
    found: list[tuple[int, str, str, str]] = []
    problems: list[Problem] = []
    for doc_id, page, rows in _pages(marks, sentences, texts):
        for row, criterion_id, quote in rows:
            places = page.places(quote)
            if len(places) == 1:
                found += [(row, doc_id, criterion_id, uid) for uid in places[0]]
            elif places:
                named = ", ".join(" + ".join(place) for place in places[:4])
                what = f"the quote {snippet(quote)} stands {len(places)} times in {doc_id}: {named}."
                problems.append(teller(row, "ambiguous-quote", what, "Give the sent_uid, or a longer quote."))
            else:
                what = f"the quote {snippet(quote)} is not in {doc_id}."
                problems.append(teller(row, "unmatched-quote", what, page.advice(quote)))
    schema = dict(zip(LOCATED, (pl.Int64, pl.String, pl.String, pl.String), strict=True))
    return pl.DataFrame(found, schema=schema, orient="row"), problems


def _pages(
    marks: pl.DataFrame, sentences: pl.DataFrame, texts: Mapping[str, str] | None
) -> Iterator[tuple[str, Page, list[tuple[int, str, str]]]]:
    """Every document that is quoted, with its quotes."""
    wanted = marks.join(sentences, on="doc_id", how="semi").select("doc_id", ROW, "criterion_id", "quote")
    rows = {key[0]: part.drop("doc_id").rows() for key, part in wanted.partition_by("doc_id", as_dict=True).items()}
    kept = sentences.join(wanted, on="doc_id", how="semi", maintain_order="left")
    for key, part in kept.partition_by("doc_id", as_dict=True, maintain_order=True).items():
        doc_id = str(key[0])
        spans = None
        if texts is not None and "start" in part.columns:
            spans = list(zip(part["start"].to_list(), part["end"].to_list(), strict=True))
        page = Page(
            part["sent_uid"].to_list(), part["text"].to_list(), texts[doc_id] if texts and spans else None, spans
        )
        yield doc_id, page, rows[doc_id]
