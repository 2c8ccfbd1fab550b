"""PV030 to PV036: what contract §11 says must hold between numbers, whoever made them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from probative.audit import detection, extraction, labels, ranking, triage
from probative.audit.check import MEASURE, Check, judged
from probative.audit.recompute import Key

Record = Mapping[str, Any]
UNIT = (
    frozenset(ranking.AT_K)
    | frozenset(extraction.PER_QUERY)
    | labels.METRICS
    | (detection.RATIOS - {"mcc"})
    | {f"deploy_{name}" for name in ("fpr", "fnr", "precision", "recall", "f1")}
    | {
        "auroc",
        "auprc",
        "auroc_raw",
        "auroc_within",
        "auprc_within",
        "auroc_candidates",
        "auprc_candidates",
        "positive_rate",
    }
    | {
        "tpr",
        "tpr_transfer",
        "fpr_transfer",
        "curve_threshold",
        "pool_coverage",
        "brier",
        "ece",
        "ece_dropone",
        "mce",
        "ece_equalmass",
    }
    | {name for name in triage.METRICS if "1000" not in name}
    | {"evidence_recall_micro", "evidence_recall_micro_passed", "aurc"}
)
SLACK = 1e-12
RISING = ("recall", "hit", "map_gold", "mrr", "recall_inpool")
ONE_AT_ONE = ("hit", "precision", "ndcg")


def limits(metric: str) -> tuple[float, float]:
    """The range that a metric may take."""
    base = metric.partition("@")[0]
    if base == "mcc":
        return -1.0, 1.0
    if base in UNIT:
        return 0.0, 1.0
    if "1000" in base:
        return 0.0, 1000.0
    if base == "brier_skill":
        return -math.inf, 1.0
    if base in {"calibration_slope", "calibration_intercept"}:
        return -math.inf, math.inf
    return 0.0, math.inf


def _range(record: Record) -> Iterator[str]:
    low, high = limits(str(record.get("id")))
    for name in ("value", "ci_low", "ci_high", "median", "p25", "p75"):
        number = record.get(name)
        if number is not None and not low - SLACK <= number <= high + SLACK:
            yield f"{Key.of(record)}: {name} is {number}, outside [{low:g}, {high:g}]"
    for name in ("std", "std_sample", "std_pop", "n", "n_docs"):
        number = record.get(name)
        if number is not None and number < 0:
            yield f"{Key.of(record)}: {name} is negative"
    ends = record.get("ci_low"), record.get("ci_high")
    if ends[0] is not None and ends[1] is not None and ends[0] > ends[1]:
        yield f"{Key.of(record)}: the interval is upside down"


def ranges(records: Sequence[Record]) -> Check:
    """PV030."""
    return judged(
        "PV030",
        "Every number is inside its range",
        (line for record in records for line in _range(record)),
        good="probabilities and rates lie in [0, 1], mcc in [−1, 1], counts and deviations are not negative",
        fix=MEASURE,
    )


Group = dict[str, float]


def grouped(records: Iterable[Record]) -> dict[tuple[Any, ...], Group]:
    """id → value of the records that share scope, population, mode, set and stage."""
    found: dict[tuple[Any, ...], Group] = defaultdict(dict)
    for record in records:
        key = Key.of(record)
        if record.get("value") is not None:
            found[key.scope, key.population, key.mode, key.criteria, key.stage][key.metric] = float(record["value"])
    return dict(found)


def _name(group: tuple[Any, ...]) -> str:
    return " · ".join(str(part) for part in group if part not in (None, "all", "final"))


def confusion(records: Sequence[Record]) -> Check:
    """PV031."""
    found = grouped(r for r in records if r.get("scope") not in {"fold_mean", "criterion_macro"})
    counts = {(g[0], g[3], g[4]): values for g, values in found.items() if "n_queries" in values}
    return judged(
        "PV031",
        "Confusion counts add up and give their ratios",
        (line for group, values in found.items() for line in _confusion(group, values, counts)),
        good="tp+fn = positives, tn+fp = negatives, together the queries; every ratio is that of its counts",
        fix=MEASURE,
    )


def _confusion(group: tuple[Any, ...], values: Group, counts: Mapping[tuple[Any, ...], Group]) -> Iterator[str]:
    where = _name(group)
    for before, after in (("", ""), ("", "@p=0.5"), ("deploy_", "")):
        names = [f"{before}{part}{after}" for part in ("tp", "fp", "tn", "fn")]
        if not all(name in values for name in names):
            continue
        tp, fp, tn, fn = (values[name] for name in names)
        totals = counts.get((group[0], group[3], group[4])) or counts.get((group[0], group[3], "final")) or {}
        if "n_positive" in totals and tp + fn != totals["n_positive"]:
            yield f"{where}: {names[0]} + {names[3]} = {tp + fn:g}, but there are {totals['n_positive']:g} positives"
        if "n_queries" in totals and tp + fp + tn + fn != totals["n_queries"]:
            yield f"{where}: {' + '.join(names)} = {tp + fp + tn + fn:g}, but there are {totals['n_queries']:g} queries"
        made = detection.Confusion(int(tp), int(fp), int(tn), int(fn))
        for name in sorted(detection.RATIOS | {"fnr", "recall"}):
            stated = values.get(f"{before}{name}{after}")
            if stated is None or (name == "recall" and not before):
                continue
            value = made.ratio("sensitivity" if name == "recall" else name)[0]
            if abs(stated - value) > 1e-9:
                yield f"{where}: {before}{name}{after} is {stated:.6g}, its counts give {value:.6g}"


def order(records: Sequence[Record]) -> Check:
    """PV032."""
    return judged(
        "PV032",
        "Ranking metrics keep their order in K",
        (line for group, values in grouped(records).items() for line in _order(group, values)),
        good="hit@1 = precision@1 = ndcg@1 on positives; recall, hit and map_gold never fall as K grows",
        fix=MEASURE,
    )


def _order(group: tuple[Any, ...], values: Group) -> Iterator[str]:
    where = _name(group)
    if group[1] == "positives_only":
        ones = {name: values[f"{name}@1"] for name in ONE_AT_ONE if f"{name}@1" in values}
        if ones and max(ones.values()) - min(ones.values()) > 1e-9:
            yield (
                f"{where}: "
                + ", ".join(f"{name}@1 = {v:.6g}" for name, v in ones.items())
                + "; the three are one number"
            )
    for name in RISING:
        at = sorted(
            (int(key.partition("@")[2]), v)
            for key, v in values.items()
            if key.startswith(f"{name}@") and key[len(name) + 1 :].isdigit()
        )
        at += [(10**9, values[f"{name}@all"])] if f"{name}@all" in values else []
        for (k, lower), (larger, upper) in pairwise(at):
            if upper < lower - 1e-9:
                yield f"{where}: {name}@{larger} = {upper:.6g} is below {name}@{k} = {lower:.6g}"
    for lower_name, upper_name in (("map_gold", "map"), ("recall", "hit"), ("precision", "precision_keff")):
        for cutoff in ranking.CUTOFFS:
            below, above = values.get(f"{lower_name}@{cutoff}"), values.get(f"{upper_name}@{cutoff}")
            if below is not None and above is not None and below > above + 1e-9:
                yield f"{where}: {lower_name}@{cutoff} = {below:.6g} is above {upper_name}@{cutoff} = {above:.6g}"


def totals(records: Sequence[Record]) -> Check:
    """PV033."""
    return judged(
        "PV033",
        "Counts of folds and criteria add up to the whole",
        _totals(records),
        good="queries, positives and confusion counts of the folds, and of the criteria, sum to the pooled ones",
        fix=MEASURE,
    )


ADDITIVE = ("n_queries", "n_positive", "tp", "fp", "tn", "fn")


def _totals(records: Sequence[Record]) -> Iterator[str]:
    sums: dict[tuple[Any, ...], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    whole: dict[tuple[Any, ...], float] = {}
    for record in records:
        key = Key.of(record)
        base = key.metric.partition("@")[0].removeprefix("deploy_")
        if base not in ADDITIVE or record.get("value") is None or "@fpr" in key.metric:
            continue
        group = (key.metric, key.population, key.mode, key.criteria, key.stage)
        if key.scope == "pooled":
            whole[group] = float(record["value"])
        elif key.scope.startswith(("fold:", "criterion:")):
            sums[group][key.scope.partition(":")[0]] += float(record["value"])
    for group, parts in sums.items():
        for kind, total in parts.items():
            if group in whole and total != whole[group]:
                yield f"{group[0]}: the pooled value is {whole[group]:g}, the sum over every {kind} is {total:g}"


def labelled(records: Sequence[Record]) -> Check:
    """PV034: 004's appendix, as checks."""
    return judged(
        "PV034",
        "The pitfalls of the documents are avoided",
        (line for record in records for line in _pitfalls(record)),
        good="ranking headlines are over positives only, figures name their population, fixed and chosen K are apart",
        fix=MEASURE,
    )


def _pitfalls(record: Record) -> Iterator[str]:
    key = Key.of(record)
    rank_id = ranking.measure(key.metric) is not None
    selection = key.metric in extraction.PER_QUERY or key.metric in extraction.SIZES or key.metric.startswith("deploy_")
    if rank_id and key.population == "all_queries" and record.get("default"):
        yield f"{key}: an all-queries ranking figure stands as a headline"
    if rank_id and key.population not in {"positives_only", "all_queries"}:
        yield f"{key}: a ranking figure without its population"
    if rank_id and key.mode is not None:
        yield f"{key}: a fixed-K figure carries a selection mode"
    if selection and key.mode not in extraction.MODES:
        yield f"{key}: a chosen-K figure without its mode"
    if not isinstance(record.get("n"), int):
        yield f"{key}: no n"
    if record.get("default") and key.metric.startswith("curve_threshold"):
        yield f"{key}: a threshold read off EVAL stands as a headline"
