"""The final order: the pool first by its score, ties by the stage before, the rest in retriever order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from probative.pipeline.ranking import rank


def test_the_pool_comes_first_and_the_rest_keeps_its_order() -> None:
    score = np.array([0.1, 0.9, 5.0, 0.9])
    before = np.array([2, 3, 4, 1])
    pool = np.array([True, True, False, True])
    made = rank(score, before, pool, np.array([0, 4]))
    assert [3, 1, 0, 2] == made.order.tolist()
    assert [3, 2, 4, 1] == made.rank.tolist()


def test_queries_do_not_mix() -> None:
    made = rank(np.array([1.0, 2.0, 4.0, 3.0]), np.array([1, 2, 1, 2]), None, np.array([0, 2, 2, 4]))
    assert [1, 0, 2, 3] == made.order.tolist()


@given(st.lists(st.tuples(st.floats(-5, 5), st.booleans()), min_size=1, max_size=12))
def test_scores_never_rise_along_the_order(rows: list[tuple[float, bool]]) -> None:
    score, pool = np.array([s for s, _ in rows]), np.array([p for _, p in rows])
    made = rank(score, np.arange(len(rows)) + 1, pool, np.array([0, len(rows)]))
    assert (np.diff(made.score[made.order]) <= 0).all()
    assert sorted(made.order) == list(range(len(rows)))
    assert pool[made.order].tolist() == sorted(pool.tolist(), reverse=True)
