"""Agreement with pytrec_eval and scikit-learn to 1e-9 where the definitions coincide."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import pytrec_eval
from sklearn import metrics as peer
from sklearn.linear_model import LogisticRegression

from probative import metrics
from probative.metrics import calibration, detection

KS = (1, 3, 5, 10, 20)
TREC = {
    **{f"recall_{k}": f"recall@{k}" for k in KS},
    **{f"P_{k}": f"precision@{k}" for k in KS},
    **{f"success_{k}": f"hit@{k}" for k in KS},
    **{f"map_cut_{k}": f"map_gold@{k}" for k in KS},
    **{f"ndcg_cut_{k}": f"ndcg@{k}" for k in KS},
    "recip_rank": "mrr",
}


@pytest.fixture(scope="module")
def columns() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores without ties, gold and offsets; some queries have no gold, some are short."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 40, 300)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    gold = rng.random(offsets[-1]) < np.repeat(rng.choice([0.0, 0.1, 0.4], 300), sizes)
    return rng.permutation(offsets[-1]) / offsets[-1], gold, offsets


def test_ranking_agrees_with_trec_eval(columns: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    scores, gold, offsets = columns
    queries = [range(a, b) for a, b in pairwise(offsets)]
    run = {str(q): {str(i): float(scores[i]) for i in rows} for q, rows in enumerate(queries)}
    qrel = {str(q): {str(i): int(gold[i]) for i in rows} for q, rows in enumerate(queries)}
    cuts = ",".join(map(str, KS))
    measures = {f"{name}.{cuts}" for name in ("recall", "P", "success", "map_cut", "ndcg_cut")} | {"recip_rank"}
    theirs = pytrec_eval.RelevanceEvaluator(qrel, measures).evaluate(run)
    gold_offsets, rank = metrics.gold_ranks(scores, gold, offsets)
    ours = metrics.ranking(rank, gold_offsets, np.diff(offsets), KS)
    for peer_name, name in TREC.items():
        expected = [theirs[str(q)][peer_name] for q in range(len(queries))]
        np.testing.assert_allclose(ours[name], expected, atol=1e-9, err_msg=name)


def test_equal_scores_agree_with_trec_eval_in_its_order() -> None:
    rng = np.random.default_rng(5)
    offsets = np.arange(0, 401, 8)
    scores, gold = rng.integers(0, 3, 400) / 2, rng.random(400) < 0.3
    uids = [f"s{i:04d}" for i in rng.permutation(400)]
    run: dict[str, dict[str, float]] = {}
    qrel: dict[str, dict[str, int]] = {}
    for q in range(50):
        run[str(q)] = {uids[i]: float(scores[i]) for i in range(8 * q, 8 * q + 8)}
        qrel[str(q)] = {uids[i]: int(gold[i]) for i in range(8 * q, 8 * q + 8)}
    theirs = pytrec_eval.RelevanceEvaluator(qrel, {"ndcg_cut.5", "recip_rank"}).evaluate(run)
    order = metrics.trec_order(scores, uids, offsets)
    gold_offsets, rank = metrics.gold_ranks(scores[order], gold[order], offsets)
    ours = metrics.ranking(rank, gold_offsets, np.diff(offsets), (5,))
    np.testing.assert_allclose(ours["ndcg@5"], [theirs[str(q)]["ndcg_cut_5"] for q in range(50)], atol=1e-9)
    np.testing.assert_allclose(ours["mrr"], [theirs[str(q)]["recip_rank"] for q in range(50)], atol=1e-9)


@pytest.fixture(scope="module", params=[1, 3])
def probabilities(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities, with many ties (one decimal) or few (three)."""
    rng = np.random.default_rng(request.param)
    y = rng.random(500) < 0.2
    return y, np.round(np.clip(rng.normal(0.3 + 0.25 * y, 0.2), 0, 1), request.param)


def test_curves_agree_with_scikit_learn(probabilities: tuple[np.ndarray, np.ndarray]) -> None:
    y, p = probabilities
    assert peer.roc_auc_score(y, p) == pytest.approx(metrics.auroc(y, p), abs=1e-9)
    assert peer.average_precision_score(y, p) == pytest.approx(metrics.auprc(y, p), abs=1e-9)
    fpr, tpr, _ = peer.roc_curve(y, p, drop_intermediate=False)
    for alpha in (0.01, 0.03, 0.05, 0.1, 0.5):
        assert tpr[fpr <= alpha].max() == pytest.approx(metrics.compute_threshold_at_fpr(p, y, alpha)[1], abs=1e-9)


def test_the_confusion_table_agrees_with_scikit_learn(probabilities: tuple[np.ndarray, np.ndarray]) -> None:
    y, p = probabilities
    ours = metrics.NEGateMetrics.compute(y, p, threshold=0.4)
    guess = p >= 0.4
    assert peer.brier_score_loss(y, p) == pytest.approx(ours["brier"], abs=1e-9)
    assert peer.matthews_corrcoef(y, guess) == pytest.approx(ours["mcc"], abs=1e-9)
    assert peer.f1_score(y, guess) == pytest.approx(ours["f1"], abs=1e-9)
    assert peer.precision_score(y, guess) == pytest.approx(ours["precision"], abs=1e-9)
    assert peer.recall_score(y, guess) == pytest.approx(ours["sensitivity"], abs=1e-9)
    assert peer.balanced_accuracy_score(y, guess) == pytest.approx(ours["balanced_accuracy"], abs=1e-9)


def test_the_calibration_line_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0.02, 0.98, 2000)
    y = rng.random(2000) < calibration.sigmoid(0.3 + 0.7 * calibration.logit(p))
    fit = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(calibration.logit(p)[:, None], y)
    slope, intercept = calibration.line(y, p) or (np.nan, np.nan)
    error = y - calibration.sigmoid(intercept + slope * calibration.logit(p))
    assert abs(error.sum()) < 1e-9
    assert abs(error @ calibration.logit(p)) < 1e-9
    assert fit.coef_[0, 0] == pytest.approx(slope, abs=1e-6)
    assert fit.intercept_[0] == pytest.approx(intercept, abs=1e-6)


def test_a_budget_is_never_overrun_by_rounding() -> None:
    totals = np.arange(1.0, 3000.0)
    for alpha in map(float, detection.ALPHAS):
        count = detection.allowed(totals, alpha)
        assert (count / totals <= alpha).all()
        assert ((count + 1) / totals > alpha).all()
