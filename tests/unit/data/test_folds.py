"""Folds: contract §1's roles, §11's sizes, and what must never stand on two sides."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl
import pytest

from probative.data.folds import FoldSettings, make_deployment, make_folds, parts, roles
from probative.data.near import find_near_duplicates
from probative.errors import ConfigError, DataError
from probative.settings import Layer, resolve
from probative.types import Role

PINNED = [
    ["d00001", "d00004", "d00006", "d00011"],
    ["d00002", "d00005", "d00007", "d00008"],
    ["d00000", "d00003", "d00009", "d00010"],
]


@dataclass
class Fake:
    """A corpus as far as folds look at it."""

    documents: pl.DataFrame
    sentences: pl.DataFrame = field(default_factory=pl.DataFrame)
    pairs: pl.DataFrame = field(default_factory=pl.DataFrame)


def corpus(n: int, **columns: list[object]) -> Fake:
    return Fake(documents=pl.DataFrame({"doc_id": [f"d{i:05d}" for i in range(n)], **columns}))


def counts(folds: pl.DataFrame, fold: int) -> dict[str, int]:
    return {role.value: len(ids) for role, ids in roles(folds, fold).items()}


def test_the_reference_corpus_gets_the_fold_sizes_of_the_contract():
    folds = make_folds(corpus(1477), FoldSettings(), 42)
    assert [counts(folds, fold)["eval"] for fold in range(5)] == [295, 295, 295, 295, 297]


def test_holdout_gives_seventy_percent_to_train_with_a_tenth_of_it_to_stop():
    folds = make_folds(corpus(1000), FoldSettings(), 1)
    assert counts(folds, 0) == {"train": 504, "stop": 56, "tune": 240, "eval": 200}


def test_every_document_has_one_role_in_every_fold():
    folds = make_folds(corpus(103), FoldSettings(), 3)
    assert folds.group_by("fold").agg(pl.col("doc_id").n_unique()).sort("fold")["doc_id"].to_list() == [103] * 5
    assert folds.height == 5 * 103


def test_every_document_is_predicted_exactly_once():
    folds = make_folds(corpus(103), FoldSettings(), 3)
    assert [f"d{i:05d}" for i in range(103)] == sorted(folds.filter(pl.col("role") == "eval")["doc_id"])


def test_crossfit_trains_on_every_other_document_in_inner_parts():
    folds = make_folds(corpus(1000), FoldSettings(scheme="crossfit", inner_parts=4), 1)
    assert counts(folds, 2) == {"train": 800, "stop": 0, "tune": 0, "eval": 200}
    assert [len(ids) for ids in parts(folds, 2)] == [200, 200, 200, 200]
    assert roles(folds, 2)[Role.TRAIN] == sorted(doc_id for ids in parts(folds, 2) for doc_id in ids)


def test_holdout_has_no_inner_parts():
    assert parts(make_folds(corpus(50), FoldSettings(), 1), 0) == []


def test_a_single_split_has_one_fold_with_those_shares():
    folds = make_folds(corpus(1000), FoldSettings(split="80/10/10"), 1)
    assert folds["fold"].unique().to_list() == [0]
    assert counts(folds, 0) == {"train": 720, "stop": 80, "tune": 100, "eval": 100}


def test_the_table_has_fixed_columns_and_order():
    folds = make_folds(corpus(40), FoldSettings(), 1)
    assert {"doc_id": pl.String, "fold": pl.Int64, "role": pl.String, "part": pl.Int64} == dict(folds.schema)
    assert folds.equals(folds.sort("fold", "doc_id"))


def test_the_order_of_the_documents_changes_nothing():
    straight = corpus(200)
    assert make_folds(straight, FoldSettings(), 1).equals(
        make_folds(Fake(documents=straight.documents.reverse()), FoldSettings(), 1)
    )


def test_the_same_seed_gives_the_same_folds_for_good():
    folds = make_folds(corpus(12), FoldSettings(n_folds=3), 42)
    assert [roles(folds, fold)[Role.EVAL] for fold in range(3)] == PINNED


def test_another_seed_gives_other_folds():
    assert not make_folds(corpus(200), FoldSettings(), 1).equals(make_folds(corpus(200), FoldSettings(), 2))


def test_inner_roles_are_drawn_anew_in_every_fold():
    folds = make_folds(corpus(200), FoldSettings(), 1)
    both = set(roles(folds, 0)[Role.TUNE]) & set(roles(folds, 1)[Role.TUNE])
    assert 0 < len(both) < 40


@pytest.mark.parametrize("scheme", ["holdout", "crossfit"])
@pytest.mark.parametrize("method", ["contract", "balanced"])
def test_no_group_stands_on_two_sides(scheme, method):
    fake = corpus(120, patient=[f"p{i % 23}" for i in range(120)])
    fake.pairs = positives({f"d{i:05d}": ["A"] for i in range(0, 120, 7)})
    folds = make_folds(fake, FoldSettings(scheme=scheme, method=method, group_by="patient"), 5)
    sides = (
        folds.join(fake.documents, on="doc_id").group_by("fold", "patient").agg(pl.struct("role", "part").n_unique())
    )
    assert sides["role"].unique().to_list() == [1]


def test_groups_of_unlike_size_still_give_folds_of_about_the_same_size():
    fake = corpus(300, company=[f"c{min(i // 3, 60)}" for i in range(300)])
    sizes = [counts(make_folds(fake, FoldSettings(group_by="company"), 1), fold)["eval"] for fold in range(5)]
    assert sorted(sizes) == [45, 45, 45, 45, 120]  # one company has 120 documents


def test_documents_without_a_group_stand_for_themselves():
    fake = corpus(20, patient=[None] * 20)
    assert [counts(make_folds(fake, FoldSettings(group_by="patient"), 1), f)["eval"] for f in range(5)] == [4] * 5


def positives(by_document: dict[str, list[str]]) -> pl.DataFrame:
    rows = [(doc_id, criterion, 1) for doc_id, criteria in by_document.items() for criterion in criteria]
    return pl.DataFrame(rows, schema=["doc_id", "criterion_id", "has_evidence"], orient="row")


def test_balanced_spreads_every_criterion_over_the_folds():
    fake = corpus(500)
    fake.pairs = positives({f"d{i:05d}": (["A"] if i < 10 else []) + (["B"] if i % 5 == 0 else []) for i in range(500)})
    folds = make_folds(fake, FoldSettings(method="balanced"), 1)
    evaluated = folds.filter(pl.col("role") == "eval").join(fake.pairs, on="doc_id")
    table = evaluated.group_by("criterion_id", "fold").len().sort("criterion_id", "fold")
    assert table["len"].to_list() == [2] * 5 + [20] * 5
    assert [counts(folds, fold)["eval"] for fold in range(5)] == [100] * 5


def test_contract_folds_do_not_look_at_gold():
    with_gold = corpus(100)
    with_gold.pairs = positives({"d00001": ["A"]})
    assert make_folds(corpus(100), FoldSettings(), 1).equals(make_folds(with_gold, FoldSettings(), 1))


def test_near_duplicates_stay_on_one_side():
    fake = corpus(30)
    words = [f"word{i}" for i in range(600)]
    texts = [" ".join(words[i * 20 : i * 20 + 20]) for i in range(30)]
    texts[7] = texts[21] + " thanks"
    fake.sentences = pl.DataFrame({"doc_id": fake.documents["doc_id"], "sent_idx": [0] * 30, "text": texts})
    settings = FoldSettings(near_duplicates=0.8)
    near = find_near_duplicates(fake.sentences, 0.8)
    assert make_folds(fake, settings, 1).equals(make_folds(fake, settings, 1, near=near))
    for seed in range(5):
        folds = make_folds(fake, settings, seed, near=near)
        copies = folds.filter(pl.col("doc_id").is_in(["d00007", "d00021"]))
        assert copies.group_by("fold").agg(pl.col("role").n_unique())["role"].to_list() == [1] * 5


def test_fewer_documents_than_folds_is_an_error_that_says_what_to_do():
    with pytest.raises(DataError, match=r"3 documents cannot be cut into 5 folds\. Set n_folds to 3 or fewer"):
        make_folds(corpus(3), FoldSettings(), 1)


def test_too_few_documents_for_the_roles_is_an_error():
    with pytest.raises(DataError, match="1 documents cannot be cut into 2 pieces"):
        make_folds(corpus(2), FoldSettings(n_folds=2), 1)


def test_too_few_groups_is_an_error_that_names_the_column():
    with pytest.raises(DataError, match="20 documents in 2 groups of 'patient' cannot be cut into 5 folds"):
        make_folds(corpus(20, patient=["a", "b"] * 10), FoldSettings(group_by="patient"), 1)


def test_an_unknown_grouping_column_is_an_error_that_lists_the_known_ones():
    with pytest.raises(ConfigError, match=r"no column 'patiant'\. Columns that can group: patient"):
        make_folds(corpus(20, patient=["a", "b"] * 10), FoldSettings(group_by="patiant"), 1)


def test_an_unknown_fold_is_an_error():
    with pytest.raises(DataError, match="no fold 7"):
        roles(make_folds(corpus(20), FoldSettings(), 1), 7)


@pytest.mark.parametrize("split", ["80/20/0", "80/10/20", "90/10", "a/b/c", [0.5, 0.5]])
def test_an_impossible_split_is_refused(split):
    with pytest.raises(ConfigError, match="split"):
        resolve(FoldSettings, [Layer(origin="test", values={"split": split})])


def test_a_split_refuses_the_crossfit_scheme():
    with pytest.raises(ConfigError, match="a single split needs scheme holdout"):
        resolve(FoldSettings, [Layer(origin="test", values={"split": "80/10/10", "scheme": "crossfit"})])


def test_settings_survive_being_written_and_read():
    settings = FoldSettings(split="80/10/10")
    assert settings == FoldSettings.model_validate(settings.model_dump(mode="json"))


def test_deployment_predicts_nobody_and_uses_every_document():
    folds = make_deployment(corpus(1000), FoldSettings(), 1)
    assert counts(folds, 0) == {"train": 630, "stop": 70, "tune": 300, "eval": 0}
