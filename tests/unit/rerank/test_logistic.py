"""The solver finds what scikit-learn finds, each outcome for itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from probative.rerank.logistic import fit_logistic, predict_logistic

RNG = np.random.default_rng(3)
DENSE = RNG.normal(size=(300, 5)).astype(np.float32)
SPARSE = csr_matrix((RNG.random((300, 7)) < 0.2).astype(np.float32))
TRUE = RNG.normal(size=(12, 3))
TARGET = (RNG.random((300, 3)) < 1 / (1 + np.exp(-(np.hstack([DENSE, SPARSE.toarray()]) @ TRUE)))).astype(np.float32)
ONES = np.ones_like(TARGET)


def test_weights_are_those_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    found = fit_logistic([DENSE, SPARSE], TARGET, ONES, 0 * ONES, iterations=200, penalty=1.0, intercept_penalty=1e-6)
    rows = np.hstack([DENSE, SPARSE.toarray()])
    for outcome in range(3):
        peer = LogisticRegression(C=1.0, tol=1e-8, max_iter=2000).fit(rows, TARGET[:, outcome])
        assert pytest.approx(peer.coef_[0], abs=0.02) == found[:-1, outcome]
        assert pytest.approx(peer.intercept_[0], abs=0.02) == found[-1, outcome]


def test_an_outcome_does_not_depend_on_the_others() -> None:
    together = fit_logistic([DENSE], TARGET, ONES, 0 * ONES, iterations=100)
    alone = fit_logistic([DENSE], TARGET[:, :1], ONES[:, :1], 0 * ONES[:, :1], iterations=100)
    assert pytest.approx(alone[:, 0], abs=5e-3) == together[:, 0]


def test_rows_without_weight_change_nothing() -> None:
    weight = ONES.copy()
    weight[200:] = 0
    part = fit_logistic([DENSE[:200]], TARGET[:200], ONES[:200], 0 * ONES[:200], iterations=100)
    assert pytest.approx(part, abs=5e-3) == fit_logistic([DENSE], TARGET, weight, 0 * ONES, iterations=100)


def test_an_offset_that_already_explains_everything_leaves_little_to_learn() -> None:
    known = predict_logistic([DENSE], fit_logistic([DENSE], TARGET, ONES, 0 * ONES, iterations=100, penalty=0.01))
    rest = fit_logistic([DENSE], TARGET, ONES, known, iterations=100)
    assert np.abs(rest).max() < 0.05


def test_an_outcome_without_positives_gets_low_odds_and_finite_weights() -> None:
    found = fit_logistic([DENSE], 0 * TARGET, ONES, 0 * ONES, iterations=50)
    assert np.isfinite(found).all()
    assert predict_logistic([DENSE], found).max() < -3
