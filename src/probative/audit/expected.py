"""PV025: which records a table must have, so that none can be left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from probative.audit import detection, extraction, labels, ranking, triage
from probative.audit.check import MEASURE, Check, judged
from probative.audit.frame import Frame
from probative.audit.recompute import Key

ALPHAS = ("0.01", "0.03", "0.05", "0.1")
Spec = tuple[str, str, str | None]
"""(id, population, mode)"""


def ids(frame: Frame, ranked: bool = True) -> Iterator[Spec]:
    """Every id that the columns of a stage allow."""
    if frame.stage != "prior" and ranked:
        yield from _ranked(frame)
    yield from _detected(frame)
    if frame.stage == "final":
        yield from _decided(frame)
        yield from _shown(frame)


def _ranked(frame: Frame) -> Iterator[Spec]:
    pooled = frame.has("pool")
    names = [f"{family}@{k}" for family in ranking.AT_K for k in ranking.CUTOFFS if pooled or family != "recall_inpool"]
    names += ["mrr", *(["pool_coverage"] if pooled else [])]
    for name in names:
        for population in ("positives_only", "all_queries"):
            yield name, population, None


def _detected(frame: Frame) -> Iterator[Spec]:
    names: list[str] = []
    if frame.has("prob"):
        names += [
            "auroc",
            "auprc",
            "auroc_within",
            "auprc_within",
            "brier",
            "ece",
            "ece_dropone",
            "mce",
            "ece_equalmass",
        ]
        names += ["calibration_slope", "calibration_intercept"]
        names += [f"{name}@fpr={alpha}" for name in ("tpr", "curve_threshold") for alpha in ALPHAS]
        names += [f"{name}@p=0.5" for name in sorted(detection.RATIOS | detection.COUNTS)]
        budgets = set.intersection(*(set(q.budgets) for q in frame.queries)) if frame.queries else set()
        names += [f"{name}@fpr={b}" for name in ("tpr_transfer", "fpr_transfer") for b in sorted(budgets)]
    if frame.has("prob") and frame.has("prior"):
        names.append("brier_skill")
    if frame.has("prob_raw"):
        names.append("auroc_raw")
    for name in names:
        yield name, "all_queries", None
    if frame.has("scores"):
        yield "auroc_candidates", "candidates", None
        yield "auprc_candidates", "candidates", None


def _decided(frame: Frame) -> Iterator[Spec]:
    for name in ("n_queries", "n_positive", "positive_rate"):
        yield name, "all_queries", None
    if frame.has("predicted"):
        for name in sorted(detection.RATIOS | detection.COUNTS):
            yield name, "all_queries", None
        for name in sorted(labels.METRICS):
            yield name, "documents", None
    if frame.has("state"):
        for name in sorted(triage.METRICS | ({"aurc"} if frame.has("prob") else set())):
            yield name, "all_queries", None


def _shown(frame: Frame) -> Iterator[Spec]:
    deployment = ("tp", "fp", "tn", "fn", "fpr", "fnr", "precision", "recall", "f1")
    states = ["state:NEG", "state:UNCERTAIN", "state:POS"] if frame.has("state") else []
    for mode in extraction.MODES:
        if not frame.has(mode):
            continue
        for name, (population, _) in extraction.PER_QUERY.items():
            yield name, population, mode
        yield "evidence_recall_micro", "positives_only", mode
        if frame.has("state" if mode == "triage" else "predicted"):
            yield "evidence_recall_micro_passed", "passed_positives", mode
            yield "k_mean_passed", "passed_queries", mode
        for name in sorted(extraction.SIZES):
            for population in ("all_queries", "positives_only", "negatives_only", *states):
                yield name, population, mode
        for name in deployment:
            yield f"deploy_{name}", "all_queries", mode


def scopes(frame: Frame, criteria: str, *, single: bool = True) -> Iterator[str]:
    """Every scope of a set of criteria that holds a query; without `single`, none of one criterion."""
    yield "pooled"
    folds = [f"fold:{fold}" for fold in frame.folds]
    yield from folds
    if folds:
        yield "fold_mean"
    if single:
        yield "criterion_macro"
        if criteria == "all":
            yield from (f"criterion:{name}" for name in frame.criteria("all"))
    if frame.has("state"):
        yield from (f"state:{s}" for s in ("NEG", "UNCERTAIN", "POS") if frame.rows(f"state:{s}", criteria))


def missing(keys: Sequence[Key], frames: Mapping[str, Frame], *, ranked: bool = True, single: bool = True) -> Check:
    """PV025."""
    return judged(
        "PV025",
        "No record is missing",
        _missing(frozenset(keys), frames, ranked, single),
        good="every id that the columns allow is there, in every scope, set and stage",
        fix=MEASURE,
    )


def _missing(stated: frozenset[Key], frames: Mapping[str, Frame], ranked: bool, single: bool) -> Iterator[str]:
    for stage, frame in frames.items():
        sets = ["all", *(["trained"] if frame.excluded & set(frame.criteria("all")) else [])]
        specs = list(ids(frame, ranked))
        for criteria in sets:
            for scope in scopes(frame, criteria, single=single) if frame.rows("pooled", criteria) else ():
                for metric, population, mode in specs:
                    key = Key(
                        metric=metric, scope=scope, population=population, mode=mode, criteria=criteria, stage=stage
                    )
                    if key not in stated:
                        yield f"{key}: metrics_master.json has no such record"
