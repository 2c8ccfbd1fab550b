"""Contract §11, checked on every evaluation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from probative.errors import ConfigError
from probative.evaluation.records import MetricsMaster, Record
from probative.metrics import registry

CLOSE = 1e-9
RISING = ("recall", "recall_inpool", "hit", "mrr", "map_gold")
Values = Mapping[str, float]
Place = tuple[str, str, str, str | None, str]


def check_invariants(master: MetricsMaster) -> list[str]:
    """Every violation in words; an empty list when all is well."""
    return list(_problems(master))


def _problems(master: MetricsMaster) -> Iterator[str]:
    yield from _ranges(master.metrics)
    yield from _once(master.metrics)
    groups: dict[Place, dict[str, float]] = defaultdict(dict)
    for record in master.metrics:
        if record["value"] is not None and record["reason"] is None:
            place = (_stage(record), _criteria(record), record["scope"], record.get("mode"), record["population"])
            groups[place][record["id"]] = record["value"]
    for place, values in groups.items():
        where = " ".join(part for part in place if part)
        for check in _CHECKS:
            for problem in check(values):
                yield f"{where}: {problem}"
    yield from _folds(groups)


def _stage(record: Record) -> str:
    return str(record.get("stage", "final"))


def _criteria(record: Record) -> str:
    return str(record.get("criteria", "all"))


def _name(record: Record) -> str:
    mode = f" {record['mode']}" if record.get("mode") else ""
    return f"{_stage(record)} {_criteria(record)} {record['scope']} {record['id']} {record['population']}{mode}"


def _ranges(records: Any) -> Iterator[str]:
    for record in records:
        try:
            entry = registry.lookup(record["id"])
        except ConfigError:
            yield f"{_name(record)}: the contract has no such id"
            continue
        low = entry.low if entry.low is not None else float("-inf")
        high = entry.high if entry.high is not None else float("inf")
        for part in ("value", "ci_low", "ci_high"):
            value = record[part]
            if value is not None and not low - CLOSE <= value <= high + CLOSE:
                yield f"{_name(record)}: {part} {value:g} lies outside {entry.range}"


def _once(records: Any) -> Iterator[str]:
    seen: dict[str, float | None] = {}
    for record in records:
        name = _name(record)
        if name in seen:
            yield f"{name}: stands in two places, with {seen[name]} and {record['value']}"
        seen[name] = record["value"]


def _same(values: Values, what: str, *ids: str) -> Iterator[str]:
    known = {name: values[name] for name in ids if name in values}
    if known and max(known.values()) - min(known.values()) > CLOSE:
        yield f"{what}: " + ", ".join(f"{name} = {value:.10g}" for name, value in known.items())


def _first_place(values: Values) -> Iterator[str]:
    yield from _same(values, "hit@1, precision@1 and ndcg@1 must agree", "hit@1", "precision@1", "ndcg@1")


def _monotone(values: Values) -> Iterator[str]:
    for family in RISING:
        cuts = sorted((int(name.partition("@")[2]), name) for name in values if _is_cutoff(name, family))
        names = [name for _, name in cuts] + [f"{family}@all"] * (f"{family}@all" in values)
        for low, high in pairwise(names):
            if values[low] > values[high] + CLOSE:
                yield f"{low} = {values[low]:.10g} is above {high} = {values[high]:.10g}"


def _is_cutoff(name: str, family: str) -> bool:
    head, _, k = name.partition("@")
    return head == family and k.isdigit()


def _table(values: Values) -> Iterator[str]:
    for suffix in ("", "@p=0.5"):
        cells = [values.get(f"{cell}{suffix}") for cell in ("tp", "fp", "tn", "fn")]
        if None in cells:
            continue
        tp, fp, tn, fn = (float(cell or 0.0) for cell in cells)
        n, positive = values.get("n_queries"), values.get("n_positive")
        if n is not None and abs(tp + fp + tn + fn - n) > CLOSE * max(n, 1):
            yield f"tp + fp + tn + fn{suffix} = {tp + fp + tn + fn:g}, but n_queries = {n:g}"
        if positive is not None and abs(tp + fn - positive) > CLOSE * max(positive, 1):
            yield f"tp + fn{suffix} = {tp + fn:g}, but n_positive = {positive:g}"


def _rates(values: Values) -> Iterator[str]:
    for suffix in ("", "@p=0.5"):
        for rate, top, rest in (("sensitivity", "tp", "fn"), ("specificity", "tn", "fp")):
            parts = [values.get(f"{name}{suffix}") for name in (rate, top, rest)]
            if None in parts:
                continue
            value, a, b = (float(part or 0.0) for part in parts)
            if a + b and abs(value - a / (a + b)) > CLOSE:
                yield f"{rate}{suffix} = {value:.10g}, but {top} / ({top} + {rest}) = {a / (a + b):.10g}"


def _states(values: Values) -> Iterator[str]:
    rates = [values.get(f"{state}_rate") for state in ("neg", "uncertain", "pos")]
    if None not in rates and abs(sum(rate or 0.0 for rate in rates) - 1) > CLOSE:
        yield f"the three state rates sum to {sum(rate or 0.0 for rate in rates):.10g}"


_CHECKS: tuple[Callable[[Values], Iterator[str]], ...] = (_first_place, _monotone, _table, _states)


def _folds(groups: Mapping[Place, Values]) -> Iterator[str]:
    """Rates follow from counts where no averaging lies between; fold counts add up to the pooled ones."""
    sums: dict[tuple[str, str, str], float] = defaultdict(float)
    for (stage, criteria, scope, mode, population), values in groups.items():
        if scope not in ("fold_mean", "criterion_macro"):
            where = " ".join(part for part in (stage, criteria, scope, mode, population) if part)
            yield from (f"{where}: {problem}" for problem in _rates(values))
        if scope.startswith("fold:"):
            for name in ("n_queries", "n_positive"):
                sums[stage, criteria, name] += values.get(name, 0.0)
    for (stage, criteria, name), total in sums.items():
        pooled = groups.get((stage, criteria, "pooled", None, "all_queries"), {}).get(name)
        if pooled is not None and abs(pooled - total) > CLOSE * max(total, 1):
            yield f"{stage} {criteria}: {name} over folds is {total:g}, pooled {pooled:g}"
