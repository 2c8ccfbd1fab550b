"""Graphs hold a query's best candidates, linked where their sentences are near."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from probative.graph.batches import Sources, build_graphs
from probative.graph.settings import EdgeSettings

SOURCES = Sources(base="dense", odds=None, features=("dense",))


def build(inputs, size=4, **edges):
    return build_graphs(inputs, size, EdgeSettings(**edges), SOURCES)


def test_nodes_are_the_best_candidates_best_first(inputs_of) -> None:
    inputs = inputs_of(2)
    graphs = build(inputs)
    expected = np.argsort(-inputs.scores["dense"][:8], kind="stable")[:4]
    assert expected.tolist() == graphs.rows[0].tolist()


def test_short_documents_are_padded(inputs_of) -> None:
    graphs = build(inputs_of(2, 2), 4)
    assert graphs.rows.shape == (6, 2)
    pool = np.tile([True, False], 6)
    inputs = replace(inputs_of(2, 2), pool=pool)
    assert [[True, False]] * 6 == build(inputs).mask.tolist()


def test_an_empty_pool_gives_a_graph_without_nodes(inputs_of) -> None:
    inputs = inputs_of(1)
    graphs = build(replace(inputs, pool=np.zeros(inputs.view.n_rows, dtype=bool)))
    assert not graphs.mask.any()
    assert np.isfinite(graphs.features).all()
    assert not graphs.adjacency.any()


def test_adjacent_sentences_are_linked_both_ways(inputs_of) -> None:
    graphs = build(inputs_of(1), 8, nearest=0)
    sentence = graphs.sentence[0]
    expected = np.abs(sentence[:, None] - sentence[None]) == 1
    assert np.array_equal(expected, graphs.adjacency[0].astype(bool))


def test_semantic_edges_need_the_cosine(inputs_of) -> None:
    inputs = inputs_of(2)
    graphs = build(inputs, 8, adjacent=False, nearest=3, min_cosine=0.2)
    vectors = inputs.sentence_vectors[graphs.sentence[0]]
    cosine = vectors @ vectors.T
    linked = graphs.adjacency[0].astype(bool)
    assert linked.any()
    assert (cosine[linked] >= 0.2).all()
    assert np.array_equal(linked, linked.T)
    assert not linked.diagonal().any()


def test_all_edges_can_be_removed(inputs_of) -> None:
    assert not build(inputs_of(2), 8, adjacent=False, nearest=0).adjacency.any()


def test_features_say_how_a_score_stands(inputs_of) -> None:
    inputs = inputs_of(1)
    inputs = replace(inputs, scores={"dense": np.tile([4.0, 0, 0, 2, 0, 0, 1, 0], 3)})
    first = build(inputs, 3).features[0]
    raw, share, _, rank, before, after, above, below, best = first[:, :9].T
    assert [4, 2, 1] == raw.tolist()
    assert pytest.approx([1, 1 / 3, 0]) == share
    assert pytest.approx([0, 1 / 3, 2 / 3]) == rank
    assert [0, 2, 1] == before.tolist()
    assert [2, 1, 0] == after.tolist()
    assert [1, 0, 0] == above.tolist()
    assert [0, 0, 1] == below.tolist()
    assert [4, 4, 4] == best.tolist()
