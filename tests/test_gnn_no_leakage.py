"""The sentence graph uses nothing that is derived from gold, and nothing of the documents it is measured on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from probative.graph import GraphModel, GraphSettings
from probative.graph.batches import Graphs, Sources, build_graphs
from probative.metrics import auroc
from probative.types import Inputs, Role, View

SETTINGS = GraphSettings.model_validate({"trunk": {"hidden": 16}, "learn": {"epochs": 2, "batch": 8}, "pool": 6})
SENTENCES, CRITERIA = 7, 3


def make_inputs(documents: int, seed: int, role: Role = Role.TRAIN) -> Inputs:
    """Random vectors and scores, and gold that has nothing to do with them."""
    rng = np.random.default_rng(seed)
    queries = documents * CRITERIA
    gold = rng.random(queries * SENTENCES) < 0.15
    view = View(
        role=role,
        doc_ids=tuple(f"{role}{i:03}" for i in range(documents)),
        doc_offsets=np.arange(documents + 1, dtype=np.int64) * SENTENCES,
        sent_uids=tuple(f"{role}{i}" for i in range(documents * SENTENCES)),
        texts=tuple(f"sentence {i}" for i in range(documents * SENTENCES)),
        criterion_ids=tuple(f"c{i}" for i in range(CRITERIA)),
        criterion_texts=tuple(f"criterion {i}" for i in range(CRITERIA)),
        query_doc=np.repeat(np.arange(documents, dtype=np.int64), CRITERIA),
        query_criterion=np.tile(np.arange(CRITERIA, dtype=np.int64), documents),
        gold=gold,
        has_evidence=gold.reshape(queries, SENTENCES).any(axis=1),
    )
    vectors = rng.normal(size=(documents * SENTENCES, 12))
    questions = np.random.default_rng(5).normal(size=(CRITERIA, 12))
    scores = {name: rng.normal(size=view.n_rows).astype(np.float32) for name in ("dense", "retrieve")}
    return Inputs(view=view, sentence_vectors=unit(vectors), criterion_vectors=unit(questions), scores=scores)


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def with_gold(inputs: Inputs, gold: np.ndarray | None) -> Inputs:
    if gold is None:
        return replace(inputs, view=inputs.view.blind())
    evidence = gold.reshape(inputs.view.n_queries, SENTENCES).any(axis=1)
    return replace(inputs, view=replace(inputs.view, gold=gold, has_evidence=evidence))


def arrays(graphs: Graphs) -> dict[str, np.ndarray]:
    return {name: np.asarray(getattr(graphs, name)) for name in Graphs.__dataclass_fields__}


@pytest.fixture(scope="module")
def model() -> GraphModel:
    return GraphModel(SETTINGS).fit(make_inputs(20, 1), make_inputs(4, 2, Role.STOP))


@pytest.mark.parametrize("change", ["blind", "inverted"])
def test_nodes_features_and_edges_are_the_same_whatever_the_gold(change: str) -> None:
    inputs = make_inputs(5, 3)
    assert inputs.view.gold is not None
    other = with_gold(inputs, None if change == "blind" else ~inputs.view.gold)
    sources = Sources.of(inputs)
    left, right = (arrays(build_graphs(i, 6, SETTINGS.edges, sources)) for i in (inputs, other))
    assert all(np.array_equal(left[name], right[name]) for name in left)


def test_no_single_node_feature_knows_gold_that_is_pure_noise() -> None:
    inputs = make_inputs(60, 4)
    graphs = build_graphs(inputs, SENTENCES, SETTINGS.edges, Sources.of(inputs))
    assert inputs.view.gold is not None
    labels = inputs.view.gold[graphs.rows[graphs.mask]]
    areas = [auroc(labels, graphs.features[..., i][graphs.mask]) for i in range(graphs.features.shape[-1])]
    assert max(max(a, 1 - a) for a in areas) < 0.6


def test_a_feature_made_from_gold_would_be_noticed() -> None:
    inputs = make_inputs(60, 4)
    assert inputs.view.gold is not None
    leaking = inputs.with_scores(dense=inputs.scores["dense"] + 9 * inputs.view.gold)
    graphs = build_graphs(leaking, SENTENCES, SETTINGS.edges, Sources.of(leaking))
    labels = inputs.view.gold[graphs.rows[graphs.mask]]
    areas = [auroc(labels, graphs.features[..., i][graphs.mask]) for i in range(graphs.features.shape[-1])]
    assert max(max(a, 1 - a) for a in areas) > 0.995


def test_scores_of_eval_keep_their_bytes_when_its_gold_is_poisoned(model: GraphModel) -> None:
    held = make_inputs(6, 7, Role.EVAL)
    noise = np.random.default_rng(8).random(held.view.n_rows) < 0.5
    kept = [model.score(with_gold(held, gold)) for gold in (held.view.gold, noise, None)]
    for name in ("rank", "node", "gate"):
        first, *others = (np.asarray(getattr(scores, name)).tobytes() for scores in kept)
        assert others == [first, first]


def test_a_document_is_scored_the_same_alone_and_among_others(model: GraphModel) -> None:
    held = make_inputs(6, 9, Role.EVAL)
    together, alone = model.score(held), model.score(held.take(np.array([2])))
    rows = slice(int(held.view.offsets[2 * CRITERIA]), int(held.view.offsets[3 * CRITERIA]))
    assert np.allclose(together.node[rows], alone.node, atol=1e-5)
    assert np.allclose(together.gate[2 * CRITERIA : 3 * CRITERIA], alone.gate, atol=1e-5)


def test_gold_of_train_is_what_the_model_learns_from() -> None:
    """The other side of the same coin: were TRAIN's gold not read either, the tests above would say nothing."""
    train, stop, held = make_inputs(20, 1), make_inputs(4, 2, Role.STOP), make_inputs(4, 7, Role.EVAL)
    assert train.view.gold is not None
    other = with_gold(train, ~train.view.gold)
    scores = [GraphModel(SETTINGS).fit(fitted, stop).score(held).gate for fitted in (train, train, other)]
    assert np.array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])
