"""How good some settings are, seen from inside TRAIN: fit and measure on a document-disjoint split of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from probative import files, segments
from probative.data import Corpus, folds
from probative.experiment.run import only
from probative.experiment.settings import RunSettings
from probative.metrics import auroc
from probative.metrics.ranking import ranking
from probative.pipeline.chain import pass_through
from probative.pipeline.fold import blind
from probative.pipeline.learn import inputs_of
from probative.pipeline.ranking import rankings
from probative.pipeline.stages import chain_context, make_stages
from probative.pipeline.threads import at_most
from probative.segments import IntArray
from probative.types import Inputs, Role

Objective = Literal["both", "ndcg@10", "auroc"]
"""`both` is the mean of the two: order and abstention count the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """TRAIN of one outer fold, cut again: the corpus holds no other document."""

    corpus: Corpus
    outer: int
    n_outer: int
    parts: int = 3

    @classmethod
    def of(cls, corpus: Corpus, settings: RunSettings, outer: int) -> Inner:
        """TRAIN and STOP of an outer fold; its TUNE and EVAL are left behind here."""
        table = folds.make_folds(corpus, settings.folds, settings.seed)
        roles = folds.roles(table, outer)
        inside = only(corpus, [*roles[Role.TRAIN], *roles[Role.STOP]])
        return cls(corpus=inside, outer=outer, n_outer=table["fold"].n_unique())

    def table(self, settings: RunSettings, seed: int) -> pl.DataFrame:
        """Inner folds for one seed."""
        chosen = {"n_folds": self.parts, "scheme": "holdout", "split": None, "tune_fraction": 0.1}
        return folds.make_folds(self.corpus, settings.folds.model_copy(update=chosen), seed)


def values(inner: Inner, settings: RunSettings, objective: Objective, seed: int) -> Iterator[float]:
    """The objective on one inner fold after the other."""
    table = inner.table(settings, seed)
    for fold in range(inner.parts):
        with at_most(settings.threads):
            yield measure(inner.corpus, folds.roles(table, fold), settings, objective)


def measure(corpus: Corpus, roles: Mapping[Role, Sequence[str]], settings: RunSettings, objective: Objective) -> float:
    """Fit on the inner TRAIN (what a run keeps for TUNE learns too: nothing is calibrated here), score the held-out."""
    exclude = corpus.meta.exclude_from_training

    def inputs(doc_ids: Sequence[str], role: Role) -> Inputs:
        return inputs_of(corpus.view(doc_ids, role, gold=True, exclude=exclude), settings)

    held = inputs(roles[Role.EVAL], Role.EVAL)
    given = {
        "train": inputs([*roles[Role.TRAIN], *roles[Role.TUNE]], Role.TRAIN),
        "stop": inputs(roles[Role.STOP], Role.STOP),
        "eval": blind(held),
    }
    store = files.Store(files.cache_root() / "stages")
    passed = pass_through(make_stages(settings), given, store, context=chain_context(settings))
    found = _values(passed.inputs["eval"], held)
    return float(np.mean(list(found.values()))) if objective == "both" else found[objective]


def _values(scored: Inputs, held: Inputs) -> dict[str, float]:
    view = held.view
    if view.gold is None or view.has_evidence is None:
        raise ValueError("the inner held-out part holds its gold")
    rank: IntArray = rankings(scored)["final"].rank[view.gold]
    offsets = segments.from_lengths(segments.total(view.gold, view.offsets).astype(np.int64))
    ndcg = ranking(rank, offsets, segments.lengths(view.offsets), (10,))["ndcg@10"]
    located = np.diff(offsets) > 0
    return {
        "ndcg@10": float(ndcg[located].mean()) if located.any() else 0.0,
        "auroc": auroc(view.has_evidence, scored.gates["final"]),
    }
