"""PV005 and PV006: what the heads of the files say of run, corpus and method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from probative.audit.check import MEASURE, Check, absent, judged
from probative.audit.queries import Query, Table
from probative.audit.roles import Folds
from probative.audit.source import Source

FIX = f"Make the run again. {MEASURE}"
SMALL = 20
GAP = 0.01
Facts = Mapping[str, Any]


def head(source: Source, table: Table, excluded: frozenset[str]) -> Check:
    """PV005."""
    title = "metrics_master.json says how its numbers were made"
    if source.master is None:
        return absent("PV005", title, "there is no metrics_master.json beside the table")
    meta = source.master.get("meta") or {}
    findings = [*_counts(meta, table), *_criteria(meta, table, excluded), *_flagged(source.master)]
    if source.manifest is not None:
        findings += [*_run(meta, source.manifest), *_method(meta, source.manifest, table)]
    if source.has("summary.json") and source.json("summary.json").get("meta", meta) != meta:
        findings.append("summary.json: its meta is not that of metrics_master.json")
    return judged("PV005", title, findings, good="counts, method and origin are those of table and manifest", fix=FIX)


def _counts(meta: Facts, table: Table) -> Iterator[str]:
    stated = meta.get("counts") or {}
    queries = table.queries
    again = {
        "n_documents": len(table.documents),
        "n_criteria": len(table.criteria),
        "n_queries": len(queries),
        "n_positive": sum(q.positive for q in queries),
        "n_located": sum(q.located for q in queries),
        "n_unlocated": sum(q.positive and not q.located for q in queries),
        "n_folds": len(table.folds),
        "n_gold": sum(len(set(q.gold)) for q in queries),
        "n_gold_unranked": sum(len(set(q.gold) - set(q.ranked)) for q in queries),
    }
    for name, value in again.items():
        if stated.get(name, value) != value:
            yield f"metrics_master.json, meta: {name} is {stated[name]}, the table has {value}"


def _criteria(meta: Facts, table: Table, excluded: frozenset[str]) -> Iterator[str]:
    asked = Counter(q.criterion_id for q in table.queries)
    positive = Counter(q.criterion_id for q in table.queries if q.positive)
    stated = meta.get("criteria")
    if stated is None:
        return
    if sorted(str(entry["criterion_id"]) for entry in stated) != sorted(asked):
        yield "metrics_master.json, meta: its criteria are not those of the table"
        return
    for entry in stated:
        name = str(entry["criterion_id"])
        again = {
            "n_queries": asked[name],
            "n_positive": positive[name],
            "small": positive[name] < SMALL,
            "excluded": name in excluded,
        }
        for column, value in again.items():
            if entry.get(column, value) != value:
                yield f"metrics_master.json, meta: {column} of {name} is {entry[column]}, the table says {value}"


def _flagged(master: Facts) -> Iterator[str]:
    """A gap between the pooled and the foldwise AUROC must be said."""

    def value(metric: str, scope: str) -> float | None:
        for r in master.get("metrics", ()):
            plain = (r.get("criteria") or "all") == "all" and (r.get("stage") or "final") == "final"
            if plain and (r.get("id"), r.get("scope")) == (metric, scope):
                found = r.get("value")
                return None if found is None or r.get("reason") else float(found)
        return None

    pooled, folds = value("auroc", "pooled"), value("auroc_raw", "fold_mean")
    if pooled is None or folds is None or "flags" not in (master.get("meta") or {}):
        return
    if abs(pooled - folds) > GAP + 1e-9 and not master["meta"]["flags"]:
        yield f"metrics_master.json, meta: pooled AUROC {pooled:.4f} and fold mean {folds:.4f} differ; no flag says so"


def _run(meta: Facts, manifest: Facts) -> Iterator[str]:
    stated = meta.get("run")
    if stated is None:
        return
    for name in ("config_hash", "seed", "probative", "corpus"):
        if name in stated and stated[name] != manifest.get(name):
            yield f"metrics_master.json, meta: {name} of the run is not that of manifest.json"


def _method(meta: Facts, manifest: Facts, table: Table) -> Iterator[str]:
    asked = (manifest.get("config") or {}).get("evaluate")
    if asked is None:
        return
    drawn = meta.get("bootstrap") or {"resamples": 0}
    stated = {
        "resamples": drawn.get("resamples"),
        "ties": meta.get("ties"),
        **({} if "unit" not in drawn else {"seed": drawn.get("seed"), "level": drawn.get("level")}),
        **({} if "unit" not in drawn else {"resample": drawn["unit"]}),
    }
    for name, value in stated.items():
        wanted = asked.get("bootstrap" if name == "resamples" else name, value)
        if value != wanted:
            yield f"metrics_master.json, meta: {name} is {value!r}, the run's configuration says {wanted!r}"
    if "within_folds" in drawn and drawn["within_folds"] != bool(table.folds):
        yield f"metrics_master.json, meta: within_folds is {drawn['within_folds']}, the table says otherwise"


def facts(source: Source, table: Table, folds: Folds | None) -> Check:
    """PV006."""
    title = "The manifest's facts are those of the tables"
    if source.manifest is None:
        return absent("PV006", title, "there is no manifest.json")
    findings = [*_recorded(source.manifest)]
    if folds is not None:
        findings += _folds(source.manifest, folds)
        if folds.is_cross_validation:
            findings += _corpus(source.manifest.get("corpus") or {}, table, folds)
    good = "seed, versions, folds and counts of the corpus agree with configuration and tables"
    return judged("PV006", title, findings, good=good, fix=FIX)


def _recorded(manifest: Facts) -> Iterator[str]:
    config = manifest.get("config") or {}
    for name in ("seed", "threads"):
        if name not in manifest:
            yield f"manifest.json: {name} is not recorded"
        elif name in config and config[name] != manifest[name]:
            yield f"manifest.json: {name} is {manifest[name]}, its configuration says {config[name]}"
    environment = manifest.get("environment") or {}
    for name in ("python", "packages"):
        if not environment.get(name):
            yield f"manifest.json: the versions of {name} are not recorded"
    if not manifest.get("probative"):
        yield "manifest.json: the version of probative is not recorded"
    if not (manifest.get("corpus") or {}).get("fingerprint"):
        yield "manifest.json: the corpus has no fingerprint"


def _folds(manifest: Facts, folds: Folds) -> Iterator[str]:
    stated = [str(entry["fold"]) for entry in manifest.get("folds", ())]
    if sorted(stated) != sorted(folds.by_fold):
        yield f"manifest.json: has folds {', '.join(stated)}, folds.parquet has {', '.join(sorted(folds.by_fold))}"


def _corpus(stated: Facts, table: Table, folds: Folds) -> Iterator[str]:
    """Cross-validation predicts every document, so the table holds all that is labelled."""
    again = {
        "n_documents": len(folds.documents),
        "n_queries": len(table.queries),
        "n_positive": sum(q.positive for q in table.queries),
        "n_unlocated": sum(q.positive and not q.located for q in table.queries),
    }
    lengths: dict[str, set[int]] = {}
    for q in table.queries:
        lengths.setdefault(q.doc_id, set()).add(q.n)
    if lengths.keys() == folds.documents and all(len(sizes) == 1 for sizes in lengths.values()):
        again["n_sentences"] = sum(n for sizes in lengths.values() for n in sizes)
    for name, value in again.items():
        if stated.get(name, value) != value:
            yield f"manifest.json: {name} of the corpus is {stated[name]}, the tables have {value}"
    if "n_criteria" in stated and "n_unlabelled" in stated:
        pairs = stated["n_criteria"] * len(folds.documents)
        if pairs - stated["n_unlabelled"] != len(table.queries):
            yield f"manifest.json: {stated['n_unlabelled']} unlabelled pairs of {pairs}, but {len(table.queries)} rows"


def marks(records: list[dict[str, Any]], master: Facts, queries: list[Query], excluded: frozenset[str]) -> Check:
    """PV035."""
    positive = Counter(q.criterion_id for q in queries if q.positive)
    criteria = {q.criterion_id for q in queries}
    sizes = {
        "fold_mean": {"all": len({q.fold for q in queries}), "trained": len({q.fold for q in queries})},
        "criterion_macro": {"all": len(criteria), "trained": len(criteria - excluded)},
    }
    unit = ((master.get("meta") or {}).get("bootstrap") or {}).get("unit")
    findings = [line for r in records for line in _marks(r, positive, sizes, unit)]
    return judged(
        "PV035",
        "Headlines, marks and methods are those of the contract",
        findings,
        good="headline readings, small criteria, averages and methods of intervals are marked as the contract says",
        fix=FIX,
    )


HEADLINES = {
    **dict.fromkeys(("mrr", "recall", "precision", "hit", "map", "ndcg"), ("positives_only", None)),
    **dict.fromkeys(("auroc", "auprc", "tpr", "tpr_transfer", "fpr_transfer", "brier", "ece"), ("all_queries", None)),
    **dict.fromkeys(("evidence_recall", "evidence_precision"), ("positives_only", "triage")),
    **dict.fromkeys(("screening_sensitivity", "screening_fn_per_1000", "alert_precision"), ("all_queries", None)),
    **dict.fromkeys(("f1_macro", "f1_weighted"), ("documents", None)),
}
"""The contract's bold ids, with the population and the mode of their headline."""
AT_K = frozenset({"recall", "precision", "hit", "map", "ndcg"})
METHODS = {
    "documents": {"percentile", "clopper_pearson_docs"},
    "queries": {"percentile_queries", "clopper_pearson_queries"},
}


