"""Splits, roles and thresholds on the clinical demo corpus: nobody is on two sides, and EVAL stays behind its door."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import yaml

from probative.audit import leakage
from probative.audit.roles import Folds, disjoint
from probative.audit.source import Source
from probative.data import Corpus, folds
from probative.data.demo import demo_corpus
from probative.data.folds import FoldSettings
from probative.types import Role


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return demo_corpus(documents=40)


@pytest.fixture(scope="module", params=["holdout", "crossfit"])
def table(request: pytest.FixtureRequest, corpus: Corpus) -> pl.DataFrame:
    return folds.make_folds(corpus, FoldSettings(n_folds=4, scheme=request.param, inner_parts=3), seed=3)


def source(folder: Path) -> Source:
    return Source(root=folder, per_query=None, is_folder=True)


def test_no_post_is_on_two_sides_of_a_split(table: pl.DataFrame, tmp_path: Path) -> None:
    table.write_parquet(tmp_path / "folds.parquet")
    found = disjoint(source(tmp_path), Folds.read(source(tmp_path)))
    assert "passed" == found.status, found.why


def test_a_post_on_two_sides_is_noticed(table: pl.DataFrame, tmp_path: Path) -> None:
    held = table.filter(pl.col("role") == "eval").head(1).with_columns(role=pl.lit("train"))
    pl.concat([table, held]).write_parquet(tmp_path / "folds.parquet")
    found = disjoint(source(tmp_path), Folds.read(source(tmp_path)))
    assert found.failed
    assert repr(held["doc_id"].item()) in found.why


def test_a_view_of_train_holds_no_sentence_and_no_gold_of_eval(corpus: Corpus, table: pl.DataFrame) -> None:
    for fold in range(4):
        roles = folds.roles(table, fold)
        train = corpus.view(roles[Role.TRAIN], Role.TRAIN, gold=True)
        held = corpus.view(roles[Role.EVAL], Role.EVAL, gold=False)
        assert not set(train.sent_uids) & set(held.sent_uids)
        assert not set(train.doc_ids) & set(held.doc_ids)
        assert (held.gold, held.rejected, held.has_evidence) == (None, None, None)


def test_criteria_kept_out_of_training_are_in_no_role_that_learns_or_chooses(
    corpus: Corpus, table: pl.DataFrame
) -> None:
    kept_out = corpus.meta.exclude_from_training
    assert ("A.10",) == tuple(kept_out)
    for role in (Role.TRAIN, Role.STOP, Role.TUNE):
        ids = folds.roles(table, 0)[role]
        if ids:
            assert "A.10" not in corpus.view(ids, role, gold=True, exclude=kept_out).criterion_ids


def test_the_demo_corpus_shows_no_leak_of_its_own(corpus: Corpus, tmp_path: Path) -> None:
    corpus.write(tmp_path / "corpus")
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({"corpus": str(tmp_path / "corpus")}))
    found = leakage(config, quick=True)
    assert [] == found["failed"], found["checks"]


def test_a_post_that_was_entered_twice_is_noticed(corpus: Corpus, tmp_path: Path) -> None:
    corpus.write(tmp_path / "corpus")
    path = tmp_path / "corpus" / "sentences.parquet"
    sentences = pl.read_parquet(path)
    first = sentences["doc_id"][0]
    copy = sentences.filter(pl.col("doc_id") == first)
    copy = copy.with_columns(doc_id=pl.lit("again"), sent_uid=pl.lit("again-") + pl.col("sent_uid"))
    pl.concat([sentences, copy]).write_parquet(path)
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({"corpus": str(tmp_path / "corpus")}))
    assert "LK001" in leakage(config, quick=True)["failed"]
