"""Flat score files (one row a candidate, gold and probabilities beside them) to Predictions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from probative import segments
from probative.evaluation.predictions import Predictions
from probative.segments import BoolArray, FloatArray, IntArray

from .assemble import Draft, assemble
from .decisions import filled, flag, read_decisions
from .lists import Lists, codes_of
from .problems import Problems
from .tables import ROW, Table, find_duplicates, require, with_ids

KEY = ("doc_id", "criterion_id")
CANDIDATE = (*KEY, "sent_uid")
TIES = ("listed", "trec", "expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flat:
    """The tables that a scorer's output comes in. `pairs` says which queries are labelled; without it all are."""

    scores: Table
    gold: Table
    probs: Table | None = None
    pairs: Table | None = None

    def with_probs(self, probs: Table) -> Flat:
        return replace(self, probs=probs)

    def with_pairs(self, pairs: Table) -> Flat:
        return replace(self, pairs=pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatRead:
    """Predictions, and what was seen but not scored."""

    predictions: Predictions
    n_unlabelled: int = 0
    """Queries that a given `pairs` table does not name."""
    notes: tuple[str, ...] = ()


def read_flat(flat: Flat, excluded: Collection[str] = (), *, ties: str = "listed") -> FlatRead:
    """Rank by falling score; equal scores keep the order of the file, or fall by identifier with `ties="trec"`."""
    problems = Problems()
    scores = with_ids(flat.scores, CANDIDATE, problems)
    values = _values(scores, problems)
    gold = with_ids(flat.gold, CANDIDATE, problems)
    probs = with_ids(flat.probs, KEY, problems) if flat.probs is not None else None
    pairs = with_ids(flat.pairs, KEY, problems) if flat.pairs is not None else None
    for source, names in ((scores, CANDIDATE), (gold, CANDIDATE), (probs, KEY), (pairs, KEY)):
        if source is not None:
            what = "the candidate" if source is scores else "the gold sentence" if source is gold else "the query"
            find_duplicates(source, names, what, problems)
    decisions = read_decisions(probs, problems) if probs is not None else None
    problems.stop()

    seen = _distinct([source for source in (scores, gold, probs) if source is not None])
    queries = seen if pairs is None else pairs.frame.select(KEY).unique().sort(KEY)
    if not len(queries):
        problems.add_table(flat.scores.origin, "holds no queries.")
        problems.stop()
    unlabelled = 0 if pairs is None else seen.join(queries, on=KEY, how="anti").height
    queries = queries.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("query"))
    ranked, gold_lists, ranked_scores = _rank(scores, values, gold, queries, ties)
    if decisions is not None:
        decisions = _all_queries(queries, decisions, flat, problems)
    positive = _positive(queries, pairs, gold_lists, problems)
    problems.stop()
    predictions = assemble(
        Draft(
            decisions=queries if decisions is None else decisions,
            ranked=ranked,
            gold=gold_lists,
            n_candidates=ranked.sizes,
            positive=positive,
            scores=ranked_scores,
            excluded=excluded,
        )
    )
    return FlatRead(predictions=predictions, n_unlabelled=unlabelled, notes=_notes(predictions, flat, unlabelled))


def _values(scores: Table, problems: Problems) -> FloatArray:
    require(scores, ("score",))
    column = scores.frame["score"]
    if column.dtype == pl.String:
        column = column.str.strip_chars()
    values = column.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    bad = np.flatnonzero(np.isnan(values))
    problems.add(
        scores.origin,
        scores.rows[bad],
        lambda i: f"score is {column[int(bad[i])]!r}, not a number; every candidate needs one.",
    )
    return values


def _distinct(sources: list[Table]) -> pl.DataFrame:
    return pl.concat([source.frame.select(KEY) for source in sources]).unique().sort(KEY)


