"""PV023: curves, bins and histograms, row by row from the tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from probative.audit import detection, extraction, ranking, reliability
from probative.audit.check import MEASURE, Check, absent, judged
from probative.audit.extraction import mean
from probative.audit.frame import Frame
from probative.audit.queries import Query
from probative.audit.recompute import Key, Recomputation, populated
from probative.audit.records import agree, shown

Row = dict[str, Any]
TITLE = "Every series is recomputed"


@dataclass(frozen=True)
class Curve:
    """One series with the queries it is about."""

    id: str
    scope: str
    stage: str
    rows: list[Row]
    frame: Frame
    queries: list[Query]

    @property
    def where(self) -> str:
        return " · ".join(part for part in ("series " + self.id, self.scope, self.stage) if part != "final")


def series(
    stated: Sequence[Mapping[str, Any]],
    frames: Mapping[str, Frame],
    answers: Recomputation,
    *,
    ranked: bool = True,
    single: bool = True,
) -> Check:
    """PV023; without `ranked`, what rests on the order of candidates is left out, without `single` the criteria."""
    if not stated:
        return absent("PV023", TITLE, "there are no series")
    findings = [line for one in stated for line in _series(one if ranked else unranked(one), frames, answers)]
    findings += _absent(stated, frames, single)
    good = f"{len(stated)} series agree row by row"
    return judged("PV023", TITLE, findings, good=good, fix=MEASURE)


def unranked(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """A series without the columns that rest on the order of candidates."""
    if one.get("id") not in {"recall_by_k", "criteria"}:
        return one
    names = [str(name) for name in one["columns"]]
    if one["id"] == "recall_by_k":
        kept = [i for i, name in enumerate(names) if name in {"k", "oracle"}]
    else:
        kept = [i for i, name in enumerate(names) if ranking.measure(name.split("_low")[0].split("_high")[0]) is None]
    return {**one, "columns": [names[i] for i in kept], "rows": [[row[i] for i in kept] for row in one["rows"]]}


def _series(one: Mapping[str, Any], frames: Mapping[str, Frame], answers: Recomputation) -> Iterator[str]:
    stage = str(one.get("stage") or "final")
    frame = frames.get(stage)
    label = f"series {one.get('id')} · {one.get('scope')} · {stage}"
    chosen = None if frame is None else frame.rows(str(one.get("scope")), "all")
    make = SERIES.get(str(one.get("id")))
    if frame is None or chosen is None or make is None:
        yield f"{label}: the second implementation does not know this series"
        return
    names = one["columns"]
    if any(len(row) != len(names) for row in one["rows"]):
        yield f"{label}: a row has not {len(names)} cells"
        return
    rows = [dict(zip(names, row, strict=True)) for row in one["rows"]]
    queries = [frame.queries[i] for i in chosen]
    curve = Curve(str(one["id"]), str(one["scope"]), stage, rows, frame, queries)
    if one["id"] == "criteria":
        yield from _criteria(curve, answers)
        return
    yield from _compare(curve, make(curve))


def _compare(curve: Curve, expected: Sequence[Row]) -> Iterator[str]:
    if len(expected) != len(curve.rows):
        yield f"{curve.where}: has {len(curve.rows)} rows, recomputed {len(expected)}"
        return
    for number, (row, value) in enumerate(zip(curve.rows, expected, strict=True), start=1):
        for name, again in value.items():
            if curve.id == "recall_by_k" and name not in row:
                continue
            stated = row.get(name)
            same = agree(stated, again) if isinstance(again, float | int | None) else stated == again
            if not same:
                yield f"{curve.where}, row {number}: {name} is {shown(stated)}, recomputed {shown(again)}"


def _recall_by_k(curve: Curve) -> list[Row]:
    inside = populated(curve.frame, range(len(curve.frame.queries)), "positives_only")
    last = min(50, max(q.n for q in curve.queries)) if inside else 0
    out = []
    for k in range(1, last + 1):
        row: Row = {"k": k}
        for name in ("recall", "hit", "precision"):
            values = curve.frame.ranked_values(f"{name}@{k}") or []
            row[name] = mean([values[i] for i in inside])
        sizes = [len(set(curve.frame.queries[i].gold)) for i in inside]
        row["oracle"] = mean([min(size, k) / size for size in sizes])
        out.append(row)
    return out


def _reached(queries: Sequence[Query]) -> dict[float, tuple[int, int]]:
    """Threshold → true and false alarms at or above it."""
    out = {}
    tp = fp = 0
    for score, hits, misses in detection.steps([q.prob or 0.0 for q in queries], [q.positive for q in queries]):
        tp += hits
        fp += misses
        out[score] = tp, fp
    return out


def _on_curve(curve: Curve, make: Callable[[int, int, int, int], Row]) -> list[Row]:
    """The stated points, worked out from their thresholds: a curve may be thinned, but both ends stay."""
    reached = _reached(curve.queries)
    positives = sum(q.positive for q in curve.queries)
    negatives = len(curve.queries) - positives
    out: list[Row] = []
    for row in curve.rows:
        if row["threshold"] is None:
            out.append({"threshold": None, "fpr": 0.0, "tpr": 0.0})
        elif row["threshold"] in reached:
            tp, fp = reached[row["threshold"]]
            out.append(make(tp, fp, positives, negatives))
        else:
            out.append({"threshold": math.nan})
    ends = list(reached)[:1] + list(reached)[-1:]
    stated = {row["threshold"] for row in curve.rows}
    return out if all(end in stated for end in ends) else out[:-1]


def _roc(curve: Curve) -> list[Row]:
    return _on_curve(curve, lambda tp, fp, p, n: {"fpr": fp / n, "tpr": tp / p})


def _pr(curve: Curve) -> list[Row]:
    return _on_curve(curve, lambda tp, fp, p, n: {"recall": tp / p, "precision": tp / (tp + fp)})


def _roc_band(curve: Curve) -> list[Row]:
    steps = detection.steps([q.prob or 0.0 for q in curve.queries], [q.positive for q in curve.queries])
    return [{"fpr": row["fpr"], "tpr": detection.at_budget(steps, float(row["fpr"]))[1]} for row in curve.rows]


def _reliability(curve: Curve) -> list[Row]:
    edges = detection.edges()
    found = detection.bins([q.prob or 0.0 for q in curve.queries], [q.positive for q in curve.queries])
    return [
        {
            "low": low,
            "high": high,
            "n": n,
            "mean_p": average if n else None,
            "frequency": frequency if n else None,
        }
        for (low, high), (n, average, frequency) in zip(pairwise(edges), found, strict=True)
    ]


def _document_length(curve: Curve) -> list[Row]:
    sizes = {q.doc_id: q.n for q in reversed(curve.queries)}
    return [{"n_sentences": size, "n_documents": n} for size, n in sorted(Counter(sizes.values()).items())]


def _gold_flow(curve: Curve) -> list[Row]:
    frame = curve.frame
    total = sum(seen.gold for seen in frame.seen)
    steps = {"annotated": total, "ranked": sum(len(seen.ranks) for seen in frame.seen)}
    if frame.has("pool"):
        steps["in_pool"] = sum(seen.pool_gold for seen in frame.seen)
    for k in (20, 10, 5, 3, 1):
        steps[f"top_{k}"] = sum(rank <= k for seen in frame.seen for rank in seen.ranks)
    for mode in extraction.MODES:
        if frame.has(mode):
            steps[f"selected_{mode}"] = sum(extraction.hits(q, mode) for q in curve.queries)
    return [{"step": step, "gold": gold, "share": gold / total} for step, gold in steps.items()]


def _k_histogram(curve: Curve) -> list[Row]:
    known = [q for q in curve.queries if q.located or not q.positive]
    groups: dict[str, Callable[[Query], bool]] = {
        "all": lambda q: True,
        "evidence": lambda q: q.positive,
        "no_evidence": lambda q: not q.positive,
    }
    if curve.frame.has("state"):
        for state in ("NEG", "UNCERTAIN", "POS"):
            groups[f"state:{state}"] = lambda q, state=state: q.state == state  # type: ignore[misc]
    out = []
    for mode in extraction.MODES:
        for group, test in groups.items() if curve.frame.has(mode) else ():
            counts = Counter(extraction.size(q, mode) for q in known if test(q))
            out += [{"mode": mode, "group": group, "k": k, "n": n} for k, n in sorted(counts.items())]
    return out


def _state_by_evidence(curve: Curve) -> list[Row]:
    out = []
    for state in ("NEG", "UNCERTAIN", "POS"):
        for label, positive in (("evidence", True), ("no_evidence", False)):
            n = sum(q.state == state and q.positive == positive for q in curve.queries)
            out.append({"state": state, "evidence": label, "n": n, "per_1000": 1000 * n / len(curve.queries)})
    return out


def _errors(curve: Curve) -> list[Row]:
    triaged = curve.frame.has("state")
    counts = {"misses": 0, "alarms": 0} | ({"needless": 0} if triaged else {})
    for q in curve.queries:
        counts["misses"] += q.positive and (q.state == "NEG" if triaged else not q.predicted)
        counts["alarms"] += not q.positive and (q.state == "POS" if triaged else bool(q.predicted))
        if q.state == "UNCERTAIN":
            counts["needless"] += bool(q.predicted) == q.positive
    return [{"kind": kind, "n": n} for kind, n in counts.items()]


def _risk_coverage(curve: Curve) -> list[Row]:
    risks = reliability.risks(curve.queries)
    decided = sum(q.state != "UNCERTAIN" for q in curve.queries)
    out: list[Row] = []
    for row in curve.rows:
        place = round(row["coverage"] * len(risks))
        if not 1 <= place <= len(risks):
            return []
        abstaining = int(place <= decided)
        out.append({"coverage": place / len(risks), "risk": risks[place - 1], "abstaining": abstaining})
    return out


def _thresholds(curve: Curve) -> list[Row]:
    names = [name for name in (curve.rows[0] if curve.rows else ()) if name != "fold"]

    def value(q: Query, name: str) -> float | None:
        found = q.budgets[name.partition("=")[2]] if "@fpr=" in name else getattr(q, name)
        return None if found is None or math.isnan(found) else found

    found = {(q.fold, *(value(q, name) for name in names)) for q in curve.queries}
    rows = [dict(zip(["fold", *names], row, strict=True)) for row in found]
    stated = [str(row["fold"]) if row["fold"] is not None else None for row in curve.rows]
    rows.sort(key=lambda row: stated.index(row["fold"]) if row["fold"] in stated else len(stated))
    return [{**row, "fold": None if row["fold"] is None else int(row["fold"])} for row in rows]


def _nothing(curve: Curve) -> list[Row]:
    return []


def _criteria(curve: Curve, answers: Recomputation) -> Iterator[str]:
    """Each cell is a record's value; its bounds are looked at with the record."""
    positive = Counter(q.criterion_id for q in curve.queries if q.positive)
    total = Counter(q.criterion_id for q in curve.queries)
    if sorted(total) != sorted(row["criterion_id"] for row in curve.rows):
        yield f"{curve.where}: does not list the criteria of the table"
        return
    for row in curve.rows:
        name = row["criterion_id"]
        counted = {"n_queries": total[name], "n_positive": positive[name], "small": positive[name] < 20}
        counted["excluded"] = name in curve.frame.excluded
        for column, value in row.items():
            if column in counted and value != counted[column]:
                yield f"{curve.where}, {name}: {column} is {value}, recomputed {counted[column]}"
            if column in counted or column == "criterion_id" or column.endswith(("_low", "_high")):
                continue
            again = _of_criterion(column, name, answers)
            if value is not None and not agree(value, again):
                yield f"{curve.where}, {name}: {column} is {shown(value)}, recomputed {shown(again)}"


