"""PV048: the ranking of every stage, from the scores that the stage gave its candidates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from probative.audit.candidates import Candidates
from probative.audit.check import Check, absent, judged
from probative.audit.queries import Query, Table

TITLE = "Earlier stages rank by their own scores"
FIX = "A stage was made to look better or worse than it is. Restore the run, or run it again."
SAME = 1e-9
Found = Mapping[tuple[str, str, str], Candidates]


def stages(table: Table, tables: Mapping[str, Table], found: Found | None, config: Mapping[str, Any]) -> Check:
    """PV048."""
    if found is None or not tables:
        return absent("PV048", TITLE, "there are no candidates.parquet and tables of earlier stages")
    findings = [line for stage, other in tables.items() for line in _stage(stage, other, found)]
    if config.get("final") == "last":
        findings += _last(table, tables[list(tables)[-1]])
    good = f"{', '.join(tables)}: ranked by their scores, the rest by the retriever's; probabilities rise with them"
    return judged("PV048", TITLE, findings, good=good, fix=FIX)


def _stage(stage: str, other: Table, found: Found) -> Iterator[str]:
    where = f"stages/{stage}.parquet"
    for q in other.queries:
        its = found.get((q.fold or "", q.doc_id, q.criterion_id))
        if its is None or set(its.uids) != set(q.ranked):
            continue
        place = _leaves(stage, q, its)
        if place is not None:
            yield f"{where}, {q.where}: place {place} has a higher score than the one before it"
    yield from _rising(where, other.queries)


def _leaves(stage: str, q: Query, its: Candidates) -> int | None:
    """The first place that is not in the order of the stage's scores, counted from 1."""
    at = {uid: i for i, uid in enumerate(its.uids)}
    rows = [at[uid] for uid in q.ranked]
    inside = [its.in_pool[i] or stage == "retrieve" for i in rows]
    size = sum(inside)
    if not all(inside[:size]):
        return inside.index(False) + 1
    own: Sequence[float | None] = its.of(stage)
    parts = ((0, [own[i] for i in rows[:size]]), (size, [its.retriever[i] for i in rows[size:]]))
    for start, scores in parts:
        for place, (before, after) in enumerate(pairwise(scores), start=start + 2):
            if before is not None and after is not None and after > before:
                return place
    return None


def _rising(where: str, queries: Sequence[Query]) -> Iterator[str]:
    """Within a fold one calibrator serves all, and it rises."""
    by_fold: dict[str | None, list[Query]] = defaultdict(list)
    for q in queries:
        if q.prob is not None and q.prob_raw is not None:
            by_fold[q.fold].append(q)
    for fold, its in by_fold.items():
        highest = 0.0
        raw = -1.0
        level = 0.0
        for q in sorted(its, key=lambda q: (q.prob_raw, q.prob)):
            if (q.prob_raw or 0.0) > raw:
                raw, highest = q.prob_raw or 0.0, max(highest, level)
            level = max(level, q.prob or 0.0)
            if (q.prob or 0.0) < highest - SAME:
                yield f"{where}, {q.where}: prob is {q.prob!r}, a lower raw score of fold {fold} has {highest!r}"
                return


def _last(table: Table, last: Table) -> Iterator[str]:
    for q in table.queries:
        known = last.by_key.get(q.key)
        if known is not None and known.ranked != q.ranked:
            yield f"{table.path.name}, {q.where}: is not the ranking of the last stage, which has the last word"
