"""Small corpora as inputs of the stages that learn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from probative.types import Inputs, Role, View

MakeInputs = Callable[..., Inputs]
WORDS = ("apple", "brick", "cloud", "drain", "eagle", "flute")
FILLER = ("the", "party", "shall", "then", "agree", "to", "pay")


def make_inputs(
    documents: int = 24, sentences: int = 8, criteria: int = 3, *, seed: int = 0, once: bool = False, name: str = "d"
) -> Inputs:
    """Documents in which evidence of a criterion says its word and leans towards its vector.

    Half of the queries have one evidence sentence. With `once` every document has one question of its own.
    """
    rng = np.random.default_rng(seed)
    asked = documents if once else criteria
    directions = np.random.default_rng(1234).normal(size=(len(WORDS), 16))
    kind = np.arange(asked) % len(WORDS)
    query_doc = np.arange(documents) if once else np.repeat(np.arange(documents), criteria)
    query_criterion = np.arange(documents) if once else np.tile(np.arange(criteria), documents)
    vectors = rng.normal(size=(documents * sentences, 16))
    texts = [" ".join(rng.choice(FILLER, 5)) for _ in range(documents * sentences)]
    gold = np.zeros((len(query_doc), sentences), dtype=bool)
    for query, (doc, criterion) in enumerate(zip(query_doc, query_criterion, strict=True)):
        if rng.random() < 0.5:
            place = int(rng.integers(sentences))
            row = doc * sentences + place
            gold[query, place] = True
            vectors[row] += 1.5 * directions[kind[criterion]]
            texts[row] += f" {WORDS[kind[criterion]]}"
    questions = directions[kind] + (0.1 * rng.normal(size=(asked, 16)) if once else 0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    questions /= np.linalg.norm(questions, axis=1, keepdims=True)
    view = View(
        role=Role.TRAIN,
        doc_ids=tuple(f"{name}{i:03}" for i in range(documents)),
        doc_offsets=np.arange(documents + 1, dtype=np.int64) * sentences,
        sent_uids=tuple(f"{name}{i // sentences:03}_{i % sentences}" for i in range(len(texts))),
        texts=tuple(texts),
        criterion_ids=tuple(f"c{i:03}" for i in range(asked)),
        criterion_texts=tuple(f"Is there any {WORDS[k]}{f' in {i}' if once else ''}?" for i, k in enumerate(kind)),
        query_doc=query_doc.astype(np.int64),
        query_criterion=query_criterion.astype(np.int64),
        gold=gold.ravel(),
        has_evidence=gold.any(1),
    )
    dense = np.einsum("nd,nd->n", vectors[view.sentence], questions[query_criterion[view.query]])
    return Inputs(
        view=view,
        sentence_vectors=vectors.astype(np.float32),
        criterion_vectors=questions.astype(np.float32),
        scores={"dense": dense.astype(np.float32), "retrieve": dense.astype(np.float32)},
    )


@pytest.fixture(scope="session")
def inputs_of() -> MakeInputs:
    """The maker of small inputs."""
    return make_inputs
