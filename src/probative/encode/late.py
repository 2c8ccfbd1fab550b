"""Late interaction: how well each token of a criterion is met by some token of a sentence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from probative.encode.embedded import Embedded
from probative.encode.encoder import Progress
from probative.encode.settings import EncodeSettings
from probative.encode.table import Keys, Table, keys_of, pair_keys
from probative.errors import ConfigError
from probative.files import cache_root
from probative.segments import IntArray
from probative.types import Vectors, View

CHUNK = 1024
"""Sentences read at a time: what kill -9 can lose."""


def late_interaction(
    view: View, settings: EncodeSettings, progress: Progress | None = None, *, encoder: Embedded | None = None
) -> NDArray[np.float32]:
    """(N,) the mean over the criterion's tokens of the best cosine with any token of the sentence.

    One product a pair, so that a score depends on its two texts alone; kept by model and pair of texts.
    """
    if settings.model != "embedded":
        raise ConfigError(
            f"late interaction needs the token vectors of the embedded model; encode.model is {settings.model}."
        )
    encoder = encoder or Embedded(settings)
    sentence, criterion = view.sentence, view.query_criterion[view.query]
    said, asked = keys_of(view.texts, "sentence"), keys_of(view.criterion_texts, "criterion")
    keys, first, place = np.unique(
        pair_keys(asked[criterion], said[sentence]), axis=0, return_index=True, return_inverse=True
    )
    table = Table(cache_root() / "late" / encoder.identity[:32])
    stored, known = table.read(keys)
    out = np.zeros((len(keys), 1), dtype=np.float32) if stored is None else stored
    missing = np.flatnonzero(~known)
    missing = missing[np.lexsort((criterion[first[missing]], sentence[first[missing]]))]
    _fill(out, keys, missing, sentence[first], criterion[first], view, encoder, table, progress)
    scores: NDArray[np.float32] = out[place.reshape(-1), 0]
    return scores


def _fill(
    out: NDArray[np.float32],
    keys: Keys,
    missing: IntArray,
    sentence: IntArray,
    criterion: IntArray,
    view: View,
    encoder: Embedded,
    table: Table,
    progress: Progress | None,
) -> None:
    """Compute the missing pairs, sentence after sentence, and keep them chunk by chunk."""
    if not len(missing):
        return
    asked = list(encoder.tokens(view.criterion_texts, "criterion"))
    sentences, begins = np.unique(sentence[missing], return_index=True)
    ends = np.append(begins[1:], len(missing))
    for start in range(0, len(sentences), CHUNK):
        chosen = slice(start, start + CHUNK)
        texts = [view.texts[s] for s in sentences[chosen]]
        for tokens, begin, end in zip(encoder.tokens(texts), begins[chosen], ends[chosen], strict=True):
            for pair in missing[begin:end]:
                out[pair, 0] = best_match(asked[criterion[pair]], tokens)
        done = missing[begins[start] : ends[chosen][-1]]
        table.append(keys[done], out[done])
        if progress is not None:
            progress(min(start + CHUNK, len(sentences)), len(sentences))


def best_match(criterion: Vectors, sentence: Vectors) -> float:
    """The mean over the rows of one of the best cosine with a row of the other."""
    return float((criterion @ sentence.T).max(axis=1).mean())
