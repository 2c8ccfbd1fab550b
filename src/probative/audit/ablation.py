"""PV080: ablation.json against the records of the run, and its comparisons against themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from probative.audit import detection, extraction, ranking, triage
from probative.audit.check import Check, absent, judged

TITLE = "The ablation agrees with the run and with itself"
FIX = "Ablate the run again: probative ablate --out RUN."
CLOSE = 1e-9
STAGES = ("retrieve", "rerank", "graph")
WHOLE = ("fusion", "dynamic_k", "gate", "triage")
"""Rows whose ranking is the run's own."""
SHOWS = {"dynamic_k": "raw", "gate": "gate", "triage": "triage"}
DECIDES = ("gate", "triage")
FAR = 2e-4
"""A swap test and an interval differ a little, but not at p like this and zero inside the interval."""
Row = Mapping[str, Any]


def ablation(found: Any, master: Row | None, config_hash: Any) -> Check:
    """PV080."""
    if found is None:
        return absent("PV080", TITLE, "there is no ablation.json")
    findings = []
    if (found.get("meta") or {}).get("config_hash") not in (None, config_hash):
        findings.append("ablation.json: was made with another configuration than the manifest's")
    if master is not None:
        findings += _rows(found, master.get("metrics", ()))
    findings += _compared(found)
    for where, group in comparisons(found, "ablation.json"):
        findings += holm(where, group)
    good = (
        f"{len(found.get('rows', ()))} rows; values are the run's, differences and Holm's correction worked out again"
    )
    return judged("PV080", TITLE, findings, good=good, fix=FIX)


def _rows(found: Row, records: Sequence[Row]) -> Iterator[str]:
    known = {
        (r["id"], r["scope"], r["population"], r.get("mode"), r.get("stage") or "final"): r
        for r in records
        if _whole(r)
    }
    for row in found.get("rows", ()):
        for stated in row.get("metrics", ()) if row.get("variant", "whole") == "whole" else ():
            place = _place(row["name"], stated) if _whole(stated) else None
            record = known.get(place, {}) if place else {}
            for name in ("value", "std_sample", "n"):
                if name in record and not _same(stated.get(name), record[name]):
                    where = f"ablation.json, row {row['name']}: {name} of {stated['id']} ({stated['scope']})"
                    yield f"{where} is {stated.get(name)}, metrics_master.json has {record[name]}"


def _whole(record: Row) -> bool:
    return (record.get("criteria") or "all") == "all"


def _place(row: str, stated: Row) -> tuple[str, str, str, str | None, str] | None:
    """Where metrics_master.json has the same number, None when it has it nowhere."""
    metric, mode = str(stated["id"]), None
    stage = row if row in STAGES else "final"
    if ranking.measure(metric) is not None:
        known = row in STAGES or row in WHOLE
    elif metric in extraction.PER_QUERY or metric in extraction.SIZES:
        known, mode = row in SHOWS, SHOWS.get(row)
    elif metric in triage.METRICS:
        known = row == "triage"
    elif metric in {"auroc", "auprc", "auroc_within", "brier", *detection.RATIOS}:
        known = row in STAGES or row in DECIDES
    else:
        known = False
    return (metric, str(stated["scope"]), str(stated["population"]), mode, stage) if known else None


def _compared(found: Row) -> Iterator[str]:
    values = {
        (row["name"], r["id"], r["population"]): r.get("value")
        for row in found.get("rows", ())
        for r in row.get("metrics", ())
        if r.get("scope") == "pooled" and _whole(r)
    }
    draws = (found.get("meta") or {}).get("resamples")
    for where, group in comparisons(found, "ablation.json", of="difference"):
        for c in group:
            yield from (f"{where}: {problem}" for problem in _difference(c, draws))
    for c in found.get("comparisons", ()):
        for side in ("base", "other"):
            value = values.get((c[side], c["id"], c["population"]))
            if _whole(c) and value is not None and not _same(c.get(f"{side}_value"), value):
                stated = c.get(f"{side}_value")
                yield f"ablation.json, comparisons: {c['id']} of {c[side]} is {stated}, its row has {value}"


def _difference(c: Row, draws: int | None) -> Iterator[str]:
    base, other, gap = c.get("base_value"), c.get("other_value"), c.get("difference")
    place = f"{c.get('id')} of {c.get('other')} against {c.get('base')}"
    if base is not None and other is not None and not _same(gap, other - base):
        yield f"{place}: the difference is {gap}, the values give {other - base:.10g}"
    if base and gap is not None and "relative" in c and not _same(c["relative"], gap / base):
        yield f"{place}: the relative difference is {c['relative']}, the values give {gap / base:.10g}"
    low, high = c.get("ci_low"), c.get("ci_high")
    p = c.get("p")
    if p is not None and draws and abs(p * (draws + 1) - round(p * (draws + 1))) > 1e-6:
        yield f"{place}: p = {p} is not a share of {draws:,} draws and one"
    if low is None or high is None:
        return
    if low > high:
        yield f"{place}: the interval is upside down"
    if p is not None and p <= FAR and low < 0 < high:
        yield f"{place}: p = {p:.4g}, but the 95 % interval from {low:.4g} to {high:.4g} holds 0"


def _same(a: Any, b: Any) -> bool:
    return bool(a == b) if a is None or b is None else abs(float(a) - float(b)) <= CLOSE


def comparisons(value: Any, where: str, of: str = "p") -> Iterator[tuple[str, list[Row]]]:
    """Every list of rows that has p values, or another column."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from comparisons(inner, f"{where}, {name}", of)
    elif isinstance(value, list):
        rows = [row for row in value if isinstance(row, Mapping) and row.get(of) is not None]
        if rows:
            yield where, rows
        for row in value:
            yield from comparisons(row, where, of)


def holm(where: str, group: Sequence[Row]) -> Iterator[str]:
    """Corrected values that are not Holm's."""
    ordered = sorted(group, key=lambda row: float(row["p"]))
    so_far = 0.0
    for place, row in enumerate(ordered):
        so_far = max(so_far, min(1.0, (len(ordered) - place) * float(row["p"])))
        stated = row.get("p_holm")
        if stated is None:
            yield f"{where}: a comparison with p = {row['p']:.4g} has no corrected value"
        elif abs(float(stated) - so_far) > CLOSE:
            yield f"{where}: p = {row['p']:.4g} is corrected to {stated:.4g}, Holm gives {so_far:.4g}"
        if float(row["p"]) <= 0:
            yield f"{where}: a randomisation test cannot give p = 0"
