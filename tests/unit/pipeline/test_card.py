"""The model card carries the figures of a run only where they are figures of this model's settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.pipeline.conftest import LINEAR

from probative import DataError, files
from probative.pipeline import Pipeline, PipelineSettings, card

RECORD = {
    "id": "ndcg@10", "scope": "pooled", "population": "positive", "mode": None, "value": 0.5, "n": 30,
    "ci_low": 0.4, "ci_high": 0.625, "default": True,
}  # fmt: skip
OTHERS = [
    {**RECORD, "stage": "retrieve", "value": 0.1},
    {**RECORD, "population": "all_queries", "value": 0.1, "default": False},
    {"id": "specificity", "scope": "pooled", "population": "all", "value": 0.25, "n": 9, "default": False},
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """What the card needs of a run folder."""
    folder = tmp_path / "first"
    folder.mkdir()
    files.write_json(folder / card.MASTER, {"metrics": [*OTHERS, RECORD]})
    manifest: dict[str, Any] = {
        "config": {**LINEAR.model_dump(mode="json"), "corpus": "somewhere", "evaluate": {"bootstrap": 5}},
        "corpus": {"name": "demo", "fingerprint": "f", "n_documents": 24},
        "folds": [{}] * 5,
        "files": {card.MASTER: files.sha256_file(folder / card.MASTER)},
    }
    files.write_json(folder / "manifest.json", manifest)
    return folder


def test_the_figures_of_a_run_with_these_settings_are_shown(run: Path, pipeline: Pipeline) -> None:
    found = card.evidence_of(run, LINEAR, "f")
    assert "Evaluated on the same corpus, by cross-validation over 5 folds, with these settings." == found.sentence
    text = card.write(pipeline.facts, (), found)
    assert "| ndcg@10 | 0.500 | 0.400 to 0.625 | 30 | positive |" in text
    assert "| specificity | 0.250 | – | 9 | all |" in text
    assert "0.100" not in text


def test_another_corpus_is_named(run: Path) -> None:
    assert "another corpus (demo, 24 documents)" in card.evidence_of(run, LINEAR, "g").sentence


def test_a_run_with_other_settings_proves_nothing(run: Path) -> None:
    found = card.evidence_of(run, PipelineSettings(seed=7), "f")
    assert "Not evaluated: first was made with other settings than this model." == found.sentence
    assert () == found.rows


def test_without_a_run_the_card_says_so(fitted: Path) -> None:
    text = (fitted / "README.md").read_text()
    assert "Not evaluated" in text
    assert "**Synthetic.**" in text
    assert "none was asked for; the thresholds are estimates" in text


def test_altered_figures_are_refused(run: Path) -> None:
    (run / card.MASTER).write_text((run / card.MASTER).read_text().replace("0.5", "0.9"))
    with pytest.raises(DataError, match="has changed since the run"):
        card.evidence_of(run, LINEAR, "f")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"config": {"unknown": 1}}'])
def test_what_is_no_finished_run_is_refused(run: Path, text: str) -> None:
    (run / "manifest.json").write_text(text)
    with pytest.raises(DataError, match="is not a finished run"):
        card.evidence_of(run, LINEAR, "f")


def test_a_guarantee_stands_on_the_card_in_words(pipeline: Pipeline) -> None:
    facts = json.loads(json.dumps(dict(pipeline.facts)))
    facts["decider"]["triage"]["guarantee"] = {"reason": "At most 0.5 % are missed."}
    text = card.write(facts, ("At most 0.5 % are missed.", "Something else."), card.NOT_EVALUATED)
    assert 1 == text.count("At most 0.5 % are missed.")
    assert "- Something else." in text
