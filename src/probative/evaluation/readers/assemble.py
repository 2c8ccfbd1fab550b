"""From typed query columns and coded lists to Predictions; the one place where gold meets its rank."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from probative.evaluation.predictions import HashArray, Predictions, Selection
from probative.segments import BoolArray, FloatArray, IntArray

from .decisions import BUDGET
from .lists import Lists, count, places


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Everything about some queries, checked and sorted by document, then criterion."""

    decisions: pl.DataFrame
    ranked: Lists
    gold: Lists
    n_candidates: IntArray
    positive: BoolArray
    gold_hash: HashArray | None = None
    pool: Lists | None = None
    selected: Mapping[str, Lists] = field(default_factory=dict)
    scores: FloatArray | None = None
    """In ranking order."""
    excluded: Collection[str] = ()


def assemble(draft: Draft) -> Predictions:
    """Predictions in the order of the draft."""
    frame = draft.decisions
    docs, doc = _positions(frame["doc_id"])
    criteria, criterion = _positions(frame["criterion_id"])
    gold_rank = places(draft.gold, draft.ranked)
    return Predictions(
        doc_ids=docs,
        criterion_ids=criteria,
        doc=doc,
        criterion=criterion,
        fold=_ints(frame, "fold"),
        n_candidates=draft.n_candidates,
        n_ranked=draft.ranked.sizes,
        gold_offsets=draft.gold.offsets,
        gold_rank=gold_rank,
        gold_in_pool=None if draft.pool is None else places(draft.gold, draft.pool) > 0,
        gold_hash=draft.gold_hash,
        positive=draft.positive,
        located=draft.gold.sizes > 0,
        prob=_floats(frame, "prob"),
        prob_raw=_floats(frame, "prob_raw"),
        prior=_floats(frame, "prior"),
        threshold=_floats(frame, "threshold"),
        tau_neg=_floats(frame, "tau_neg"),
        tau_pos=_floats(frame, "tau_pos"),
        predicted=frame["predicted"].to_numpy() if "predicted" in frame.columns else None,
        state=_ints(frame, "state"),
        selections={mode: _selection(lists, draft.gold) for mode, lists in draft.selected.items()},
        budget_thresholds={
            name.removeprefix(BUDGET): frame[name].to_numpy() for name in frame.columns if name.startswith(BUDGET)
        },
        row_offsets=None if draft.scores is None else draft.ranked.offsets,
        row_score=draft.scores,
        row_gold=None if draft.scores is None else _row_gold(draft, gold_rank),
        excluded=frozenset(draft.excluded),
    )


def _positions(ids: pl.Series) -> tuple[tuple[str, ...], IntArray]:
    distinct = ids.unique().sort()
    place = pl.Series(np.arange(len(distinct), dtype=np.int64))
    return tuple(distinct), ids.replace_strict(distinct, place, return_dtype=pl.Int64).to_numpy()


def _floats(frame: pl.DataFrame, name: str) -> FloatArray | None:
    return frame[name].to_numpy() if name in frame.columns else None


def _ints(frame: pl.DataFrame, name: str) -> IntArray | None:
    return frame[name].to_numpy() if name in frame.columns else None


def _row_gold(draft: Draft, gold_rank: IntArray) -> BoolArray:
    """Per row of the rankings whether its sentence is gold."""
    marked = np.zeros(len(draft.ranked.code), dtype=np.bool_)
    begins = np.repeat(draft.ranked.offsets[:-1], draft.gold.sizes)
    listed = gold_rank > 0
    marked[begins[listed] + gold_rank[listed] - 1] = True
    return marked


def _selection(selected: Lists, gold: Lists) -> Selection:
    return Selection(size=selected.sizes, hits=count(places(selected, gold) > 0, selected.offsets))
