"""Both ways to a staircase count alike."""

from __future__ import annotations

import numpy as np
import pytest

from probative.metrics import ALPHAS, detection


@pytest.mark.parametrize("seed", range(20))
def test_counting_from_scores_equals_counting_from_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.random(60) < 0.3
    y[:2] = True, False
    score = np.round(rng.random(60), 1 + seed % 3)
    rows, scores = detection.staircase(detection.steps(y, score)), detection.count_steps(y, score)
    assert rows.auroc() == pytest.approx(scores.auroc(), abs=1e-12)
    assert rows.average_precision() == pytest.approx(scores.average_precision(), abs=1e-12)
    budgets = [float(alpha) for alpha in ALPHAS]
    assert rows.tpr(budgets) == pytest.approx(scores.tpr(budgets), abs=1e-12)
