"""The one procedure that is evaluated and deployed: fit on TRAIN and STOP, score TUNE, and EVAL if there is one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars as pl

from probative import files
from probative.data import Corpus, folds
from probative.encode import vectors_for
from probative.pipeline.fold import Scored, crossfit, holdout
from probative.pipeline.settings import PipelineSettings
from probative.pipeline.stage import Stage
from probative.pipeline.stages import chain_context, make_stages
from probative.segments import IntArray
from probative.types import Inputs, Role, View


def inputs_of(view: View, settings: PipelineSettings) -> Inputs:
    """A view with its vectors, from the cache where they are there."""
    sentences, criteria = vectors_for(view, settings.encode)
    return Inputs(view=view, sentence_vectors=sentences, criterion_vectors=criteria)


def learn(
    corpus: Corpus,
    table: pl.DataFrame,
    fold: int,
    settings: PipelineSettings,
    store: files.Store,
    report: Callable[[str], None],
) -> tuple[View, Scored]:
    """TRAIN's view (the prior comes from it), and the scored TUNE and EVAL of one fold of the table."""
    exclude = corpus.meta.exclude_from_training
    roles = folds.roles(table, fold)
    evaluation = None
    if roles[Role.EVAL]:
        evaluation = inputs_of(corpus.view(roles[Role.EVAL], Role.EVAL, gold=False), settings)
    context = chain_context(settings)

    def known(role: Role) -> Inputs:
        return inputs_of(corpus.view(roles[role], role, gold=True, exclude=exclude), settings)

    def make(epochs: Mapping[str, int] | None) -> Sequence[Stage]:
        return make_stages(settings, epochs)

    train = known(Role.TRAIN)
    if settings.folds.scheme == "holdout":
        stop, tune = known(Role.STOP), known(Role.TUNE)
        return train.view, holdout(make, train, stop, tune, evaluation, store, context=context, report=report)
    number = {doc_id: n for n, ids in enumerate(folds.parts(table, fold)) for doc_id in ids}
    part = np.array([number[doc_id] for doc_id in train.view.doc_ids])

    def stop_share(inputs: Inputs) -> IntArray:
        return lowest_hashes(inputs.view.doc_ids, settings.folds.stop_fraction, settings.seed)

    return train.view, crossfit(make, train, part, stop_share, evaluation, store, context=context, report=report)


def lowest_hashes(doc_ids: Sequence[str], share: float, seed: int) -> IntArray:
    """The documents of an inner TRAIN that pick its epochs: those whose seeded hash is lowest."""
    keys = [hashlib.sha256(f"{seed}/stop\0{doc_id}".encode()).digest() for doc_id in doc_ids]
    chosen = sorted(range(len(doc_ids)), key=keys.__getitem__)[: max(1, int(share * len(doc_ids) + 0.5))]
    return np.sort(np.array(chosen, dtype=np.int64))
