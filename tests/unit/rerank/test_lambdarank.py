"""Trees reorder the linear model's best candidates and gate their queries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from probative import ConfigError, DataError, ModelError
from probative.rerank import LambdaRanker, LambdaRankSettings
from probative.types import Inputs

SETTINGS = LambdaRankSettings(depth=6, rank_trees=20, node_trees=20, min_leaf=5)


def with_linear(inputs: Inputs, seed: int = 0) -> Inputs:
    """A linear score that knows the gold dimly."""
    noise = np.random.default_rng(seed).normal(size=inputs.view.n_rows)
    return inputs.with_scores(linear=inputs.view.gold * 2.0 + noise - 3)


@pytest.fixture(scope="module")
def fitted(inputs_of) -> LambdaRanker:
    return LambdaRanker(SETTINGS).fit(with_linear(inputs_of(40)))


def test_evidence_scores_higher_than_the_rest(inputs_of, fitted: LambdaRanker) -> None:
    unseen = with_linear(inputs_of(20, seed=4), 4)
    scores = fitted.score(unseen)
    gold = unseen.view.gold
    assert scores.node[gold].mean() > scores.node[~gold].mean() + 1
    assert scores.gate[unseen.view.has_evidence].mean() > scores.gate[~unseen.view.has_evidence].mean()


def test_candidates_beyond_the_depth_stand_below_in_linear_order(inputs_of, fitted: LambdaRanker) -> None:
    unseen = with_linear(inputs_of(3, seed=4), 4)
    scores = fitted.score(unseen)
    for start, end in zip(unseen.view.offsets, unseen.view.offsets[1:], strict=False):
        by_linear = np.argsort(-unseen.scores["linear"][start:end])
        for values in (scores.rank[start:end], scores.node[start:end]):
            assert by_linear[6:].tolist() == np.argsort(-values)[6:].tolist()


def test_rows_outside_the_pool_stand_below_the_pool(inputs_of, fitted: LambdaRanker) -> None:
    unseen = with_linear(inputs_of(3, seed=4), 4)
    pool = np.tile(np.arange(8) < 3, unseen.view.n_queries)
    rank = fitted.score(replace(unseen, pool=pool)).rank
    assert (rank[pool].reshape(-1, 3).min(1) > rank[~pool].reshape(-1, 5).max(1)).all()


def test_an_empty_pool_leaves_the_linear_order(inputs_of, fitted: LambdaRanker) -> None:
    unseen = with_linear(inputs_of(2, seed=4), 4)
    rank = fitted.score(replace(unseen, pool=np.zeros(unseen.view.n_rows, dtype=bool))).rank
    assert np.isfinite(rank).all()
    assert np.argsort(-unseen.scores["linear"][:8]).tolist() == np.argsort(-rank[:8]).tolist()


def test_a_saved_model_scores_the_same(tmp_path: Path, inputs_of, fitted: LambdaRanker) -> None:
    fitted.save(tmp_path)
    unseen = with_linear(inputs_of(5, seed=4), 4)
    before, after = fitted.score(unseen), LambdaRanker.load(tmp_path).score(unseen)
    for name in ("rank", "node", "gate"):
        assert np.array_equal(getattr(before, name), getattr(after, name))


def test_the_same_view_and_seed_give_the_same_trees(inputs_of, fitted: LambdaRanker) -> None:
    again = LambdaRanker(SETTINGS).fit(with_linear(inputs_of(40)))
    assert fitted.rank_.model_to_string() == again.rank_.model_to_string()


def test_gold_of_the_scored_view_is_never_read(inputs_of, fitted: LambdaRanker) -> None:
    unseen = with_linear(inputs_of(5, seed=4), 4)
    blind = replace(unseen, view=unseen.view.blind())
    assert np.array_equal(fitted.score(unseen).rank, fitted.score(blind).rank)


def test_without_linear_scores_the_remedy_is_named(inputs_of) -> None:
    with pytest.raises(ConfigError, match="put the linear reranker before it"):
        LambdaRanker(SETTINGS).fit(inputs_of(4))


def test_nothing_to_learn_is_said(inputs_of) -> None:
    inputs = with_linear(inputs_of(4))
    with pytest.raises(DataError, match="nothing can be learned"):
        LambdaRanker(SETTINGS).fit(replace(inputs, view=inputs.view.blind()))


def test_evidence_in_every_query_leaves_the_gate_out(inputs_of) -> None:
    inputs = with_linear(inputs_of(10))
    positive = np.flatnonzero(inputs.view.has_evidence)
    rows = np.isin(inputs.view.query, positive)
    only = Inputs(
        view=inputs.view.take_queries(positive),
        sentence_vectors=inputs.sentence_vectors,
        criterion_vectors=inputs.criterion_vectors,
        scores={name: values[rows] for name, values in inputs.scores.items()},
    )
    assert LambdaRanker(SETTINGS).fit(only).score(only).gate is None


def test_one_sentence_documents_are_scored(inputs_of) -> None:
    inputs = with_linear(inputs_of(30, 1, 6))
    assert np.isfinite(LambdaRanker(SETTINGS).fit(inputs).score(inputs).node).all()


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        LambdaRanker.load(tmp_path)
