"""One small fitted model for all tests of deployment."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from probative.data import Corpus
from probative.data.demo import demo_corpus
from probative.pipeline import Pipeline, PipelineSettings

LINEAR = PipelineSettings.model_validate({"rerank": {"kind": "linear"}, "graph": {"on": False}})


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    return demo_corpus(documents=24)


@pytest.fixture(scope="session")
def fitted(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model without trees and graph; not to be changed."""
    return Pipeline.fit(corpus, LINEAR).save(tmp_path_factory.mktemp("fitted") / "model")


@pytest.fixture(scope="session")
def pipeline(fitted: Path) -> Pipeline:
    return Pipeline.load(fitted)


@pytest.fixture
def model(fitted: Path, tmp_path: Path) -> Path:
    """A copy of the model folder, to be damaged."""
    return Path(shutil.copytree(fitted, tmp_path / "model"))
