"""What an evaluation stood on: counts, what could not be computed and why, and what deserves a second look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from probative.evaluation.predictions import MODES, Predictions
from probative.evaluation.records import MetricsMaster
from probative.evaluation.scopes import SMALL
from probative.evaluation.settings import EvaluateSettings
from probative.metrics import ALPHAS
from probative.version import __version__

GAP = 0.01
CONDITIONAL = (
    "Intervals are conditional on the fitted models: they say what other documents would give, not what another "
    "training run would."
)


def meta(predictions: Predictions, settings: EvaluateSettings, extra: Mapping[str, Any]) -> dict[str, Any]:
    """The head of metrics_master.json."""
    p = predictions
    return {
        "probative": __version__,
        **extra,
        "counts": counts(p),
        "criteria": criteria(p),
        "bootstrap": bootstrap(p, settings),
        "ties": settings.ties,
        "not_computed": missing(p, settings),
    }


def counts(p: Predictions) -> dict[str, int]:
    """Documents, queries and what the populations hold."""
    unlocated = p.positive & ~p.located
    return {
        "n_documents": len(p.doc_ids),
        "n_criteria": len(p.criterion_ids),
        "n_queries": p.n_queries,
        "n_positive": int(p.positive.sum()),
        "n_located": int(p.located.sum()),
        "n_unlocated": int(unlocated.sum()),
        "n_folds": 0 if p.fold is None else len(np.unique(p.fold)),
        "n_gold": len(p.gold_rank),
        "n_gold_unranked": int((p.gold_rank == 0).sum()),
    }


def criteria(p: Predictions) -> list[dict[str, Any]]:
    """Queries and positives of every criterion; those with fewer than 20 positives are marked small."""
    queries = np.bincount(p.criterion, minlength=len(p.criterion_ids))
    positives = np.bincount(p.criterion[p.positive], minlength=len(p.criterion_ids))
    return [
        {
            "criterion_id": name,
            "n_queries": int(n),
            "n_positive": int(n_positive),
            "small": bool(n_positive < SMALL),
            "excluded": name in p.excluded,
        }
        for name, n, n_positive in zip(p.criterion_ids, queries, positives, strict=True)
    ]


def bootstrap(p: Predictions, settings: EvaluateSettings) -> dict[str, Any] | None:
    """How intervals were made."""
    if not settings.bootstrap:
        return None
    return {
        "resamples": settings.bootstrap,
        "seed": settings.seed,
        "level": settings.level,
        "unit": settings.resample,
        "within_folds": p.fold is not None,
        "note": CONDITIONAL
        if settings.resample == "documents"
        else f"Queries of one document are not independent: these query-level intervals are too short. {CONDITIONAL}",
    }


def missing(p: Predictions, settings: EvaluateSettings) -> list[dict[str, Any]]:
    """Metrics whose inputs are absent, with the missing column."""
    found: list[dict[str, Any]] = []

    def note(ids: list[str], column: str, *, absent: bool) -> None:
        if absent:
            found.append({"ids": ids, "missing": column})

    no_prob = p.prob is None
    note(
        ["auroc", "auprc", "auroc_within", "auprc_within", "tpr@fpr=*", "curve_threshold@fpr=*"], "prob", absent=no_prob
    )
    note(["tp@p=0.5 … balanced_accuracy@p=0.5"], "prob", absent=no_prob)
    note(["brier", "ece", "ece_dropone", "mce", "ece_equalmass", "calibration_*"], "prob", absent=no_prob)
    note(["auroc_raw"], "prob_raw", absent=p.prob_raw is None)
    note(["auroc_candidates", "auprc_candidates"], "ranked_scores", absent=p.row_score is None)
    note(["recall_inpool@*", "pool_coverage"], "pool_uids", absent=p.gold_in_pool is None)
    note(["brier_skill", "stage prior"], "prior", absent=p.prior is None)
    decided = "prob or predicted"
    note(["tp … balanced_accuracy", "exact_match … f1_weighted_document"], decided, absent=p.predicted is None)
    for alpha in ALPHAS:
        ids = [f"tpr_transfer@fpr={alpha}", f"fpr_transfer@fpr={alpha}"]
        note(ids, f"threshold@fpr={alpha}", absent=no_prob or alpha not in p.budget_thresholds)
    note(["neg_rate … aurc", "scopes state:*"], "state, or tau_neg and tau_pos", absent=p.state is None)
    for mode in MODES:
        note([f"evidence_*, k_*, deploy_* ({mode})"], f"selected_{mode}", absent=mode not in p.selections)
    note(["scopes fold:* and fold_mean"], "fold", absent=p.fold is None)
    many = len(p.criterion_ids) > settings.criteria_limit
    limit = f"evaluate.criteria_limit of at least {len(p.criterion_ids)} (it is {settings.criteria_limit})"
    note(["scopes criterion:* and criterion_macro"], limit, absent=many)
    return found


def flags(master: MetricsMaster) -> list[str]:
    """What a reader should look at twice."""
    found = []
    pooled, folds = master.value("auroc"), master.value("auroc_raw", "fold_mean")
    if pooled is not None and folds is not None and abs(pooled - folds) > GAP:
        found.append(
            f"Pooled auroc {pooled:.4f} and the fold mean of auroc_raw {folds:.4f} differ by more than {GAP}: "
            "calibration did not make the folds comparable, or it reordered queries."
        )
    return found
