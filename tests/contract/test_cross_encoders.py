"""Rerankers that read criterion and sentence together: from a folder, a server, or a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from probative.encode import ServerSettings
from probative.encode.server import Server
from probative.encode.settings import base_url
from probative.errors import ConfigError, DataError, ModelError
from probative.rerank.cross import CrossEncoderReranker, CrossSettings, HttpCross
from probative.types import Inputs, View

TEXTS = ["the fee is due", "law of the term", "the party may end the term", "fee", "the fee is due"]
CRITERIA = ["when is the fee due", "the law"]


@pytest.fixture
def inputs(viewing: Callable[..., View]) -> Inputs:
    view = viewing(TEXTS, CRITERIA)
    empty = np.empty((len(TEXTS), 0), dtype=np.float32), np.empty((2, 0), dtype=np.float32)
    retrieve = np.array([5, 4, 1, 3, 2, 1, 5, 2, 3, 4], dtype=np.float32)
    return Inputs(
        view=view,
        sentence_vectors=empty[0],
        criterion_vectors=empty[1],
        scores={"retrieve": retrieve},
        pool=np.array([1, 1, 0, 1, 0, 0, 1, 0, 0, 1], dtype=bool),
    )


@pytest.fixture(autouse=True)
def cold_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBATIVE_CACHE", str(tmp_path / "cache"))


class Length:
    """Scores a pair by its length, and remembers the pairs."""

    identity = "l" * 64

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def __call__(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        self.asked.extend(pairs)
        return np.array([len(criterion) + len(sentence) for criterion, sentence in pairs], dtype=np.float64)


def reranker(scorer: object = None, **settings: object) -> CrossEncoderReranker:
    chosen = CrossSettings.model_validate({"model": "hub:fake", **settings})
    return CrossEncoderReranker(chosen, scorer)  # type: ignore[arg-type]


def test_the_pool_is_scored_and_the_rest_stands_behind_it_in_the_retrievers_order(inputs: Inputs) -> None:
    scores = reranker(Length()).score(inputs)
    assert np.argsort(-scores.rank[:5], kind="stable").tolist() == [1, 0, 3, 4, 2]
    assert scores.node is not None
    assert scores.node[:5].tolist() == [33, 34, 22, 22, 22]


def test_only_pairs_of_the_pool_are_scored_and_each_once(inputs: Inputs) -> None:
    scorer = Length()
    reranker(scorer).score(inputs)
    assert len(scorer.asked) == 5
    everything = reranker(scorer).score(replace(inputs, pool=None))
    assert len(scorer.asked) == len(set(scorer.asked)) == 8
    assert everything.rank[0] == everything.rank[4]


def test_a_query_without_pool_keeps_the_retrievers_order(inputs: Inputs) -> None:
    scores = reranker(Length()).score(replace(inputs, pool=np.zeros(10, dtype=bool)))
    assert np.argsort(-scores.rank[:5]).tolist() == [0, 1, 3, 4, 2]


def test_nothing_is_learned_and_the_choice_survives_a_folder(tmp_path: Path, inputs: Inputs) -> None:
    chosen = reranker(max_tokens=99).fit(inputs)
    chosen.save(tmp_path)
    assert CrossEncoderReranker.load(tmp_path).settings == chosen.settings


def test_a_hub_model_gives_raw_logits_that_do_not_depend_on_the_pool(
    tiny_cross_encoder: Path, inputs: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cross = reranker(model=f"hub:{tiny_cross_encoder}")
    few = cross.score(inputs).rank
    monkeypatch.setenv("PROBATIVE_CACHE", str(tmp_path / "another"))
    many = cross.score(replace(inputs, pool=None)).rank
    assert inputs.pool is not None
    assert few[inputs.pool].tobytes() == many[inputs.pool].tobytes()
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_cross_encoder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(tiny_cross_encoder).eval()
    expected = model(**tokenizer(CRITERIA[0], TEXTS[0], return_tensors="pt")).logits.item()
    assert few[0] == pytest.approx(expected, abs=1e-5)


def test_a_servers_probabilities_become_log_odds(model_server: str) -> None:
    settings = CrossSettings(model=model_server, probabilities=True)
    near_one = HttpCross(settings)([("a", "a"), ("a", "b")])
    np.testing.assert_allclose([np.log(1e6 - 1), -np.log(1e6 - 1)], near_one)


def test_scores_above_one_are_no_probabilities(model_server: str) -> None:
    with pytest.raises(ModelError, match="probabilities: false"):
        HttpCross(CrossSettings(model=model_server))([("the fee", "the fee")])


def test_a_server_is_asked_criterion_by_criterion_in_batches(model_server: str, inputs: Inputs) -> None:
    settings = CrossSettings(model=model_server, probabilities=False, server=ServerSettings(batch_size=2))
    scores = CrossEncoderReranker(settings).score(replace(inputs, pool=None)).rank
    expected = [len(set(c.split()) & set(s.split())) for c in CRITERIA for s in TEXTS]
    assert scores.tolist() == expected


def test_an_overloaded_server_is_asked_again(model_server: str) -> None:
    settings = CrossSettings(model=f"{model_server}/flaky-scores", probabilities=False)
    server = Server(base_url(settings.model), settings.server, sleep=lambda _: None)
    assert HttpCross(settings, server)([("a b", "a b")]).tolist() == [2.0]


def table(folder: Path, inputs: Inputs, drop: int = 0) -> str:
    view = inputs.view
    rows = [(c, s, float(i)) for i, (c, s) in enumerate((c, s) for c in view.criterion_ids for s in view.sent_uids)]
    frame = pl.DataFrame(rows[drop:], schema=["criterion_id", "sent_uid", "score"], orient="row")
    frame.sample(fraction=1, shuffle=True, seed=1).write_parquet(folder / "scores.parquet")
    return f"precomputed:{folder}"


def test_a_table_of_scores_is_joined_by_id(tmp_path: Path, inputs: Inputs) -> None:
    scores = reranker(model=table(tmp_path, inputs)).score(replace(inputs, pool=None)).rank
    assert scores.tolist() == list(range(10))


def test_a_table_that_lacks_a_pair_of_the_pool_is_refused(tmp_path: Path, inputs: Inputs) -> None:
    with pytest.raises(DataError, match="lacks 1 of 5 pairs of the pool"):
        reranker(model=table(tmp_path, inputs, drop=1)).score(inputs)


def test_a_table_without_scores_says_what_it_needs(tmp_path: Path, inputs: Inputs) -> None:
    with pytest.raises(DataError, match="needs the columns criterion_id, sent_uid and score"):
        reranker(model=f"precomputed:{tmp_path}").score(inputs)


def test_no_model_is_no_default() -> None:
    with pytest.raises(ConfigError, match=r"rerank\.cross\.model"):
        CrossEncoderReranker(CrossSettings())
