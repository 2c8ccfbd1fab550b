"""PV050 to PV056: calibration, thresholds and priors worked out again from TUNE."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from probative.audit import calibrators, detection
from probative.audit.check import Check, absent, judged
from probative.audit.queries import Table
from probative.audit.roles import Folds, Tuned

FIX = "The decisions of this run do not follow from its TUNE data. Run it again: probative run."
NONE = "there is no tune_queries.parquet with a manifest.json"
CLOSE = 1e-6
Fold = Mapping[str, Any]


def bracket(function: calibrators.Map, p: float) -> tuple[float, float]:
    """What a rising map may give for a probability that is known to a double's precision."""
    z = calibrators.logit(p)
    slack = 1e-12 * max(1.0, abs(z)) + 4e-16 / max(1.0 - p, 1e-300)
    return function(z - slack) - 1e-9, function(z + slack) + 1e-9


def chosen(rows: Sequence[Tuned], fold: str) -> list[Tuned]:
    """The TUNE rows of a fold that choices may use."""
    return [row for row in rows if row.fold == fold and not row.excluded]


def calibrator(folds: Sequence[Fold], rows: list[Tuned] | None) -> Check:
    """PV050."""
    title = "The calibrator is the best one that TUNE gives"
    if rows is None or not folds:
        return absent("PV050", title, NONE)
    findings = [line for fold in folds for line in _calibrator(fold, chosen(rows, str(fold["fold"])))]
    return judged(
        "PV050",
        title,
        findings,
        good=f"{len(folds)} calibrators fitted and chosen again give the same probabilities",
        fix=FIX,
    )


def _calibrator(fold: Fold, rows: Sequence[Tuned]) -> Iterator[str]:
    entry = fold["calibrator"]
    where = f"manifest.json, fold {fold['fold']}"
    z = [calibrators.logit(row.prob_raw) for row in rows]
    labels = [row.positive for row in rows]
    stated = calibrators.written(entry)
    if not 0 < sum(labels) < len(labels):
        if entry["kind"] != "temperature" or entry["t"] != 1.0:
            yield f"{where}: TUNE has one class only, but the calibrator is not the identity"
        return
    losses = {
        kind: loss
        for kind in entry["cv_log_loss"]
        if (loss := _loss(kind, z, labels, rows, entry["delta"])) is not None
    }
    for kind, loss in entry["cv_log_loss"].items():
        again = losses.get(kind)
        if (loss is None) != (again is None) or (loss is not None and again is not None and abs(loss - again) > CLOSE):
            yield f"{where}: the log loss of {kind} is {loss}, worked out again {again}"
    if losses:
        best = min(losses.values())
        if losses.get(entry["kind"], math.inf) > best + CLOSE:
            better = min(losses, key=losses.__getitem__)
            yield f"{where}: {entry['kind']} was taken, but {better} has the lower log loss"
    plain = calibrators.FITS[entry["kind"]](z, labels)
    if plain is None:
        if losses:
            yield f"{where}: {entry['kind']} cannot be fitted to these rows"
        return
    again_map = calibrators.blended(plain, entry["delta"])
    for row, score in zip(rows, z, strict=True):
        low, high = bracket(stated, row.prob_raw)
        value = again_map(score)
        if not low - CLOSE <= value <= high + CLOSE:
            yield f"{row.where}: the manifest's calibrator gives {stated(score):.8f}, one fitted again {value:.8f}"
            return


def _loss(kind: str, z: Sequence[float], labels: Sequence[bool], rows: Sequence[Tuned], delta: float) -> float | None:
    return calibrators.grouped_log_loss(kind, z, labels, [row.doc_id for row in rows], delta)


def applied(folds: Sequence[Fold], rows: list[Tuned] | None, table: Table) -> Check:
    """PV051."""
    title = "Every probability is its calibrated raw score"
    if not folds or "prob_raw" not in table.columns:
        return absent("PV051", title, "there is no manifest.json with a prob_raw column")
    maps = {str(fold["fold"]): calibrators.written(fold["calibrator"]) for fold in folds}
    findings = []
    for q in table.queries:
        if q.fold not in maps:
            findings.append(f"{table.path.name}, {q.where}: fold {q.fold} has no calibrator in the manifest")
        elif q.prob_raw is not None and q.prob is not None:
            low, high = bracket(maps[q.fold], q.prob_raw)
            if not low <= q.prob <= high:
                middle = (low + high) / 2
                findings.append(f"{table.path.name}, {q.where}: prob is {q.prob!r}, its calibrator gives {middle:.10g}")
    for row in rows or ():
        low, high = bracket(maps[row.fold], row.prob_raw) if row.fold in maps else (0.0, 1.0)
        if not low <= row.prob <= high:
            findings.append(f"{row.where}: prob is {row.prob!r}, the fold's calibrator gives {(low + high) / 2:.10g}")
    return judged("PV051", title, findings, good="prob = calibrator(prob_raw) in every row of EVAL and TUNE", fix=FIX)


