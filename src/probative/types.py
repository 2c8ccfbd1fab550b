"""The records that pass between rooms: flat arrays with offsets, sorted by document, then criterion.

A query is one (document, criterion). Its candidate rows are all sentences of its own document in text order, so the
rows of every array marked (N,) follow from the queries alone and never need to be stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from probative import segments
from probative.segments import BoolArray, IntArray

Vectors = NDArray[np.float32]
Floats = NDArray[np.floating]


class State(StrEnum):
    """What to do with a query: skip it, look with care, raise an alert."""

    NEG = "NEG"
    UNCERTAIN = "UNCERTAIN"
    POS = "POS"


class Role(StrEnum):
    """Which part of the experiment a document plays."""

    TRAIN = "train"
    STOP = "stop"
    TUNE = "tune"
    EVAL = "eval"
    NEW = "new"


@dataclass(frozen=True, kw_only=True)
class View:
    """The documents, queries and gold of one role, and nothing else.

    D documents, S sentences, C criteria, Q queries, N candidate rows. `gold`, `rejected` and `has_evidence` are None
    where the role may not see them (EVAL and new documents).
    """

    role: Role
    doc_ids: tuple[str, ...]
    doc_offsets: IntArray
    """(D + 1,) into the sentences."""
    sent_uids: tuple[str, ...]
    texts: tuple[str, ...]
    criterion_ids: tuple[str, ...]
    criterion_texts: tuple[str, ...]
    query_doc: IntArray
    """(Q,) position of the query's document; rising."""
    query_criterion: IntArray
    """(Q,) position of the query's criterion; rising within a document."""
    gold: BoolArray | None = None
    """(N,)"""
    rejected: BoolArray | None = None
    """(N,) sentences that an annotator considered and rejected."""
    has_evidence: BoolArray | None = None
    """(Q,) true for unlocated queries too."""

    @cached_property
    def offsets(self) -> IntArray:
        """(Q + 1,) where each query's candidate rows begin."""
        return segments.from_lengths(np.diff(self.doc_offsets)[self.query_doc])

    @cached_property
    def sentence(self) -> IntArray:
        """(N,) position of the row's sentence."""
        return segments.rows(self.doc_offsets, self.query_doc)

    @cached_property
    def query(self) -> IntArray:
        """(N,) the query that the row belongs to."""
        return segments.owner(self.offsets)

    @property
    def n_queries(self) -> int:
        return len(self.query_doc)

    @property
    def n_rows(self) -> int:
        return int(self.offsets[-1])

    @property
    def n_documents(self) -> int:
        return len(self.doc_ids)

    @cached_property
    def located(self) -> BoolArray:
        """(Q,) queries with at least one gold sentence."""
        if self.gold is None:
            raise ValueError("this view holds no gold")
        return segments.total(self.gold, self.offsets) > 0

    @cached_property
    def unlocated(self) -> BoolArray:
        """(Q,) queries said to have evidence, with no sentence named: no example for a ranker, one for a gate."""
        if self.has_evidence is None:
            raise ValueError("this view holds no gold")
        return self.has_evidence & ~self.located

    def take(self, documents: IntArray, role: Role | None = None) -> View:
        """The same view of fewer documents; criteria that no longer have a query are dropped."""
        documents = np.sort(np.asarray(documents, dtype=np.int64))
        place = np.full(self.n_documents, -1, dtype=np.int64)
        place[documents] = np.arange(len(documents))
        return self._cut(documents, place, np.flatnonzero(place[self.query_doc] >= 0), role)

    def take_queries(self, queries: IntArray) -> View:
        """The same documents with fewer queries; criteria that no longer have a query are dropped."""
        everything = np.arange(self.n_documents, dtype=np.int64)
        return self._cut(everything, everything, np.sort(np.asarray(queries, dtype=np.int64)), None)

    def _cut(self, documents: IntArray, place: IntArray, queries: IntArray, role: Role | None) -> View:
        sentences = segments.rows(self.doc_offsets, documents)
        rows = segments.rows(self.offsets, queries)
        criteria, query_criterion = np.unique(self.query_criterion[queries], return_inverse=True)
        return View(
            role=role or self.role,
            doc_ids=tuple(self.doc_ids[i] for i in documents),
            doc_offsets=segments.from_lengths(np.diff(self.doc_offsets)[documents]),
            sent_uids=tuple(self.sent_uids[i] for i in sentences),
            texts=tuple(self.texts[i] for i in sentences),
            criterion_ids=tuple(self.criterion_ids[i] for i in criteria),
            criterion_texts=tuple(self.criterion_texts[i] for i in criteria),
            query_doc=place[self.query_doc[queries]],
            query_criterion=query_criterion.astype(np.int64).reshape(-1),
            gold=None if self.gold is None else self.gold[rows],
            rejected=None if self.rejected is None else self.rejected[rows],
            has_evidence=None if self.has_evidence is None else self.has_evidence[queries],
        )

    def blind(self, role: Role | None = None) -> View:
        """The same documents and queries without any gold."""
        return replace(self, role=role or self.role, gold=None, rejected=None, has_evidence=None)


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What a scorer may look at: a view, its vectors, and the scores that earlier stages gave its rows."""

    view: View
    sentence_vectors: Vectors
    """(S, d), unit length."""
    criterion_vectors: Vectors
    """(C, d), unit length."""
    scores: Mapping[str, Floats] = field(default_factory=dict)
    """Name → (N,). Names in use: bm25, dense, retrieve, late, linear, rerank, rerank_node."""
    gates: Mapping[str, Floats] = field(default_factory=dict)
    """Name → (Q,) log-odds that the query has evidence."""
    pool: BoolArray | None = None
    """(N,) rows that the retriever hands on; None means all."""

    def take(self, documents: IntArray, role: Role | None = None) -> Inputs:
        """The inputs of fewer documents."""
        documents = np.sort(np.asarray(documents, dtype=np.int64))
        view = self.view.take(documents, role)
        queries = np.flatnonzero(np.isin(self.view.query_doc, documents))
        rows = segments.rows(self.view.offsets, queries)
        criteria = np.unique(self.view.query_criterion[queries])
        return Inputs(
            view=view,
            sentence_vectors=self.sentence_vectors[segments.rows(self.view.doc_offsets, documents)],
            criterion_vectors=self.criterion_vectors[criteria],
            scores={name: values[rows] for name, values in self.scores.items()},
            gates={name: values[queries] for name, values in self.gates.items()},
            pool=None if self.pool is None else self.pool[rows],
        )

    def with_scores(self, **scores: Floats) -> Inputs:
        """The same inputs with more scores."""
        return replace(self, scores={**self.scores, **scores})

    def with_gates(self, **gates: Floats) -> Inputs:
        """The same inputs with more query scores."""
        return replace(self, gates={**self.gates, **gates})


@dataclass(frozen=True, kw_only=True)
class Scores:
    """What a stage says about every row and query of a view."""

    rank: Floats
    """(N,) orders the candidates of one query; not comparable between queries."""
    node: Floats | None = None
    """(N,) log-odds that the sentence is evidence; comparable between queries."""
    gate: Floats | None = None
    """(Q,) log-odds that the query has evidence; comparable between queries."""


class Scorer(Protocol):
    """A stage that learns from one view and scores another."""

    def fit(self, inputs: Inputs, stop: Inputs | None = None) -> Self:
        """Learn from `inputs.view.gold`; `stop` may only choose the number of epochs."""
        ...

    def score(self, inputs: Inputs) -> Scores:
        """Score every row; never looks at gold."""
        ...
