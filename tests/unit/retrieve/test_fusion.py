from __future__ import annotations

import numpy as np
import pytest

from probative.retrieve.fusion import min_max, reciprocal_rank, weighted

OFFSETS = np.array([0, 3, 5])


def test_reciprocal_ranks_are_summed() -> None:
    one = np.array([3.0, 2.0, 1.0, 5.0, 6.0])
    two = np.array([1.0, 2.0, 3.0, 5.0, 6.0])
    expected = [1 / 61 + 1 / 63, 2 / 62, 1 / 63 + 1 / 61, 2 / 62, 2 / 61]
    assert pytest.approx(expected) == reciprocal_rank([one, two], OFFSETS, 60).tolist()


def test_min_max_is_within_the_query_and_flat_scores_give_zero() -> None:
    assert min_max(np.array([2.0, 3.0, 4.0, 7.0, 7.0]), OFFSETS).tolist() == [0.0, 0.5, 1.0, 0.0, 0.0]


def test_the_weight_is_the_dense_share() -> None:
    dense, bm25 = np.array([0.0, 1.0, 0.0, 0.0, 1.0]), np.array([4.0, 0.0, 0.0, 9.0, 0.0])
    assert pytest.approx([0.25, 0.75, 0.0, 0.25, 0.75]) == weighted(dense, bm25, OFFSETS, 0.75).tolist()
