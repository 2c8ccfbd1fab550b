"""A fitted system: loading refuses what does not fit together, and odd documents have a defined answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import load_file, save_file
from tests.unit.pipeline.conftest import LINEAR

from probative import ConfigError, DataError, ModelError
from probative.data import Corpus
from probative.pipeline import NewDocument, Pipeline, PipelineSettings, model_folder
from probative.pipeline.answer import SILENT, UNFAMILIAR
from probative.pipeline.screen import screen
from probative.types import State, Vectors

Change = Callable[[dict[str, Any]], Any]


class Flat:
    """An encoder that costs nothing: every text has the same vector."""

    name = identity = "flat"
    exact = True

    def __init__(self) -> None:
        self.texts = 0

    def encode(self, texts: Any, kind: str = "sentence") -> Vectors:
        self.texts += len(texts)
        return np.full((len(texts), 384), 384**-0.5, dtype=np.float32)


@pytest.fixture
def flat(fitted: Path) -> Pipeline:
    pipeline = Pipeline.load(fitted)
    pipeline._encoder = Flat()
    return pipeline


def reseal(folder: Path, change: Change) -> None:
    facts = json.loads((folder / model_folder.FACTS).read_text())
    del facts["files"]
    change(facts)
    model_folder.seal(folder, facts)


def test_a_loaded_model_decides_as_the_fitted_one(corpus: Corpus, pipeline: Pipeline) -> None:
    texts = {"a": "I have not slept for weeks. The bus was late.", "b": "Everything is fine."}
    assert pipeline.predict(texts) == Pipeline.fit(corpus, LINEAR).predict(texts)


def test_evidence_says_where_it_stands_in_the_text(pipeline: Pipeline) -> None:
    text = "  Schön.\r\nI have not slept for weeks!  The bus was late. "
    decisions = pipeline.predict({"a": text})
    assert [c for c, _ in pipeline.criteria] == [d.criterion_id for d in decisions]
    shown = [item for decision in decisions for item in decision.evidence]
    assert shown
    assert all(text[item.start : item.end] == item.text for item in shown)


def test_a_model_is_never_overwritten(pipeline: Pipeline, model: Path) -> None:
    with pytest.raises(ConfigError, match="never overwritten"):
        pipeline.save(model)


@pytest.mark.parametrize(
    "change",
    [
        lambda f: f.pop("settings"),
        lambda f: f["settings"].update(unknown=1),
        lambda f: f["settings"].update(encode="embedded"),
        lambda f: f.update(stages=["retrieve"]),
        lambda f: f.update(stages=3),
        lambda f: f.update(width=7),
        lambda f: f.update(criteria=[{"criterion_id": "q"}]),
        lambda f: f.update(criteria="q"),
        lambda f: f.update(profile={}),
        lambda f: f["profile"].update(cuts=["a"] * 5),
        lambda f: f.update(corpus=None),
        lambda f: f["tune"].pop("n_queries"),
        lambda f: f.update(decider=[]),
        lambda f: f["decider"].pop("triage"),
        lambda f: f["decider"]["triage"].update(tau_neg="low"),
        lambda f: f["decider"]["triage"].update(tau_neg=0.9, tau_pos=0.1),
        lambda f: f["decider"]["calibrator"].update(kind="magic"),
        lambda f: f["decider"]["operating"].update(value="high"),
        lambda f: f["decider"]["policy"].update(kind="magic"),
    ],
)
def test_an_altered_description_is_a_model_error_though_its_hashes_agree(model: Path, change: Change) -> None:
    reseal(model, change)
    with pytest.raises(ModelError, match="model"):
        Pipeline.load(model)


@pytest.mark.parametrize("name", ["linear/linear.json", "retrieve/retrieve.json"])
@pytest.mark.parametrize("text", ["", "[]", "{}", '{"settings": 3}', "\x00"])
def test_an_altered_stage_is_a_model_error_though_its_hashes_agree(model: Path, name: str, text: str) -> None:
    (model / "stages" / name).write_text(text)
    reseal(model, lambda facts: None)
    with pytest.raises(ModelError, match="model"):
        Pipeline.load(model)


@pytest.mark.parametrize("alter", ["cut", "shorter", "nan", "missing"])
def test_altered_weights_are_a_model_error_though_their_hashes_agree(model: Path, alter: str) -> None:
    path = model / "stages" / "linear" / "linear.safetensors"
    arrays = load_file(path)
    if alter == "shorter":
        arrays["shared.theta"] = arrays["shared.theta"][:-5].copy()
    elif alter == "nan":
        arrays["shared.theta"] = np.full_like(arrays["shared.theta"], np.nan)
    elif alter == "missing":
        del arrays["own.theta"]
    save_file(arrays, path)
    if alter == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    reseal(model, lambda facts: None)
    with pytest.raises(ModelError, match="model"):
        Pipeline.load(model)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model": "http:http://elsewhere:8000"}, "sends every sentence to http://elsewhere:8000"),
        ({"model": "hub:some/model", "trust_remote_code": True}, "runs code that comes with hub:some/model"),
    ],
)
def test_a_model_that_reaches_beyond_its_folder_is_opened_only_when_that_is_meant(
    model: Path, settings: dict[str, Any], said: str
) -> None:
    reseal(model, lambda facts: facts["settings"]["encode"].update(settings))
    with pytest.raises(ModelError, match=said):
        Pipeline.load(model)
    assert Pipeline.load(model, trust=True).settings.encode.model == settings["model"]


def test_a_guarantee_by_several_models_is_refused_before_anything_is_learned() -> None:
    with pytest.raises(ConfigError, match="holdout"):
        PipelineSettings.model_validate(
            {"folds": {"scheme": "crossfit"}, "decide": {"triage": {"method": "guaranteed"}}}
        )


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b \u00a0"[2:]])
def test_a_document_without_a_sentence_is_negative_and_says_why(pipeline: Pipeline, text: str) -> None:
    decisions = pipeline.predict({"empty": text})
    assert len(pipeline.criteria) == len(decisions)
    assert {(State.NEG, 0.0, SILENT, ())} == {(d.state, d.probability, d.note, d.evidence) for d in decisions}


@pytest.mark.parametrize(
    "text",
    [
        "One sentence.",
        "word",
        "1.",
        "...",
        "لم أنم منذ أسابيع. كل شيء على ما يرام.",
        "我已经好几个星期没睡了。公交车晚点了！",
        "ฉันนอนไม่หลับมาหลายสัปดาห์แล้ว รถเมล์มาสาย",
        "😀😀 👩‍👩‍👧‍👦 🇨🇭!",
        "a\x00b\x07c\x1b[31m. Two\u2028three.\u202e four",
        "e\u0301" * 50,
    ],
    ids=["one", "word", "number", "dots", "arabic", "chinese", "thai", "emoji", "control", "combining"],
)
def test_any_script_has_an_answer_with_true_offsets(pipeline: Pipeline, text: str) -> None:
    decisions = pipeline.predict({"a": text})
    assert len(pipeline.criteria) == len(decisions)
    assert all(0 < decision.probability < 1 and decision.note != SILENT for decision in decisions)
    assert all(text[e.start : e.end] == e.text for decision in decisions for e in decision.evidence)


def test_a_sentence_of_a_megabyte_is_read_to_its_limit(pipeline: Pipeline) -> None:
    text = "no end in sight " * 65_536
    assert len(pipeline.criteria) == len(pipeline.predict({"a": text}))


def test_ten_thousand_sentences_are_one_document(flat: Pipeline) -> None:
    text = " ".join(f"Sentence number {n} is here." for n in range(10_000))
    decisions = flat.predict({"a": text})
    assert {True} == {len(decision.evidence) <= 12 for decision in decisions}
    assert 10_000 + len(flat.criteria) == flat._encoder.texts  # type: ignore[union-attr]


def test_a_text_is_encoded_once_however_often_it_stands_there(flat: Pipeline) -> None:
    flat.predict({f"d{n}": "Yours sincerely. Yours sincerely." for n in range(5)})
    flat.predict({"again": "Yours sincerely."})
    assert 1 + len(flat.criteria) + 1 == flat._encoder.texts  # type: ignore[union-attr]


def test_neighbours_in_a_batch_change_nothing_that_matters(pipeline: Pipeline) -> None:
    texts = {"a": "I have not slept for weeks. The bus was late.", "b": "", "c": "All is well. " * 30}
    alone = [decision for doc_id, text in texts.items() for decision in pipeline.predict({doc_id: text})]
    together = pipeline.predict(texts)
    assert [(d.doc_id, d.criterion_id, d.state) for d in alone] == [
        (d.doc_id, d.criterion_id, d.state) for d in together
    ]
    assert [d.probability for d in alone] == pytest.approx([d.probability for d in together], abs=1e-5)


def test_two_documents_of_one_id_are_refused(pipeline: Pipeline) -> None:
    with pytest.raises(DataError, match="same doc_id"):
        pipeline.predict([NewDocument(doc_id="a", text="One."), NewDocument(doc_id="a", text="Two.")])


def test_a_question_that_training_never_saw_is_answered_with_a_note(pipeline: Pipeline) -> None:
    new = NewDocument(doc_id="a", text="I have not slept.", criteria=(("own", "Does the person keep a horse?"),))
    (decision,) = pipeline.predict([new])
    assert decision.note == UNFAMILIAR
    left_out = pipeline.facts["corpus"]["exclude_from_training"]
    notes = {d.criterion_id: d.note for d in pipeline.predict({"a": "I have not slept."})}
    assert set(left_out) == {criterion_id for criterion_id, note in notes.items() if note == UNFAMILIAR}


def test_what_is_unlike_training_by_its_question_does_not_count_as_drift(pipeline: Pipeline) -> None:
    answer = pipeline.answer([NewDocument(doc_id="a", text="I have not slept.")])
    trained = len(pipeline.criteria) - len(pipeline.facts["corpus"]["exclude_from_training"])
    assert (trained, trained, trained) == (len(answer.gate), len(answer.states), len(answer.doc))


@pytest.fixture(scope="module")
def once(corpus: Corpus) -> Pipeline:
    """A model of a corpus in which every document has one question of its own."""
    first = corpus.pairs.sort("doc_id", "has_evidence", descending=[False, True]).group_by(
        "doc_id", maintain_order=True
    )
    pairs = first.first().with_columns(own=pl.concat_str("doc_id", pl.lit("?")))
    questions = pairs.join(corpus.criteria, on="criterion_id")
    criteria = questions.select(
        criterion_id="own", text=pl.concat_str("text", pl.lit(" "), "doc_id"), name="name"
    ).sort("criterion_id")
    renamed = pairs.select("doc_id", "criterion_id", "own")

    def own(marks: pl.DataFrame) -> pl.DataFrame:
        return marks.join(renamed, on=["doc_id", "criterion_id"]).select(
            "doc_id", criterion_id="own", sent_uid="sent_uid"
        )

    corpus = Corpus(
        meta=replace(corpus.meta, exclude_from_training=()),
        documents=corpus.documents,
        sentences=corpus.sentences,
        criteria=criteria,
        gold=own(corpus.gold),
        rejected=own(corpus.rejected),
        pairs=pairs.select("doc_id", criterion_id="own", has_evidence="has_evidence").sort("doc_id", "criterion_id"),
    )
    return Pipeline.fit(corpus, LINEAR)


def test_where_every_document_had_its_own_question_new_ones_bring_theirs(once: Pipeline, tmp_path: Path) -> None:
    assert [] == once.criteria
    rows = [
        {"doc_id": "a", "text": "I have not slept.", "criteria": [{"criterion_id": "q", "text": "Sleeps badly?"}]},
        {"doc_id": "b", "text": "No question here."},
    ]
    (tmp_path / "new.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    done = screen(once, tmp_path / "new.jsonl", tmp_path / "out")
    decision = json.loads((tmp_path / "out" / "decisions.jsonl").read_text())
    assert ("a", "q", None) == (decision["doc_id"], decision["criterion_id"], decision["note"])
    assert 1 == done.rejected
    assert "must bring its own" in (tmp_path / "out" / "rejects.jsonl").read_text()
    with pytest.raises(DataError, match="must bring its own"):
        once.predict({"b": "No question here."})
