"""Ranking metrics: recall, precision, hit, MRR, MAP and nDCG at five cutoffs, over all queries."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.data import Data, Shape, simulate
from benchmarks.timing import agree, seconds, timed
from probative.metrics.ranking import evaluate_ranking

KS = (1, 3, 5, 10, 20)
Values = dict[str, float]
Row = tuple[str, str, str, str]
LARGE = 50_000
"""With more queries than this a peer is timed once."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A library's call, and how to read what it returns."""

    name: str
    call: Callable[[], Any]
    read: Callable[[Any], Values]
    over_all: bool = False
    """Its means count queries without gold as 0."""
    build: float = 0.0


def ours(data: Data) -> tuple[Values, Values]:
    """The means over queries with gold, and over all."""
    values = evaluate_ranking(data.scores.ravel(), data.gold.ravel(), data.offsets, KS)
    return {name: pair[0] for name, pair in values.items()}, {name: pair[1] for name, pair in values.items()}


def _trec_name(measure: str) -> str:
    name, _, k = measure.rpartition("_")
    families = {"P": "precision", "recall": "recall", "success": "hit", "map_cut": "map_gold", "ndcg_cut": "ndcg"}
    return "mrr" if measure == "recip_rank" else f"{families[name]}@{k}"


def pytrec_eval(data: Data) -> Peer:
    """It takes the whole run and skips the queries that the qrels do not name, which are those without gold."""
    import pytrec_eval as peer

    cuts = ",".join(map(str, KS))
    measures = {f"{family}.{cuts}" for family in ("P", "recall", "success", "map_cut", "ndcg_cut")} | {"recip_rank"}
    evaluator = peer.RelevanceEvaluator(data.qrels, measures)
    run = data.run

    def read(results: dict[str, dict[str, float]]) -> Values:
        first = next(iter(results.values()))
        return {_trec_name(name): float(np.mean([row[name] for row in results.values()])) for name in first}

    return Peer(name="pytrec_eval", call=lambda: evaluator.evaluate(run), read=read)


def ranx(data: Data) -> Peer:
    """It averages queries without gold in, as 0. Its build turns dictionaries into typed lists."""
    import ranx as peer

    families = {"recall": "recall", "precision": "precision", "hit_rate": "hit", "map": "map_gold", "ndcg": "ndcg"}
    names = {f"{family}@{k}": f"{name}@{k}" for family, name in families.items() for k in KS} | {"mrr": "mrr"}
    tiny = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.evaluate(peer.Qrels(tiny[0]), peer.Run(tiny[1]), list(names))  # compiles; never timed
        build, (qrels, run) = timed(lambda: (peer.Qrels(data.judged), peer.Run(data.run)))

    def read(results: dict[str, float]) -> Values:
        return {names[name]: float(value) for name, value in results.items()}

    call = lambda: peer.evaluate(qrels, run, list(names))  # noqa: E731 - a record's field, not a function of its own
    return Peer(name="ranx, warm", call=call, read=read, over_all=True, build=build)


def ir_measures(data: Data) -> Peer:
    """It skips queries without gold, like the programs it calls."""
    import ir_measures as peer
    from ir_measures import AP, RR, P, R, Success, nDCG

    measures = {RR: "mrr"}
    for k in KS:
        measures |= {R @ k: f"recall@{k}", P @ k: f"precision@{k}", Success @ k: f"hit@{k}"}
        measures |= {AP @ k: f"map_gold@{k}", nDCG @ k: f"ndcg@{k}"}
    qrels, run = data.qrels, data.run

    def read(results: dict[Any, float]) -> Values:
        return {measures[measure]: float(value) for measure, value in results.items()}

    return Peer(name="ir_measures", call=lambda: peer.calc_aggregate(list(measures), qrels, run), read=read)


def sklearn_ndcg(data: Data) -> Peer:
    """One metric of the six, by its fast path for scores without ties; queries without gold count 0."""
    from sklearn.metrics import ndcg_score

    gold, scores = data.gold.astype(np.float64), data.scores

    def read(found: dict[int, float]) -> Values:
        return {f"ndcg@{k}": float(value) for k, value in found.items()}

    call = lambda: {k: ndcg_score(gold, scores, k=k, ignore_ties=True) for k in KS}  # noqa: E731 - as above
    return Peer(name="scikit-learn, nDCG only", call=call, read=read, over_all=True)


def compare(shape: Shape, *, slow: bool) -> Iterable[Row]:
    """One row a library: time, values that agree, ratio to ours."""
    data = simulate(shape)
    mine, (positives, everything) = timed(lambda: ours(data), repeat=7)
    yield "probative", seconds(mine), "–", "1"
    makers = [pytrec_eval, ranx, *([ir_measures] if slow else []), sklearn_ndcg]
    for make in makers:
        peer = make(data)
        theirs, result = timed(peer.call, repeat=1 if shape.queries > LARGE else 3)
        checked = agree(peer.name, everything if peer.over_all else positives, peer.read(result))
        yield peer.name, seconds(theirs), str(checked), f"{theirs / mine:.0f}"
        if peer.build:
            total = theirs + peer.build
            yield f"{peer.name}, with its build", seconds(total), str(checked), f"{total / mine:.0f}"
