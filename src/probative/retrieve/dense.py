"""Cosine between criterion and sentence."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from probative.types import Inputs


def dense(inputs: Inputs) -> NDArray[np.float32]:
    """(N,) the cosine of every row: one product a document, so no document touches another's last bit."""
    view = inputs.view
    out = np.empty(view.n_rows, dtype=np.float32)
    bounds = np.searchsorted(view.query_doc, np.arange(view.n_documents + 1))
    for document, (first, last) in enumerate(pairwise(bounds.tolist())):
        sentences = inputs.sentence_vectors[view.doc_offsets[document] : view.doc_offsets[document + 1]]
        criteria = inputs.criterion_vectors[view.query_criterion[first:last]]
        out[view.offsets[first] : view.offsets[last]] = (criteria @ sentences.T).ravel()
    return out
