"""Documents that are nearly the same text: reposts, templates, copies with a changed name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from probative.errors import ConfigError, NotInstalled

SHINGLE = 5
PERMUTATIONS = 128
Shingles = NDArray[np.uint64]
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class NearDuplicates:
    """The pairs at or above a similarity, and the clusters they form."""

    threshold: float
    pairs: pl.DataFrame
    """left, right, similarity (exact Jaccard of word 5-grams); left < right."""

    @property
    def clusters(self) -> list[list[str]]:
        """Documents joined by pairs, each cluster sorted."""
        cluster: dict[str, list[str]] = {}
        for left, right in self.pairs.select("left", "right").iter_rows():
            a, b = cluster.setdefault(left, [left]), cluster.setdefault(right, [right])
            if a is not b:
                a.extend(b)
                cluster.update(dict.fromkeys(b, a))
        distinct = {id(members): members for members in cluster.values()}
        return sorted(sorted(members) for members in distinct.values())

    def describe(self) -> str:
        """One line for people."""
        clusters = self.clusters
        if not clusters:
            return f"No near-duplicate documents at a similarity of {self.threshold:g} or more."
        return (
            f"{sum(map(len, clusters))} documents form {len(clusters)} clusters of near-duplicates"
            f" (similarity {self.threshold:g} or more); the largest has {max(map(len, clusters))}."
        )

    def lines(self) -> list[str]:
        """What was found, and every cluster on a line."""
        return [self.describe(), *(f"  {', '.join(members)}" for members in self.clusters)]

    def as_dict(self) -> dict[str, Any]:
        """What was found as JSON values."""
        return {"threshold": self.threshold, "pairs": self.pairs.to_dicts(), "clusters": self.clusters}


def find_near_duplicates(sentences: pl.DataFrame, threshold: float = 0.8) -> NearDuplicates:
    """Pairs of documents whose word 5-grams overlap at `threshold` or more (Jaccard).

    MinHash proposes, the exact overlap decides: what is listed is certain, a pair at the very threshold may be missed.
    """
    if not 0 < threshold <= 1:
        raise ConfigError(f"A similarity of {threshold:g}: must be above 0 and at most 1, for example 0.8.")
    try:
        from datasketch import MinHash, MinHashLSH
    except ImportError:
        raise NotInstalled("Finding near-duplicate documents", "dedup") from None
    index = MinHashLSH(threshold=max(0.1, threshold - 0.1), num_perm=PERMUTATIONS)
    shingles: dict[str, Shingles] = {}
    found: list[tuple[str, str, float]] = []
    for doc_id, text in _documents(sentences):
        mine = _shingles(text)
        if not len(mine):
            continue
        sketch = MinHash(num_perm=PERMUTATIONS, seed=1, hashfunc=int)
        sketch.update_batch(mine & np.uint64(0xFFFFFFFF))
        for other in index.query(sketch):
            similarity = _jaccard(mine, shingles[other])
            if similarity >= threshold:
                found.append((other, doc_id, similarity))
        index.insert(doc_id, sketch)
        shingles[doc_id] = mine
    schema = {"left": pl.String, "right": pl.String, "similarity": pl.Float64}
    pairs = pl.DataFrame(found, schema=schema, orient="row").sort("left", "right")
    return NearDuplicates(threshold=threshold, pairs=pairs)


def _documents(sentences: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """(doc_id, text) by rising id, so that left < right."""
    rows = (
        sentences.sort("doc_id", "sent_idx").group_by("doc_id", maintain_order=True).agg(pl.col("text").str.join(" "))
    )
    return rows.iter_rows()


def _shingles(text: str) -> Shingles:
    """Hashes of the word 5-grams, sorted; a shorter text is one shingle."""
    words = _WORD.findall(text.casefold())
    last = max(1, len(words) - SHINGLE + 1) if words else 0
    grams = (" ".join(words[i : i + SHINGLE]).encode() for i in range(last))
    digests = b"".join(hashlib.blake2b(gram, digest_size=8).digest() for gram in grams)
    return np.unique(np.frombuffer(digests, dtype=np.uint64))


def _jaccard(left: Shingles, right: Shingles) -> float:
    shared = len(np.intersect1d(left, right, assume_unique=True))
    return shared / (len(left) + len(right) - shared)
