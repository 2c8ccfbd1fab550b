"""What a careful user writes without probative: pytrec_eval and scikit-learn on a per_query table.

python -m benchmarks.peer_script per_query.parquet 10000. It computes nine statistics with document intervals and the
plain ranking means; everything else that `probative evaluate` prints would be more code.
"""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytrec_eval
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score, roc_curve

KS = "1,3,5,10,20"


def main(path: str, resamples: int) -> None:
    table = pl.read_parquet(path)
    run, qrels = {}, {}
    for i, (uids, gold) in enumerate(zip(table["ranked_uids"].to_list(), table["gold_uids"].to_list(), strict=True)):
        run[str(i)] = {uid: -float(rank) for rank, uid in enumerate(uids)}
        if gold:
            qrels[str(i)] = dict.fromkeys(gold, 1)
    measures = {f"{name}.{KS}" for name in ("P", "recall", "success", "map_cut", "ndcg_cut")} | {"recip_rank"}
    found = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    means = {name: np.mean([row[name] for row in found.values()]) for name in next(iter(found.values()))}
    y = np.array([bool(gold) for gold in table["gold_uids"].to_list()])
    p = table["prob"].to_numpy()
    ndcg = np.array([found[str(i)]["ndcg_cut_10"] if str(i) in found else np.nan for i in range(len(y))])
    _, document = np.unique(table["doc_id"].to_numpy(), return_inverse=True)
    rows_of = [np.flatnonzero(document == d) for d in range(document.max() + 1)]
    rng = np.random.default_rng(0)
    drawn = [
        statistics(y[rows], p[rows], ndcg[rows])
        for rows in (
            np.concatenate([rows_of[d] for d in rng.integers(0, len(rows_of), len(rows_of))]) for _ in range(resamples)
        )
    ]
    print(means, statistics(y, p, ndcg), np.quantile(drawn, [0.025, 0.975], axis=0) if drawn else "")


def statistics(y: np.ndarray, p: np.ndarray, ndcg: np.ndarray) -> list[float]:
    fpr, tpr, _ = roc_curve(y, p, drop_intermediate=False)
    place = np.minimum((p * 10).astype(int), 9)
    ece = sum(abs(p[place == b].mean() - y[place == b].mean()) * (place == b).mean() for b in np.unique(place))
    return [
        roc_auc_score(y, p),
        average_precision_score(y, p),
        *(tpr[fpr <= alpha].max() for alpha in (0.01, 0.03, 0.05, 0.1)),
        brier_score_loss(y, p),
        float(ece),
        float(np.nanmean(ndcg)),
    ]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
