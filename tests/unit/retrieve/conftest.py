"""A small corpus as inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from probative import segments
from probative.types import Inputs, Role, View

Make = Callable[..., Inputs]


def make_inputs(
    documents: Sequence[Sequence[str]],
    criteria: Sequence[str],
    queries: Sequence[tuple[int, int]] | None = None,
    dimensions: int = 8,
) -> Inputs:
    """Inputs whose vectors depend on the text alone."""
    pairs = queries or [(d, c) for d in range(len(documents)) for c in range(len(criteria))]
    texts = tuple(text for document in documents for text in document)
    view = View(
        role=Role.TRAIN,
        doc_ids=tuple(f"d{i:03}" for i in range(len(documents))),
        doc_offsets=segments.from_lengths(np.array([len(document) for document in documents])),
        sent_uids=tuple(f"u{i}" for i in range(len(texts))),
        texts=texts,
        criterion_ids=tuple(f"c{i:03}" for i in range(len(criteria))),
        criterion_texts=tuple(criteria),
        query_doc=np.array([d for d, _ in pairs], dtype=np.int64),
        query_criterion=np.array([c for _, c in pairs], dtype=np.int64),
    )
    return Inputs(
        view=view, sentence_vectors=_vectors(texts, dimensions), criterion_vectors=_vectors(criteria, dimensions)
    )


def _vectors(texts: Sequence[str], dimensions: int) -> np.ndarray:
    rows = [np.random.default_rng(list(text.encode())).normal(size=dimensions) for text in texts]
    table = np.array(rows).reshape(-1, dimensions)
    return (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="session")
def inputs_of() -> Make:
    return make_inputs
