"""All stages have a say in the end, each on the same scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from probative.pipeline.fusion import fuse, log_share

OFFSETS = np.array([0, 2, 5])


def test_log_shares_add_up_to_one_in_every_query() -> None:
    shares = np.exp(log_share(np.array([1.0, 3, -50, 0, 900]), OFFSETS))
    assert pytest.approx([1, 1]) == np.add.reduceat(shares, OFFSETS[:-1])


def test_the_scale_of_a_query_does_not_matter() -> None:
    values = np.array([1.0, 3, -5, 0, 9])
    assert pytest.approx(log_share(values, OFFSETS)) == log_share(values + np.array([7, 7, -2, -2, -2]), OFFSETS)


def test_node_and_gate_are_means_of_log_odds(inputs_of) -> None:
    inputs = inputs_of(1, 2, 1)
    inputs = replace(inputs, scores={"linear": np.array([1.0, -1]), "graph_node": np.array([3.0, -3])})
    scores = fuse(inputs.with_gates(graph=np.array([5.0])))
    assert [2, -2] == scores.node.tolist()
    assert [3.5] == scores.gate.tolist()
    assert scores.rank[0] > scores.rank[1]


def test_without_learned_stages_the_retriever_ranks_alone(inputs_of) -> None:
    inputs = inputs_of(2)
    scores = fuse(inputs)
    assert np.argsort(-inputs.scores["retrieve"][:8]).tolist() == np.argsort(-scores.rank[:8]).tolist()
    assert scores.node is None
    assert scores.gate is None
