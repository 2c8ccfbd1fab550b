"""What must hold of folds whatever the corpus, the settings and the seed."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from probative.data.folds import FoldSettings, make_folds, parts, roles
from probative.types import Role


@dataclass
class Fake:
    documents: pl.DataFrame
    sentences: pl.DataFrame
    pairs: pl.DataFrame


@st.composite
def corpora(draw: st.DrawFn) -> Fake:
    n = draw(st.integers(60, 160))
    groups = draw(st.lists(st.one_of(st.none(), st.integers(0, 40)), min_size=n, max_size=n))
    gold = draw(st.sets(st.tuples(st.integers(0, n - 1), st.sampled_from("ABC")), max_size=60))
    doc_ids = [f"d{i}" for i in range(n)]
    documents = pl.DataFrame({"doc_id": doc_ids, "group": groups}, schema={"doc_id": pl.String, "group": pl.Int64})
    rows = [(doc_ids[i], criterion, 1) for i, criterion in sorted(gold)]
    schema = {"doc_id": pl.String, "criterion_id": pl.String, "has_evidence": pl.Int64}
    return Fake(documents, pl.DataFrame(), pl.DataFrame(rows, schema=schema, orient="row"))


fold_settings = st.builds(
    FoldSettings,
    n_folds=st.integers(2, 5),
    scheme=st.sampled_from(["holdout", "crossfit"]),
    method=st.sampled_from(["contract", "balanced"]),
    inner_parts=st.integers(2, 4),
    group_by=st.sampled_from([None, "group"]),
)


@given(corpora(), fold_settings, st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_every_fold_gives_every_document_one_role_and_no_group_two_sides(corpus, chosen, seed):
    folds = make_folds(corpus, chosen, seed)
    everything = sorted(corpus.documents["doc_id"])
    for fold in range(chosen.n_folds):
        by_role = roles(folds, fold)
        assert sorted(doc_id for ids in by_role.values() for doc_id in ids) == everything
        needed = [Role.TRAIN, Role.EVAL] if chosen.scheme == "crossfit" else list(by_role)
        assert all(by_role[role] for role in needed)
        assert len(parts(folds, fold)) == (chosen.inner_parts if chosen.scheme == "crossfit" else 0)
    evaluated = folds.filter(pl.col("role") == "eval")["doc_id"]
    assert sorted(evaluated) == everything
    if chosen.group_by:
        grouped = folds.join(corpus.documents.drop_nulls("group"), on="doc_id").group_by("fold", "group")
        assert (grouped.agg(pl.struct("role", "part").n_unique())["role"] == 1).all()


@given(corpora(), fold_settings.map(lambda s: s.model_copy(update={"group_by": None})), st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_without_groups_the_sizes_are_exact(corpus, chosen, seed):
    folds = make_folds(corpus, chosen, seed)
    n, k = corpus.documents.height, chosen.n_folds
    sizes = [len(roles(folds, fold)[Role.EVAL]) for fold in range(k)]
    assert sizes == [n // k] * (k - 1) + [n - (k - 1) * (n // k)]


@given(corpora(), fold_settings, st.integers(0, 9), st.randoms())
@settings(max_examples=40, deadline=None)
def test_the_order_of_the_tables_changes_nothing(corpus, chosen, seed, random):
    turned = Fake(
        corpus.documents.sample(fraction=1, shuffle=True, seed=random.randint(0, 99)),
        corpus.sentences,
        corpus.pairs.sample(fraction=1, shuffle=True, seed=random.randint(0, 99)),
    )
    assert make_folds(corpus, chosen, seed).equals(make_folds(turned, chosen, seed))


@given(st.integers(20, 200), st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_a_document_more_moves_few_others(n, seed):
    def tuned(size: int) -> set[str]:
        documents = pl.DataFrame({"doc_id": [f"d{i:04d}" for i in range(size)]})
        folds = make_folds(Fake(documents, pl.DataFrame(), pl.DataFrame()), FoldSettings(split="60/20/20"), seed)
        return set(folds.filter(pl.col("role") == "eval")["doc_id"])

    assert len(tuned(n) ^ tuned(n + 1)) <= 3
