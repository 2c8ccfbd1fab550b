"""The last word: nothing is learned here, because the stages err differently and a mean suffices."""

from __future__ import annotations

import numpy as np

from probative import segments
from probative.segments import FloatArray, IntArray
from probative.types import Floats, Inputs, Scores

ORDERS = ("linear", "rerank", "rerank_node", "graph", "graph_node")
LOG_ODDS = ("linear", "rerank_node", "graph_node")
FIRST = ("retrieve", "dense", "bm25")
"""What is left when no stage has learned anything."""
NOTHING = -20.0


def fuse(inputs: Inputs) -> Scores:
    """Rank by the mean log-share of the stages' scores; node and gate are means of log-odds.

    The gate counts the gates of all stages and, as one more, the best candidate's mean log-odds.
    """
    offsets = inputs.view.offsets
    orders = _present(inputs, ORDERS) or _present(inputs, FIRST)[:1]
    rank = _mean([log_share(values, offsets) for values in orders], inputs.view.n_rows)
    odds = _present(inputs, LOG_ODDS)
    node = _mean(odds, inputs.view.n_rows) if odds else None
    gates = [np.asarray(inputs.gates[name], dtype=np.float64) for name in sorted(inputs.gates)]
    if node is not None:
        gates.append(segments.maximum(node, offsets, empty=NOTHING))
    return Scores(rank=rank, node=node, gate=_mean(gates, inputs.view.n_queries) if gates else None)


def last_word(inputs: Inputs) -> Scores:
    """The last stage's own ranking, node and gate; without a gate of its own, its best candidate."""
    stage = next(name for name in ("graph", "rerank", "retrieve") if name in inputs.scores)
    node = _present(inputs, (f"{stage}_node", "linear"))
    gate = inputs.gates.get(stage)
    if gate is None and node:
        gate = segments.maximum(node[0], inputs.view.offsets, empty=NOTHING)
    return Scores(rank=inputs.scores[stage], node=node[0] if node else None, gate=gate)


def log_share(score: Floats, offsets: IntArray) -> FloatArray:
    """(N,) log of the softmax of each query's scores: scores of any stage on one scale."""
    values = np.asarray(score, dtype=np.float64)
    query = segments.owner(offsets)
    lowered = values - segments.maximum(values, offsets)[query]
    return np.asarray(lowered - np.log(segments.total(np.exp(lowered), offsets))[query], dtype=np.float64)


def _present(inputs: Inputs, names: tuple[str, ...]) -> list[FloatArray]:
    return [np.asarray(inputs.scores[name], dtype=np.float64) for name in names if name in inputs.scores]


def _mean(arrays: list[FloatArray], size: int) -> FloatArray:
    total = np.zeros(size)
    for array in arrays:
        total = total + array
    return total / max(len(arrays), 1)