def thresholds(folds: Sequence[Fold], rows: list[Tuned] | None) -> Check:
    """PV052."""
    title = "Operating thresholds are those that TUNE gives"
    if rows is None or not folds:
        return absent("PV052", title, NONE)
    findings = [line for fold in folds for line in _thresholds(fold, chosen(rows, str(fold["fold"])))]
    return judged("PV052", title, findings, good="every false-alarm budget gives the threshold that was used", fix=FIX)


def _thresholds(fold: Fold, rows: Sequence[Tuned]) -> Iterator[str]:
    where = f"manifest.json, fold {fold['fold']}"
    steps = detection.steps([row.prob for row in rows], [row.positive for row in rows])
    entries = [(budget, entry) for budget, entry in fold["thresholds"].items()]
    operating = fold["operating"]
    entries.append((str(operating["fpr_budget"]), operating))
    raw: dict[float, float] = {}
    for row in rows:
        raw[row.prob] = min(row.prob_raw, raw.get(row.prob, 1.0))
    for budget, entry in entries:
        value = detection.at_budget(steps, float(budget))[0] if any(row.positive for row in rows) else None
        stated: float | None = None if entry is None else entry["value"]
        if not alike(value, stated):
            yield f"{where}: the threshold for a false-alarm rate of {budget} is {stated}, TUNE gives {value}"
        elif value is not None and not same_raw(entry["raw"], raw[value]):
            yield f"{where}: the raw threshold for {budget} is {entry['raw']}, TUNE gives {raw[value]:.10g}"


def alike(a: float | None, b: float | None) -> bool:
    """Both absent, or the same number to rounding."""
    return a == b if a is None or b is None else abs(a - b) <= 1e-12


def same_raw(stated: float | None, p: float) -> bool:
    """Whether a raw threshold, in log-odds or as their sigmoid, is this raw probability."""
    return stated is not None and min(abs(stated - p), abs(calibrators.sigmoid(stated) - p)) <= 1e-12


def carried(folds: Sequence[Fold], table: Table) -> Check:
    """PV053."""
    title = "The rows carry the thresholds of their fold"
    if not folds or not table.columns & {"threshold", "tau_neg", "tau_pos"}:
        return absent("PV053", title, "there is no manifest.json with threshold columns")
    return judged(
        "PV053", title, _carried(folds, table), good="each row has the thresholds that its fold chose on TUNE", fix=FIX
    )


def _carried(folds: Sequence[Fold], table: Table) -> Iterator[str]:
    wanted: dict[str | None, dict[str, float | None]] = {}
    for fold in folds:
        triage = fold.get("triage") or {}
        values = {
            "threshold": fold["operating"]["value"],
            "tau_neg": triage.get("tau_neg"),
            "tau_pos": triage.get("tau_pos"),
        }
        values |= {f"threshold@fpr={b}": None if e is None else e["value"] for b, e in fold["thresholds"].items()}
        wanted[str(fold["fold"])] = values
    for q in table.queries:
        stated = {"threshold": q.threshold, "tau_neg": q.tau_neg, "tau_pos": q.tau_pos}
        stated |= {f"threshold@fpr={b}": v for b, v in q.budgets.items()}
        for name, value in wanted.get(q.fold, {}).items():
            cell = stated.get(name)
            blank = cell is None or math.isnan(cell)
            if blank != (value is None) or (value is not None and cell is not None and abs(cell - value) > 1e-12):
                yield f"{table.path.name}, {q.where}: {name} is {'empty' if blank else cell}, its fold chose {value}"


def priors(
    table: Table, folds: Folds | None, excluded: frozenset[str], labels: Mapping[tuple[str, str], bool]
) -> Check:
    """PV056."""
    title = "The prior is each criterion's rate on TRAIN"
    if folds is None or "prior" not in table.columns:
        return absent("PV056", title, "there is no folds.parquet with a prior column")
    documents = {doc for doc, _ in labels}
    if any(folds.of(fold, "train") - documents for fold in folds.by_fold):
        return absent("PV056", title, "the labels of TRAIN are not in the table; give the corpus with --corpus")
    return judged(
        "PV056",
        title,
        _priors(table, folds, excluded, labels),
        good="every prior counted again from TRAIN's labels",
        fix=FIX,
    )


def _priors(
    table: Table, folds: Folds, excluded: frozenset[str], labels: Mapping[tuple[str, str], bool]
) -> Iterator[str]:
    for fold in folds.by_fold:
        train = folds.of(fold, "train")
        counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for (doc, criterion), positive in labels.items():
            if doc in train and criterion not in excluded:
                counts[criterion][0] += positive
                counts[criterion][1] += 1
        asked = sum(n for _, n in counts.values())
        overall = sum(hits for hits, _ in counts.values()) / asked if asked else 0.0
        for q in table.queries:
            if q.fold != fold or q.prior is None:
                continue
            hits, n = counts.get(q.criterion_id, (0, 0))
            value = hits / n if n else overall
            if abs(q.prior - value) > 1e-9:
                yield f"{table.path.name}, {q.where}: prior is {q.prior:.10g}, TRAIN's labels give {value:.10g}"
