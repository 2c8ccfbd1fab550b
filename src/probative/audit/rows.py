"""PV010 to PV014: what one per_query table says must not contradict itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from probative.audit import extraction, ranking
from probative.audit.check import Check, absent, judged
from probative.audit.queries import PER, STATES, Query, Table, read_table
from probative.audit.source import PER_QUERY, Source

FIX = "Restore the row from the run, or run `probative evaluate` on the table that is meant."
TOLERANCE = 1e-9


def shape(table: Table) -> Check:
    """PV010."""
    return judged(
        "PV010",
        "Each row of the per_query table holds together",
        _shapes(table),
        good=f"{len(table.queries):,} rows without duplicates; every selected, pooled and gold sentence has its place",
        fix=FIX,
    )


def _shapes(table: Table) -> Iterator[str]:
    seen: dict[tuple[str, str], int] = {}
    folds: dict[str, str | None] = {}
    name = table.path.name
    for q in table.queries:
        if q.key in seen:
            yield f"{name}, {q.where}: the same query stands in row {seen[q.key]}"
        seen[q.key] = q.row
        if folds.setdefault(q.doc_id, q.fold) != q.fold:
            yield f"{name}, {q.where}: the document is predicted in fold {folds[q.doc_id]} and in fold {q.fold}"
        for problem in _problems(q):
            yield f"{name}, {q.where}: {problem}"


def _problems(q: Query) -> Iterator[str]:
    candidates = set(q.ranked)
    for label, uids in (
        ("ranked_uids", q.ranked),
        ("gold_uids", q.gold),
        ("pool_uids", q.pool),
        ("selected_raw", q.raw),
    ):
        if uids and len(set(uids)) < len(uids):
            yield f"{label} names a sentence twice"
    if q.n < len(q.ranked):
        yield f"n_candidates is {q.n}, but the ranking has {len(q.ranked)} sentences"
    if q.stated_evidence is False and q.gold:
        yield "has_evidence is 0, but there is gold"
    if q.scores is not None and len(q.scores) != len(q.ranked):
        yield f"{len(q.scores)} ranked_scores for {len(q.ranked)} ranked sentences"
    complete = len(q.ranked) == q.n
    for label in ("pool", "raw", "gate", "triage"):
        strangers = [uid for uid in getattr(q, label) or () if uid not in candidates]
        if strangers and (complete or label == "pool"):
            yield f"{label} holds {strangers[0]!r}, which is not among the candidates"
    if complete and q.gold and not candidates.issuperset(q.gold):
        missing = next(uid for uid in q.gold if uid not in candidates)
        yield f"gold {missing!r} is not among the {q.n} candidates of the document"
    for label in ("prob", "prob_raw", "prior"):
        value = getattr(q, label)
        if value is not None and not 0 <= value <= 1:
            yield f"{label} is {value}, not a probability"
    if q.stated_state is not None and q.stated_state not in STATES:
        yield f"state is {q.stated_state!r}; it must be NEG, UNCERTAIN or POS"


def decisions(table: Table) -> Check:
    """PV011."""
    title = "predicted and state follow from the probability and its thresholds"
    if not table.columns & {"predicted", "state"}:
        return absent("PV011", title, "the table has neither a predicted nor a state column")
    return judged(
        "PV011", title, _decisions(table), good="every predicted and state is what its own thresholds say", fix=FIX
    )


def _decisions(table: Table) -> Iterator[str]:
    for q in table.queries:
        if q.prob is None:
            continue
        if (
            q.stated_prediction is not None
            and q.threshold is not None
            and q.stated_prediction != (q.prob >= q.threshold)
        ):
            said = f"predicted is {int(q.stated_prediction)}, prob {q.prob!r}, threshold {q.threshold!r}"
            yield f"{table.path.name}, {q.where}: {said}"
        if q.stated_state is not None and q.tau_neg is not None and q.tau_pos is not None:
            state = "NEG" if q.prob < q.tau_neg else "UNCERTAIN" if q.prob < q.tau_pos else "POS"
            if state != q.stated_state:
                yield f"{table.path.name}, {q.where}: state is {q.stated_state}, by its thresholds {state}"


def selections(table: Table) -> Check:
    """PV012."""
    title = "What is shown follows from the decision"
    if not any(q.raw is not None or q.gate is not None or q.triage is not None for q in table.queries):
        return absent("PV012", title, "the table has no selections")
    return judged(
        "PV012", title, _selections(table), good="nothing is shown where the decision says nothing is", fix=FIX
    )


def _selections(table: Table) -> Iterator[str]:
    for q in table.queries:
        where = f"{table.path.name}, {q.where}"
        if q.gate and q.predicted is False:
            yield f"{where}: predicted is 0, but selected_gate shows {len(q.gate)} sentences"
        if q.triage and q.state == "NEG":
            yield f"{where}: the state is NEG, but selected_triage shows {len(q.triage)} sentences"
        if q.gate is not None and q.raw is not None and q.predicted and q.gate != q.raw:
            yield f"{where}: predicted is 1, but selected_gate is not selected_raw"
        for mode in ("raw", "gate", "triage"):
            picked = extraction.chosen(q, mode) or []
            if picked and len(q.ranked) == q.n and picked != q.ranked[: len(picked)]:
                yield f"{where}: selected_{mode} is not the head of the ranking"


def columns(table: Table) -> Check:
    """PV013: per-query metric columns are never trusted."""
    title = "Per-query metric columns are recomputed"
    named = sorted({name for q in table.queries[:1] for name in q.extra if _metric(name) is not None})
    if not named:
        return absent("PV013", title, "the table has no metric columns")
    return judged("PV013", title, _columns(table, named), good=f"{', '.join(named)} agree", fix=FIX)


def _metric(name: str) -> Any:
    base, _, mode = name.partition(":")
    if mode in extraction.MODES and base in extraction.PER_QUERY:
        return lambda q: extraction.PER_QUERY[base][1](q, mode)
    found = ranking.measure(name)
    return None if found is None else lambda q: found(ranking.look(q))


def _columns(table: Table, named: Sequence[str]) -> Iterator[str]:
    for name in named:
        function = _metric(name)
        for q in table.queries:
            stated = q.extra.get(name)
            if stated in (None, ""):
                continue
            value = function(q)
            if abs(float(stated) - value) > TOLERANCE:
                yield f"{table.path.name}, {q.where}: {name} is {stated}, recomputed {value:.10g}"


def formats(source: Source, table: Table) -> Check:
    """PV014."""
    title = "per_query says the same in every format"
    others = [name for name in PER_QUERY if source.has(name) and source.path(name) != table.path]
    if not others:
        return absent("PV014", title, "there is one format only")
    findings = [line for name in others for line in _differences(table, read_table(source.path(name)))]
    return judged("PV014", title, findings, good=f"{table.path.name} and {', '.join(others)} agree", fix=FIX)


def _differences(left: Table, right: Table) -> Iterator[str]:
    if len(left.queries) != len(right.queries):
        yield f"{left.path.name} has {len(left.queries)} rows, {right.path.name} has {len(right.queries)}"
    for q in left.queries:
        other = right.by_key.get(q.key)
        if other is None:
            yield f"{left.path.name}, {q.where}: is not in {right.path.name}"
            continue
        for name in PER:
            if not same(getattr(q, name), getattr(other, name)):
                yield f"{left.path.name}, {q.where}: {name} differs from {right.path.name}"


def same(a: Any, b: Any) -> bool:
    """Equal, NaN included, floats to 1e-12."""
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-12
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list) and a and isinstance(a[0], float):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)
