"""The graph stage learns from gold, keeps its seed's promise, and is defined at every edge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from probative import ConfigError, DataError, ModelError
from probative.graph import GraphModel, GraphSettings
from probative.types import Inputs, Role

SMALL = {"trunk": {"hidden": 16}, "learn": {"epochs": 3, "batch": 8, "rate": 0.01}, "pool": 5}
SETTINGS = GraphSettings.model_validate(SMALL)
REFERENCE = GraphSettings.model_validate(
    {
        **SMALL,
        "together": False,
        "rank": {"loss": "pairwise"},
        "node": {"margin_weight": 0.5},
        "gate": {"focal": 2.0, "criterion_embedding": 4},
        "node_trunk": {"layer": "gat", "layers": 3, "hidden": 16},
        "gate_trunk": {"layer": "gat", "layers": 3, "hidden": 16},
    }
)


def hit_rate(rank, inputs: Inputs) -> float:
    view = inputs.view
    bounds = zip(view.offsets[:-1][view.located], view.offsets[1:][view.located], strict=True)
    return float(np.mean([view.gold[a + int(np.argmax(rank[a:b]))] for a, b in bounds]))


@pytest.fixture(scope="module", params=[SETTINGS, REFERENCE], ids=["together", "reference"])
def fitted(request: pytest.FixtureRequest, inputs_of) -> GraphModel:
    stop = inputs_of(8, seed=3)
    return GraphModel(request.param).fit(inputs_of(40), replace(stop, view=replace(stop.view, role=Role.STOP)))


def test_evidence_rises(inputs_of, fitted: GraphModel) -> None:
    unseen = inputs_of(20, seed=9)
    scores = fitted.score(unseen)
    gold, evidence = unseen.view.gold, unseen.view.has_evidence
    assert hit_rate(scores.rank, unseen) >= hit_rate(unseen.scores["dense"], unseen)
    assert scores.node[gold].mean() > scores.node[~gold].mean()
    assert scores.gate[evidence].mean() > scores.gate[~evidence].mean()
    assert 1 <= fitted.epochs_ <= 3


def test_candidates_outside_the_graph_stand_below_in_the_earlier_order(inputs_of, fitted: GraphModel) -> None:
    unseen = inputs_of(3, seed=9)
    rank = fitted.score(unseen).rank
    for start, end in zip(unseen.view.offsets, unseen.view.offsets[1:], strict=False):
        earlier = np.argsort(-unseen.scores["dense"][start:end], kind="stable")
        assert earlier[5:].tolist() == np.argsort(-rank[start:end], kind="stable")[5:].tolist()


def test_gold_of_the_scored_view_is_never_read(inputs_of, fitted: GraphModel) -> None:
    unseen = inputs_of(4, seed=9)
    blind = replace(unseen, view=unseen.view.blind())
    assert np.array_equal(fitted.score(unseen).gate, fitted.score(blind).gate)


def test_a_saved_model_scores_the_same(tmp_path: Path, inputs_of, fitted: GraphModel) -> None:
    fitted.save(tmp_path)
    unseen = inputs_of(4, seed=9)
    before, after = fitted.score(unseen), GraphModel.load(tmp_path).score(unseen)
    for name in ("rank", "node", "gate"):
        assert np.array_equal(getattr(before, name), getattr(after, name))


def test_unknown_criteria_are_scored_by_their_text(inputs_of, fitted: GraphModel) -> None:
    assert np.isfinite(fitted.score(inputs_of(4, once=True)).gate).all()


def test_an_empty_pool_keeps_the_earlier_order_and_closes_the_gate(inputs_of, fitted: GraphModel) -> None:
    unseen = inputs_of(2, seed=9)
    scores = fitted.score(replace(unseen, pool=np.zeros(unseen.view.n_rows, dtype=bool)))
    assert [-20.0] * 6 == scores.gate.tolist()
    assert np.argsort(-unseen.scores["dense"][:8]).tolist() == np.argsort(-scores.rank[:8]).tolist()


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, inputs_of) -> None:
    for name, seed in (("one", 5), ("two", 5), ("three", 6)):
        GraphModel(SETTINGS, seed=seed, epochs=1).fit(inputs_of(10)).save(tmp_path / name)
    one, two, three = ((tmp_path / n / "graph.safetensors").read_bytes() for n in ("one", "two", "three"))
    assert one == two
    assert one != three


def test_without_stop_the_given_epochs_are_run(inputs_of) -> None:
    assert GraphModel(SETTINGS, epochs=2).fit(inputs_of(10)).epochs_ == 2


@pytest.mark.parametrize(("head", "score"), [("node", "node"), ("gate", "gate")])
def test_a_head_that_is_off_says_nothing(inputs_of, head: str, score: str) -> None:
    settings = GraphSettings.model_validate({**SMALL, head: {"on": False}})
    assert getattr(GraphModel(settings, epochs=1).fit(inputs_of(10)).score(inputs_of(2)), score) is None


def test_without_a_rank_head_the_earlier_order_or_the_nodes_rank(inputs_of) -> None:
    settings = GraphSettings.model_validate({**SMALL, "rank": {"on": False}})
    scores = GraphModel(settings, epochs=1).fit(inputs_of(10)).score(inputs_of(2))
    assert np.array_equal(scores.node, scores.rank)


def test_scores_that_were_there_when_it_learned_are_asked_for(inputs_of) -> None:
    model = GraphModel(SETTINGS, epochs=1).fit(inputs_of(10))
    with pytest.raises(ConfigError, match="retrieve"):
        model.score(replace(inputs_of(2), scores={"dense": inputs_of(2).scores["dense"]}))


def test_nothing_to_learn_is_said(inputs_of) -> None:
    inputs = inputs_of(4)
    with pytest.raises(DataError, match="nothing to learn"):
        GraphModel(SETTINGS).fit(replace(inputs, view=inputs.view.blind()))


@pytest.mark.parametrize(("documents", "sentences"), [(1, 8), (20, 1)])
def test_one_document_and_one_sentence_documents_are_enough(inputs_of, documents: int, sentences: int) -> None:
    inputs = inputs_of(documents, sentences, 6)
    scores = GraphModel(SETTINGS, epochs=1).fit(inputs).score(inputs)
    assert np.isfinite(scores.rank).all()
    assert np.isfinite(scores.gate).all()


def test_a_very_long_document_is_scored(inputs_of) -> None:
    model = GraphModel(SETTINGS, epochs=1).fit(inputs_of(10))
    assert len(model.score(inputs_of(1, 10_000, 1)).rank) == 10_000


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        GraphModel.load(tmp_path)