def _rank(
    scores: Table, values: FloatArray, gold: Table, queries: pl.DataFrame, ties: str
) -> tuple[Lists, Lists, FloatArray]:
    """The rankings, the gold sentences and the scores in ranking order."""
    codes = codes_of(pl.concat([scores.frame["sent_uid"], gold.frame["sent_uid"]]))
    score_code, gold_code = np.split(codes, [len(values)])
    if ties == "trec":
        tie = -scores.frame["sent_uid"].rank("dense").to_numpy().astype(np.int64)
    else:
        tie = np.arange(len(values), dtype=np.int64)
    score_query, gold_query = _query_of(scores, queries), _query_of(gold, queries)
    order = _sorted(score_query, -values, tie)
    ranked = _lists(score_query[order], score_code[order], len(queries))
    gold_order = _sorted(gold_query, gold.rows)
    return ranked, _lists(gold_query[gold_order], gold_code[gold_order], len(queries)), values[order]


def _query_of(source: Table, queries: pl.DataFrame) -> IntArray:
    """For every row the number of its query, -1 where it is not among them."""
    joined = source.frame.select(KEY).join(queries, on=KEY, how="left", maintain_order="left")
    return joined["query"].fill_null(-1).to_numpy()


def _sorted(query: IntArray, *keys: FloatArray | IntArray) -> IntArray:
    """The rows of known queries, by query, then by the keys."""
    kept = np.flatnonzero(query >= 0)
    return kept[np.lexsort((*(key[kept] for key in reversed(keys)), query[kept]))]


def _lists(query: IntArray, code: IntArray, n_queries: int) -> Lists:
    return Lists(offsets=segments.from_lengths(np.bincount(query, minlength=n_queries)), code=code)


def _all_queries(queries: pl.DataFrame, decisions: pl.DataFrame, flat: Flat, problems: Problems) -> pl.DataFrame:
    """The decisions in the order of the queries; none may lack one."""
    missing = queries.join(decisions, on=KEY, how="anti")
    if flat.probs is not None and len(missing):
        doc, criterion = missing.select(KEY).row(0)
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        problems.add_table(flat.probs.origin, f"has no row for document {doc!r}, criterion {criterion!r}{more}.")
    return queries.join(decisions.drop(ROW), on=KEY, how="left", maintain_order="left")


def _positive(queries: pl.DataFrame, pairs: Table | None, gold: Lists, problems: Problems) -> BoolArray:
    located = gold.sizes > 0
    if pairs is None or not filled(pairs, "has_evidence"):
        return located
    given = pairs.frame["has_evidence"]
    blank = (given.is_null() | (given.cast(pl.String, strict=False).str.strip_chars() == "")).to_numpy()
    known = pairs.take(pairs.frame.filter(~blank))
    query = _query_of(known, queries)
    said = flag(known, "has_evidence", problems)
    positive = located.copy()
    positive[query] = said
    wrong = np.flatnonzero(located[query] & ~said)
    problems.add(
        pairs.origin,
        known.rows[wrong],
        lambda i: "has_evidence 0 contradicts the gold sentences of document {!r}, criterion {!r}.".format(
            *known.frame.select(KEY).row(int(wrong[i]))
        ),
    )
    return positive


def _notes(predictions: Predictions, flat: Flat, unlabelled: int) -> tuple[str, ...]:
    notes = []
    if unlabelled:
        where = flat.pairs.origin if flat.pairs is not None else "pairs"
        notes.append(f"{unlabelled:,} queries are not in {where}: unlabelled, counted, never scored.")
    outside = int((predictions.gold_rank == 0).sum())
    if outside and outside == len(predictions.gold_rank):
        notes.append(
            f"none of the {outside:,} gold sentences of {flat.gold.origin} is among the scored ones; "
            "check that both files use the same identifiers."
        )
    elif outside:
        notes.append(f"{outside:,} gold sentences are not among the scored ones; they count as missed.")
    bare = int((predictions.n_ranked == 0).sum())
    if bare:
        notes.append(f"{bare:,} queries have no candidates; an empty ranking scores 0.")
    return tuple(notes)
