"""The functions that the source documents name, for one list, one dictionary or one array."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from probative.metrics import calibration, detection, triage
from probative.metrics.ranking import gold_ranks, ranking

Uid = Any
PRIMARY = (3, 5, 10)


def _one(gold_ids: Collection[Uid], ranked_ids: Sequence[Uid], k: int, family: str) -> float:
    gold, ranked = set(gold_ids), list(ranked_ids)
    if not gold:
        return 0.0
    place = {uid: rank for rank, uid in reversed(list(enumerate(ranked, start=1)))}
    rank = np.array(sorted(place.get(uid, 0) for uid in gold), dtype=np.int64)
    n = np.array([max(len(ranked), k)], dtype=np.int64)
    values = ranking(rank, np.array([0, len(rank)], dtype=np.int64), n, (k,))
    return float(values[family if family in values else f"{family}@{k}"][0])


def recall_at_k(gold_ids: Collection[Uid], ranked_ids: Sequence[Uid], k: int) -> float:
    """recall@K of one query.

    >>> recall_at_k({"b", "d"}, ["a", "b", "c", "d"], 3)
    0.5
    """
    return _one(gold_ids, ranked_ids, k, "recall")


def precision_at_k(gold_ids: Collection[Uid], ranked_ids: Sequence[Uid], k: int) -> float:
    """precision@K of one query: divided by K, however short the ranking."""
    return _one(gold_ids, ranked_ids, k, "precision")


def mrr_at_k(gold_ids: Collection[Uid], ranked_ids: Sequence[Uid], k: int) -> float:
    """mrr@K of one query."""
    return _one(gold_ids, ranked_ids, k, f"mrr@{k}")


def map_at_k(gold_ids: Collection[Uid], ranked_ids: Sequence[Uid], k: int) -> float:
    """map@K of one query, over min(|G|, K) (000, 001)."""
    return _one(gold_ids, ranked_ids, k, "map")


def average_precision_at_k(gold_sent_uids: Collection[Uid], ranked_sent_uids: Sequence[Uid], k: int) -> float:
    """map_gold@K of one query, over |G| (004)."""
    return _one(gold_sent_uids, ranked_sent_uids, k, "map_gold")


def ndcg_at_k(gold_ids: Collection[Uid], ranked_ids: Sequence[Uid], k: int) -> float:
    """ndcg@K of one query, binary gain."""
    return _one(gold_ids, ranked_ids, k, "ndcg")


def mrr_single_query(gold_sent_uids: Collection[Uid], ranked_sent_uids: Sequence[Uid]) -> float:
    """1 / rank of the first gold in the whole ranking, 0 when none."""
    return _one(gold_sent_uids, ranked_sent_uids, max(len(ranked_sent_uids), 1), "mrr")


def compute_ndcg_at_k(y_true: ArrayLike, y_score: ArrayLike, k: int = 10) -> float:
    """ndcg@K from labels and scores of one query's candidates; equal scores keep their order."""
    gold, score = np.asarray(y_true).astype(bool), np.asarray(y_score, dtype=np.float64)
    offsets, rank = gold_ranks(score, gold, np.array([0, len(score)], dtype=np.int64))
    return float(ranking(rank, offsets, np.array([len(score)]), (k,))[f"ndcg@{k}"][0])


def compute_k_eff(k: int, n: int) -> int:
    """min(K, n): a short document cannot be asked for more than it has."""
    return min(k, n)


def _queries(
    gold: Mapping[Any, Collection[Uid]], ranked: Mapping[Any, Sequence[Uid]]
) -> Iterable[tuple[Collection[Uid], Sequence[Uid]]]:
    return ((gold.get(query, ()), ranked.get(query, ())) for query in {**gold, **ranked})


def paper_evaluate(
    gold: Mapping[Any, Collection[Uid]],
    ranked: Mapping[Any, Sequence[Uid]],
    ks: Sequence[int] = PRIMARY,
    *,
    skip_no_positives: bool = True,
) -> dict[str, float]:
    """Means of recall, mrr, map and ndcg at every K over queries with gold, or over all of them (001 §2).

    `gold` and `ranked` hold sentence ids by query. `n_queries` says how many were averaged.
    """
    functions = {"recall": recall_at_k, "mrr": mrr_at_k, "map": map_at_k, "ndcg": ndcg_at_k}
    queries = [(g, r) for g, r in _queries(gold, ranked) if len(g) or not skip_no_positives]
    values = {
        f"{name}@{k}": sum(function(g, r, k) for g, r in queries) / max(len(queries), 1)
        for name, function in functions.items()
        for k in ks
    }
    return {**values, "n_queries": float(len(queries))}


