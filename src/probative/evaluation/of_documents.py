"""Contract §8 in a scope: every document as a row of labels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from probative.evaluation.cut import Cut, spreads
from probative.evaluation.totals import Array, Fact, Key, Totals
from probative.metrics.ranking import divide
from probative.segments import FloatArray


def add(cut: Cut, totals: Totals) -> None:
    """Exact match, Hamming and the F1 family. Resampled queries give no documents, so no intervals."""
    p = cut.predictions
    if p.predicted is None:
        return
    _, doc = np.unique(cut.unit if cut.prepared.units.kind == "documents" else p.doc[cut.rows], return_inverse=True)
    doc = doc.reshape(-1)
    n_docs = int(doc.max()) + 1 if len(doc) else 0
    first = np.zeros(n_docs, dtype=np.int64)
    first[doc[::-1]] = np.arange(len(doc))[::-1]
    y, guess = cut.positive, p.predicted[cut.rows]

    def per(values: ArrayLike) -> FloatArray:
        return np.bincount(doc, weights=np.asarray(values, dtype=np.float64), minlength=n_docs).astype(np.float64)

    labels, right = per(np.ones(len(doc))), per(y == guess)
    tp, positives, guesses = per(y & guess), per(y), per(guess)
    f1 = divide(2 * tp, positives + guesses)
    blank = int((positives + guesses == 0).sum())
    totals.column("documents", 1.0, first)
    totals.column("positives:document", positives, first)
    for name, values in (
        ("exact_match", (right == labels).astype(np.float64)),
        ("hamming_score", right / labels),
        ("hamming_loss", 1 - right / labels),
        ("f1_macro_document", f1),
    ):
        fact = _fact(n_docs)
        fact.spread = spreads(values[None])[0]
        column = totals.column(name, values, first)
        add_one = totals.proportion if name == "exact_match" else totals.ratio
        add_one(Key(name, "documents"), fact, (column, "documents"))
        if name == "f1_macro_document" and blank:
            fact.note = f"{blank} of {n_docs} documents have neither gold nor prediction and score 0"
    totals.column("f1_weighted_document", f1 * positives, first)
    weighted = _fact(n_docs, "no query with evidence")
    totals.ratio(Key("f1_weighted_document", "documents"), weighted, ("f1_weighted_document", "positives:document"))
    _per_criterion(cut, totals, n_docs)
    if cut.prepared.units.kind != "documents":
        for key, fact in zip(totals.keys, totals.facts, strict=True):
            fact.interval = fact.interval and key.population != "documents"


def _per_criterion(cut: Cut, totals: Totals, n_docs: int) -> None:
    p = cut.predictions
    assert p.predicted is not None  # noqa: S101 - the caller has looked
    y, guess, criterion = cut.positive, p.predicted[cut.rows], p.criterion[cut.rows]
    present = np.unique(criterion)
    for number in present:
        rows = np.flatnonzero(criterion == number)
        totals.column(f"tp:{number}", y[rows] & guess[rows], rows)
        totals.column(f"y:{number}", y[rows], rows)
        totals.column(f"either:{number}", 1.0 * y[rows] + guess[rows], rows)

    def family(sums: Mapping[str, Array]) -> Array:
        tp, positives, either = (
            np.stack([sums[f"{part}:{number}"] for number in present]).astype(np.float64)
            for part in ("tp", "y", "either")
        )
        f1 = divide(2 * tp, either)
        with np.errstate(divide="ignore", invalid="ignore"):
            weighted = (f1 * positives).sum(axis=0) / positives.sum(axis=0)
            micro = 2 * tp.sum(axis=0) / either.sum(axis=0)
        return np.stack([f1.mean(axis=0), weighted, micro])

    blank = sum(1 for number in present if totals.sum(f"either:{number}") == 0)
    facts = [_fact(n_docs), _fact(n_docs, "no query with evidence"), _fact(n_docs, "nothing to find or predict")]
    if blank:
        facts[0].note = f"{blank} of {len(present)} criteria have neither gold nor prediction and score 0"
    keys = [Key(name, "documents") for name in ("f1_macro", "f1_weighted", "f1_micro")]
    totals.finish(keys, facts, family)


def _fact(n_docs: int, empty: str = "no document") -> Fact:
    return Fact(n=n_docs, n_docs=n_docs, empty=empty)