def is_headline(metric: str, population: str, mode: str | None) -> bool:
    base, at, cutoff = metric.partition("@")
    if bool(at) != (base in AT_K or base.startswith(("tpr", "fpr_transfer"))) or cutoff.startswith("p="):
        return False
    return HEADLINES.get(base) == (population, mode)


def _marks(
    r: Facts, positive: Mapping[str, int], sizes: Mapping[str, Mapping[str, int]], unit: str | None
) -> Iterator[str]:
    place = " · ".join(str(r.get(name)) for name in ("id", "scope", "population", "mode", "stage") if r.get(name))
    wanted = is_headline(str(r.get("id")), str(r.get("population")), r.get("mode"))
    if "default" in r and bool(r["default"]) != wanted:
        yield f"{place}: is {'' if r['default'] else 'not '}marked as a headline reading, the contract says otherwise"
    kind, _, name = str(r.get("scope")).partition(":")
    if kind == "criterion" and name in positive and bool(r.get("small")) != (positive[name] < SMALL):
        yield f"{place}: small is {bool(r.get('small'))}, but the criterion has {positive[name]} positives"
    if r.get("averaged") is not None and kind in sizes:
        members = sizes[kind].get(r.get("criteria") or "all")
        if r["averaged"] + r.get("left_out", 0) != members:
            yield f"{place}: {r['averaged']} averaged and {r.get('left_out')} left out, but there are {members}"
    method = r.get("ci_method")
    if (method is None) != (r.get("ci_low") is None):
        yield f"{place}: an interval and its method go together"
    elif method is not None and unit in METHODS and method not in METHODS[unit]:
        yield f"{place}: ci_method is {method}, though {unit} were resampled"
