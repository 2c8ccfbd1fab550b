"""Decisions about one batch of new documents, put together from arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from probative.decide import Decisions, sigmoid
from probative.pipeline.decision import Decision, Evidence
from probative.pipeline.documents import Span
from probative.pipeline.questions import Questions
from probative.segments import BoolArray, FloatArray, IntArray
from probative.types import Inputs, State

STATES = list(State)
SILENT = "the document has no sentence"
UNFAMILIAR = "the model was not trained on this question; its thresholds were chosen on others"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Decisions about some new documents, with what drift is measured on: queries like those of TUNE."""

    decisions: Sequence[Decision]
    gate: FloatArray
    states: Sequence[State]
    doc: IntArray

    @property
    def silent(self) -> int:
        """Documents without a sentence."""
        return len({decision.doc_id for decision in self.decisions if decision.note == SILENT})


def nothing(questions: Questions, documents: IntArray) -> Iterator[Decision]:
    """The decisions about documents without a sentence: there is nothing to find."""
    view = questions.view
    for query in np.flatnonzero(np.isin(view.query_doc, documents)):
        yield Decision(
            doc_id=view.doc_ids[view.query_doc[query]],
            criterion_id=view.criterion_ids[view.query_criterion[query]],
            probability=0.0,
            state=State.NEG,
            predicted=False,
            note=SILENT,
        )


def made(inputs: Inputs, decided: Decisions, spans: Sequence[Span | None], familiar: BoolArray) -> Iterator[Decision]:
    """The decision of every query, with the sentences that triage shows."""
    view = inputs.view
    node = sigmoid(inputs.scores["final_node"])
    starts, sizes = view.offsets[:-1], decided.size["triage"]
    for query in range(view.n_queries):
        rows = decided.rank_order[starts[query] : starts[query] + sizes[query]]
        yield Decision(
            doc_id=view.doc_ids[view.query_doc[query]],
            criterion_id=view.criterion_ids[view.query_criterion[query]],
            probability=float(decided.prob[query]),
            state=STATES[decided.state[query]],
            predicted=bool(decided.predicted[query]),
            evidence=tuple(_evidence(inputs, int(row), float(node[row]), spans) for row in rows),
            note=None if familiar[query] else UNFAMILIAR,
        )


def _evidence(inputs: Inputs, row: int, probability: float, spans: Sequence[Span | None]) -> Evidence:
    view = inputs.view
    sentence = int(view.sentence[row])
    start, end = spans[sentence] or (None, None)
    return Evidence(
        sent_uid=view.sent_uids[sentence], start=start, end=end, probability=probability, text=view.texts[sentence]
    )


def familiar(inputs: Inputs, trained: Collection[str]) -> BoolArray:
    """(Q,) whether training knew the question; all are where every document brings its own."""
    view = inputs.view
    known = np.array([not trained or text in trained for text in view.criterion_texts], dtype=bool)
    return known[view.query_criterion]
