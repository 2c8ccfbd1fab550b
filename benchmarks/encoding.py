"""How fast are the embedded vectors beside sentence-transformers' defaults, and what do eight bits cost?

python -m benchmarks.encoding CORPUS [--sentences 1000] [--rounds 3] [--quality] [--out benchmarks/ENCODING.md]
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import machine, timed
from probative import segments
from probative.data import Corpus
from probative.encode import EncodeSettings, encoder_for
from probative.encode.embedded import cores, model_folder
from probative.files import write_text
from probative.retrieve.dense import dense
from probative.types import Inputs, Role, View

PEER = "sentence-transformers, fp32, batches of 32"
DRAWS = 10_000
Encode = Callable[[Sequence[str]], Any]


def contestants() -> dict[str, Encode]:
    """The peer as it comes, and the embedded encoder at two precisions."""
    from sentence_transformers import SentenceTransformer

    peer = SentenceTransformer(str(model_folder()), local_files_only=True, device="cpu")
    found: dict[str, Encode] = {PEER: lambda texts: peer.encode(list(texts), batch_size=32, show_progress_bar=False)}
    for precision, threads in (("fp32", cores()), ("int8", cores()), ("int8", 1)):
        encoder = encoder_for(EncodeSettings.model_validate({"precision": precision, "threads": threads}))
        found[f"embedded, {precision}, {threads} threads"] = encoder.encode
    return found


def speed(texts: Sequence[str], rounds: int) -> Iterator[str]:
    """Every contestant once a round, so that a busy moment hits all of them."""
    encoders = contestants()
    for encode in encoders.values():
        encode(texts[:8])
    rates: dict[str, list[float]] = {name: [] for name in encoders}
    for _ in range(rounds):
        for name, encode in encoders.items():
            took, _ = timed(lambda encode=encode: encode(texts))  # type: ignore[misc]
            rates[name].append(len(texts) / took)
    words = statistics.mean(len(text.split()) for text in texts)
    yield f"{len(texts):,} sentences of {words:.0f} words on average, {rounds} rounds, {cores()} cores.\n"
    yield "| | sentences/s | × the peer of the same round |\n|---|---:|---:|"
    for name, found in rates.items():
        ratios = sorted(ours / theirs for ours, theirs in zip(found, rates[PEER], strict=True))
        spread = f"{statistics.median(ratios):.1f} ({ratios[0]:.1f}–{ratios[-1]:.1f})"
        yield f"| {name} | {statistics.median(found):.0f} | {spread} |"


def ndcg(view: View, scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """nDCG@10 of every query with gold."""
    assert view.gold is not None
    rank = segments.rank(scores, view.offsets)[view.gold]
    query = view.query[view.gold]
    gain = np.bincount(query, np.where(rank <= 10, 1 / np.log2(rank + 1.0), 0.0), minlength=view.n_queries)
    ideal = np.r_[0.0, np.cumsum(1 / np.log2(np.arange(2, 12)))]
    return (gain / ideal[np.minimum(np.maximum(segments.total(view.gold, view.offsets), 1), 10).astype(int)])[
        view.located
    ]


def quality(view: View) -> Iterator[str]:
    """Dense retrieval with eight bits against full precision: paired, documents resampled."""
    found = {}
    for precision in ("fp32", "int8"):
        encoder = encoder_for(EncodeSettings.model_validate({"precision": precision}))
        vectors = encoder.encode(view.texts), encoder.encode(view.criterion_texts, "criterion")
        inputs = Inputs(view=view, sentence_vectors=vectors[0], criterion_vectors=vectors[1])
        found[precision] = ndcg(view, dense(inputs))
    difference, document = found["int8"] - found["fp32"], view.query_doc[view.located]
    total = np.bincount(document, difference, minlength=view.n_documents)
    size = np.bincount(document, minlength=view.n_documents)
    weights = np.random.default_rng(0).multinomial(
        view.n_documents, np.full(view.n_documents, 1 / view.n_documents), DRAWS
    )
    low, high = np.percentile((weights @ total) / (weights @ size), [2.5, 97.5])
    means = ", ".join(f"{precision} {values.mean():.4f}" for precision, values in found.items())
    yield f"\nDense retrieval alone, {view.n_documents} documents, {len(difference):,} queries: nDCG@10 {means}."
    yield f"int8 − fp32, documents resampled: {difference.mean():+.4f}, 95 % interval {low:+.4f} to {high:+.4f}."


def main(arguments: Sequence[str]) -> int:
    """Speed on a sample, quality on everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quality", action="store_true", help="also encode the whole corpus twice")
    parser.add_argument("--out", type=Path, help="a page to write")
    chosen = parser.parse_args(arguments)
    corpus = Corpus.read(chosen.corpus)
    view = corpus.view(corpus.doc_ids, Role.TRAIN, gold=True)
    sample = np.random.default_rng(0).permutation(len(view.texts))[: chosen.sentences]
    lines = ["# Encoding\n", *(f"- {name}: {value}" for name, value in machine()), ""]
    for line in chain(speed([view.texts[i] for i in sample], chosen.rounds), quality(view) if chosen.quality else ()):
        print(line, flush=True)
        lines.append(line)
    if chosen.out:
        write_text(chosen.out, "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