def _of_criterion(metric: str, criterion: str, answers: Recomputation) -> float | None:
    modes = (None, "triage")
    for population in ("positives_only", "all_queries"):
        for mode in modes:
            key = Key(metric=metric, scope=f"criterion:{criterion}", population=population, mode=mode)
            found = answers.answer(key)
            if found is not None:
                return found.value
    return None


SERIES: dict[str, Callable[[Curve], list[Row]]] = {
    "recall_by_k": _recall_by_k,
    "roc": _roc,
    "pr": _pr,
    "roc_band": _roc_band,
    "reliability": _reliability,
    "document_length": _document_length,
    "gold_flow": _gold_flow,
    "k_histogram": _k_histogram,
    "state_by_evidence": _state_by_evidence,
    "errors": _errors,
    "risk_coverage": _risk_coverage,
    "thresholds": _thresholds,
    "criteria": _nothing,
}
OF_FINAL = ("document_length", "gold_flow")


def _absent(stated: Sequence[Mapping[str, Any]], frames: Mapping[str, Frame], single: bool) -> Iterator[str]:
    there = {(one.get("id"), one.get("scope"), one.get("stage") or "final") for one in stated}
    wanted = [(name, "pooled", "final") for name in (*OF_FINAL, *(("criteria",) if single else ()))]
    for stage, frame in frames.items():
        both_classes = len({q.positive for q in frame.queries}) == 2
        if frame.has("prob"):
            wanted.append(("reliability", "pooled", stage))
            wanted += [(name, "pooled", stage) for name in (("roc", "pr") if both_classes else ())]
        if stage != "prior" and any(q.located for q in frame.queries):
            wanted.append(("recall_by_k", "pooled", stage))
    final = frames["final"]
    if final.has("predicted"):
        wanted.append(("errors", "pooled", "final"))
    if final.has("state"):
        wanted += [("state_by_evidence", "pooled", "final"), ("risk_coverage", "pooled", "final")]
    if final.has("raw"):
        wanted.append(("k_histogram", "pooled", "final"))
    for one in wanted:
        if one not in there:
            yield f"series {' · '.join(one)}: is missing"
