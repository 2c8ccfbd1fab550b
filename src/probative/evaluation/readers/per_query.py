"""A per_query table (one row a query, list columns) to Predictions."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import polars as pl

from probative import segments
from probative.errors import DataError
from probative.evaluation.predictions import MODES, NEG, HashArray, Predictions
from probative.segments import BoolArray, FloatArray, IntArray

from .assemble import Draft, assemble
from .decisions import filled, flag, note, read_decisions, whole
from .lists import Lists, count, encode, flat, parse, places, repeats, sums
from .problems import Problems
from .tables import ROW, Table, find_duplicates, require, with_ids

REQUIRED = ("doc_id", "criterion_id", "ranked_uids", "gold_uids")
KEY = ("doc_id", "criterion_id")


def read_per_query(source: Table, excluded: Collection[str] = (), *, ties: str = "listed") -> Predictions:
    """Check a whole table and make Predictions of it; one error tells every problem.

    A ranking is taken as listed; with `ties="trec"` it is sorted by falling score, equal scores by falling identifier.
    """
    require(source, REQUIRED)
    problems = Problems()
    source = with_ids(source, KEY, problems)
    source = source.take(_sorted(source.frame))
    find_duplicates(source, KEY, "the query", problems)
    decisions = read_decisions(source, problems)
    lists, gold_hash = _lists(source, problems)
    scores = _scores(source, lists["ranked_uids"], problems)
    n_candidates = _candidates(source, lists["ranked_uids"], problems)
    positive = _positive(source, lists["gold_uids"], problems)
    _check_members(source, lists, n_candidates, problems)
    _check_passed(source, decisions, lists, problems)
    problems.stop()
    if not source.frame.height:
        problems.add_table(source.origin, "holds no queries.")
        problems.stop()
    if ties == "trec":
        lists["ranked_uids"], scores = _in_trec_order(source, lists["ranked_uids"], scores)
    return assemble(
        Draft(
            decisions=decisions.drop(ROW),
            ranked=lists["ranked_uids"],
            gold=lists["gold_uids"],
            n_candidates=n_candidates,
            positive=positive,
            gold_hash=gold_hash,
            pool=lists.get("pool_uids"),
            selected={mode: lists[f"selected_{mode}"] for mode in MODES if f"selected_{mode}" in lists},
            scores=scores,
            excluded=excluded,
        )
    )


def _sorted(frame: pl.DataFrame) -> pl.DataFrame:
    """By document, then criterion; moving lists is dear, so a table in order stays as it is."""
    doc, criterion = pl.col("doc_id"), pl.col("criterion_id")
    above, left = doc.shift(1), criterion.shift(1)
    falls = (doc < above) | ((doc == above) & (criterion < left))
    return frame.sort(*KEY, ROW) if frame.select(falls.any()).item() else frame


def _lists(source: Table, problems: Problems) -> tuple[dict[str, Lists], HashArray]:
    """The list columns, and one number a query for what its gold is."""
    wanted = ("ranked_uids", "gold_uids", "pool_uids", *(f"selected_{mode}" for mode in MODES))
    present = [name for name in wanted if name in REQUIRED or filled(source, name)]
    text = {name: parse(source, name, pl.String(), problems) for name in present}
    lists = encode(text)
    for name, one in lists.items():
        note(source, repeats(one), problems, f"{name} names a sentence twice")
    return lists, sums(flat(text["gold_uids"]).hash().to_numpy(), lists["gold_uids"].offsets)


def _scores(source: Table, ranked: Lists, problems: Problems) -> FloatArray | None:
    if not filled(source, "ranked_scores"):
        return None
    lists = parse(source, "ranked_scores", pl.Float64(), problems)
    sizes = lists.list.len().to_numpy().astype(np.int64)
    text = "ranked_scores has {} members, ranked_uids has {}"
    note(source, sizes != ranked.sizes, problems, text, sizes, ranked.sizes)
    values = flat(lists).to_numpy()
    if (sizes == ranked.sizes).all():
        broken = count(np.isnan(values), ranked.offsets) > 0
        note(source, broken, problems, "ranked_scores holds NaN; give every sentence a score")
    return values


def _in_trec_order(source: Table, ranked: Lists, scores: FloatArray | None) -> tuple[Lists, FloatArray]:
    if scores is None:
        raise DataError(f"{source.origin}: ties = trec needs scores: give the column ranked_scores.")
    text = flat(parse(source, "ranked_uids", pl.String(), Problems()))
    order = segments.order(scores, ranked.offsets, ties=-text.rank("dense").to_numpy().astype(np.int64))
    return Lists(offsets=ranked.offsets, code=ranked.code[order]), scores[order]


def _candidates(source: Table, ranked: Lists, problems: Problems) -> IntArray:
    if not filled(source, "n_candidates"):
        return ranked.sizes
    n = whole(source, "n_candidates", problems)
    note(
        source, n < ranked.sizes, problems, "n_candidates {} is below the {} sentences of ranked_uids", n, ranked.sizes
    )
    return n


def _positive(source: Table, gold: Lists, problems: Problems) -> BoolArray:
    located = gold.sizes > 0
    if not filled(source, "has_evidence"):
        return located
    given = source.frame["has_evidence"]
    blank = (given.is_null() | (given.cast(pl.String, strict=False).str.strip_chars() == "")).to_numpy()
    said = np.zeros(len(located), dtype=np.bool_)
    rest = source.take(source.frame.filter(~blank))
    said[~blank] = flag(rest, "has_evidence", problems)
    note(source, located & ~blank & ~said, problems, "has_evidence 0 contradicts the sentences in gold_uids")
    return np.where(blank, located, said)


def _check_members(source: Table, lists: dict[str, Lists], n_candidates: IntArray, problems: Problems) -> None:
    """What is not in the ranking may only be one of the candidates that a truncated ranking left out."""
    ranked = lists["ranked_uids"]
    left_out = n_candidates - ranked.sizes
    for name in ("pool_uids", *(f"selected_{mode}" for mode in MODES)):
        if name in lists:
            strangers = count(places(lists[name], ranked) == 0, lists[name].offsets)
            text = f"{name} names {{}} sentences that are not candidates (not in ranked_uids)"
            note(source, (left_out >= 0) & (strangers > left_out), problems, text, strangers)


def _check_passed(source: Table, decisions: pl.DataFrame, lists: dict[str, Lists], problems: Problems) -> None:
    if "selected_gate" in lists and "predicted" in decisions.columns:
        wrong = (lists["selected_gate"].sizes > 0) & ~decisions["predicted"].to_numpy()
        note(source, wrong, problems, "selected_gate must be empty where predicted is 0")
    if "selected_triage" in lists and "state" in decisions.columns:
        wrong = (lists["selected_triage"].sizes > 0) & (decisions["state"].to_numpy() == NEG)
        note(source, wrong, problems, "selected_triage must be empty where the state is NEG")
