"""The poisoning and deletion proofs hold for the real system and fail for a leaking one (synthetic corpus)."""

from __future__ import annotations

import polars as pl
import pytest

from probative.data import Corpus, folds
from probative.data.demo import demo_corpus
from probative.experiment import poison
from probative.experiment.settings import RunSettings, settle
from probative.types import Role

FAST = [
    "folds.n_folds=3", "rerank.lambdarank.rank_trees=3", "rerank.lambdarank.node_trees=3",
    "rerank.lambdarank.parts=2", "graph.learn.epochs=1", "graph.pool=6", "rerank.linear.iterations=3",
]  # fmt: skip


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return demo_corpus(documents=24)


@pytest.fixture(scope="module")
def settings() -> RunSettings:
    return settle(None, assignments=FAST).settings


@pytest.mark.parametrize("scheme", ["holdout", "crossfit"])
def test_no_stage_learns_from_eval(corpus: Corpus, settings: RunSettings, scheme: str) -> None:
    chosen = settings.folds.model_copy(update={"scheme": scheme, "inner_parts": 2})
    found = poison.check(corpus, settings.model_copy(update={"folds": chosen}))
    assert {"poisoning", "deletion"} == {f.property for f in found}
    assert {"retrieve", "linear", "rerank", "graph", "final", "decide"} <= {f.part for f in found}
    assert [] == [f for f in found if not f.held]


def test_a_document_on_two_sides_is_caught(
    corpus: Corpus, settings: RunSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = folds.roles

    def leaking(table: pl.DataFrame, fold: int) -> dict[Role, list[str]]:
        roles = right(table, fold)
        return {**roles, Role.TRAIN: sorted([*roles[Role.TRAIN], *roles[Role.EVAL][:4]])}

    monkeypatch.setattr("probative.pipeline.learn.folds.roles", leaking)
    found = poison.check(corpus, settings)
    caught = {f.part for f in found if not f.held}
    assert {"linear", "rerank", "retrieve"} <= caught


def test_poison_changes_gold_of_the_named_documents_only(corpus: Corpus) -> None:
    named = list(corpus.doc_ids[:6])
    made = poison.poisoned(corpus, named, seed=1)
    others = ~pl.col("doc_id").is_in(named)
    assert corpus.gold.filter(others).equals(made.gold.filter(others))
    assert not corpus.gold.filter(~others).equals(made.gold.filter(~others))
    assert corpus.sentences.equals(made.sentences)