def dual_evaluate(
    gold: Mapping[Any, Collection[Uid]], ranked: Mapping[Any, Sequence[Uid]], ks: Sequence[int] = PRIMARY
) -> dict[str, dict[str, float]]:
    """Both protocols of 001 §2.2, so that neither is mistaken for the other."""
    return {
        "positives_only": paper_evaluate(gold, ranked, ks, skip_no_positives=True),
        "all_queries": paper_evaluate(gold, ranked, ks, skip_no_positives=False),
    }


def compute_threshold_at_fpr(
    y_prob: ArrayLike, y_true: ArrayLike, target_fpr: float = 0.05
) -> tuple[float | None, float, float]:
    """(threshold, tpr, fpr) of the largest TPR with FPR ≤ target; (None, 0, 0) when no score qualifies.

    Among thresholds with the same TPR the highest is given.
    """
    y, p = np.asarray(y_true).astype(bool), np.asarray(y_prob, dtype=np.float64)
    stairs = detection.steps(y, p)
    threshold = detection.curve_threshold(stairs, detection.staircase(stairs), target_fpr)
    if threshold is None:
        return None, 0.0, 0.0
    through = p >= threshold
    return threshold, float(through[y].mean()), float(through[~y].mean())


def compute_ece(probs: ArrayLike, labels: ArrayLike, n_bins: int = 10) -> float:
    """ece_dropone: 000's code taken literally, where p = 1 falls in no bin. `ece` is the default reading."""
    p, y = np.asarray(probs, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if not len(p):
        return 0.0
    kept = p < 1.0
    sum_p, sum_y, _ = calibration.binned(p[kept], y[kept], np.linspace(0, 1, n_bins + 1))
    return float(calibration.gap(sum_p, sum_y, float(len(p))))


def evidence_recall_at_selected_k(gold_sent_uids: Collection[Uid], extracted_sent_uids: Collection[Uid]) -> float:
    """evidence_recall of one query."""
    gold = set(gold_sent_uids)
    return len(gold & set(extracted_sent_uids)) / len(gold) if gold else 0.0


def evidence_precision_at_selected_k(gold_sent_uids: Collection[Uid], extracted_sent_uids: Collection[Uid]) -> float:
    """evidence_precision of one query."""
    extracted = set(extracted_sent_uids)
    return len(set(gold_sent_uids) & extracted) / len(extracted) if extracted else 0.0


def assign_state(prob: float, tau_neg: float, tau_pos: float) -> str:
    """NEG, UNCERTAIN or POS (004 §5.1).

    >>> assign_state(0.3, 0.1, 0.8)
    'UNCERTAIN'
    """
    return triage.STATES[int(triage.assign(*(np.array(value) for value in (prob, tau_neg, tau_pos))))]


class NEGateMetrics:
    """The no-evidence gate's metrics (001 §4.3)."""

    @staticmethod
    def compute(y_true: ArrayLike, y_prob: ArrayLike, threshold: float = 0.5) -> dict[str, float | None]:
        """auroc, auprc, tpr@fpr and its thresholds, brier, ece, and the confusion table at a threshold."""
        y, p = np.asarray(y_true).astype(bool), np.asarray(y_prob, dtype=np.float64)
        values: dict[str, float | None] = {
            "n_queries": float(len(y)),
            "n_positive": float(y.sum()),
            "auroc": detection.auroc(y, p),
            "auprc": detection.auprc(y, p),
            "brier": calibration.brier(y, p),
            "ece": calibration.ece(y, p),
        }
        for alpha in detection.ALPHAS:
            cut, tpr, _ = compute_threshold_at_fpr(p, y, float(alpha))
            values |= {f"tpr@fpr={alpha}": tpr, f"curve_threshold@fpr={alpha}": cut}
        guess = p >= threshold
        cells = [np.float64((a & b).sum()) for a, b in ((guess, y), (guess, ~y), (~guess, ~y), (~guess, y))]
        values |= dict(zip(detection.CONFUSION, (float(cell) for cell in cells), strict=True))
        return values | {name: float(value) for name, value in detection.confusion(*map(np.asarray, cells)).items()}
