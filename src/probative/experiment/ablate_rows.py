"""The configurations of an ablation, and their predictions as the evaluation's table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from probative import segments
from probative.decide import Calibrator, Decider, Policy, equal_mean, select, sigmoid
from probative.evaluation.predictions import Predictions, Selection
from probative.experiment.ablate_scene import LINEAR, NO_EDGES, NO_GRAPH, WHOLE, Scene
from probative.experiment.settings import RunSettings
from probative.pipeline.pipeline import fit_decider
from probative.pipeline.ranking import Ranking, best_candidate, rank, rankings
from probative.segments import BoolArray, FloatArray, IntArray
from probative.types import Inputs

SHOWN = "raw"
"""The evaluation's name for what a configuration shows, whatever it is that decides it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One row: which ranking, which gate, and what decides how much is shown."""

    name: str
    label: str
    order: str
    """A stage with a ranking of its own, `linear`, or `final`: the last word."""
    gate: str
    """`best:STAGE` is the best candidate's score; otherwise the name of a gate."""
    shows: str = "fixed"
    """fixed, policy, gate or triage."""
    base: str | None = None
    variant: str = WHOLE

    @property
    def mode(self) -> str:
        return {"gate": "gate", "triage": "triage"}.get(self.shows, "raw")


def steps(settings: RunSettings, made: Collection[str]) -> list[Configuration]:
    """The rows that these settings and variants have, each with the row that it is compared with."""
    rerank, graph = settings.rerank.kind != "none", settings.graph.on and settings.graph.rank.on
    found = [Configuration(name="retrieve", label="retriever only", order="retrieve", gate="best:retrieve")]

    def add(name: str, label: str, order: str, gate: str, shows: str = "fixed") -> None:
        base = found[-1].name
        found.append(Configuration(name=name, label=label, order=order, gate=gate, shows=shows, base=base))

    if rerank:
        add("rerank", "+ reranker", "rerank", "best:rerank")
    if graph:
        add("graph", "+ graph reranker (P3)", "graph", "best:graph")
    if settings.final == "mean" and (rerank or settings.graph.on):
        add("fusion", "+ mean of all stages", "final", "best:final")
    order, best = found[-1].order, found[-1].gate
    add("dynamic_k", "+ dynamic K (P2)", order, best, "policy")
    add("gate", "+ no-evidence gate (P4)", order, "final", "gate")
    add("triage", "+ three-state triage", order, "final", "triage")
    return [*found, *_further(settings, made)]


def _further(settings: RunSettings, made: Collection[str]) -> list[Configuration]:
    linear = {"order": "linear", "gate": "best:linear", "base": "retrieve"}
    rows = []
    if settings.rerank.kind == "lambdarank" or LINEAR in made:
        variant = LINEAR if LINEAR in made else WHOLE
        rows.append(Configuration(name="linear", label="linear model alone", variant=variant, **linear))
    if NO_EDGES in made and settings.graph.rank.on:
        label = "graph reranker, all edges removed"
        rows.append(
            Configuration(
                name="graph_no_edges", label=label, order="graph", gate="best:graph", base="graph", variant=NO_EDGES
            )
        )
    whole = {"order": "final", "gate": "final", "shows": "triage", "base": "triage"}
    if NO_EDGES in made:
        label = "whole system, all edges removed"
        rows.append(Configuration(name="whole_no_edges", label=label, variant=NO_EDGES, **whole))
    if NO_GRAPH in made:
        label = "whole system without the graph stage"
        rows.append(Configuration(name="whole_no_graph", label=label, variant=NO_GRAPH, **whole))
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One configuration on one fold."""

    scene: Scene
    ranking: Ranking
    prob: FloatArray
    prob_raw: FloatArray
    size: IntArray
    predicted: BoolArray | None = None
    state: IntArray | None = None
    tau_neg: float | None = None
    tau_pos: float | None = None


def judge(row: Configuration, scene: Scene, settings: RunSettings) -> Judged:
    """The configuration's ranking, probabilities and selection on one fold."""
    inputs = scene.evaluation
    ranking = order_of(inputs, row.order)
    raw = policy_sizes(inputs, settings.decide.policy.raw())
    if row.gate.startswith("best:"):
        gate = gate_of(inputs, row.gate)
        size = raw if row.shows == "policy" else equal_mean(raw, segments.lengths(inputs.view.offsets))
        prob = calibrator(scene.tune, row.gate).predict(gate)
        return Judged(scene=scene, ranking=ranking, prob=prob, prob_raw=sigmoid(gate), size=size)
    decider: Decider = fit_decider(scene.scored, settings)
    node = sigmoid(inputs.scores["final_node"])
    decided = decider.decide(inputs.gates["final"], ranking.order, node, inputs.pool, inputs.view.offsets)
    triaged = row.shows == "triage"
    return Judged(
        scene=scene,
        ranking=ranking,
        prob=decided.prob,
        prob_raw=decided.prob_raw,
        size=decided.size["triage" if triaged else "gate"],
        predicted=decided.predicted,
        state=decided.state if triaged else None,
        tau_neg=decided.tau_neg if triaged else None,
        tau_pos=decided.tau_pos if triaged else None,
    )


def order_of(inputs: Inputs, name: str) -> Ranking:
    """The full order of the candidates by one stage, or by the linear model behind the retriever."""
    if name != "linear":
        return rankings(inputs)[name]
    return rank(inputs.scores["linear"], rankings(inputs)["retrieve"].rank, inputs.pool, inputs.view.offsets)


def gate_of(inputs: Inputs, name: str) -> FloatArray:
    """(Q,) log-odds, or a score in their place."""
    if not name.startswith("best:"):
        return np.asarray(inputs.gates[name], dtype=np.float64)
    stage = name.removeprefix("best:")
    if stage in ("final", "linear"):
        values = np.asarray(inputs.scores["final_node" if stage == "final" else stage], dtype=np.float64)
        return segments.maximum(values, inputs.view.offsets, empty=float(values.min(initial=0.0)))
    return best_candidate(inputs, stage)


def calibrator(tune: Inputs, gate: str) -> Calibrator:
    """Probabilities from a gate, learned on TUNE."""
    if tune.view.has_evidence is None:
        raise ValueError("TUNE must hold its gold")
    documents = np.asarray(tune.view.doc_ids)[tune.view.query_doc]
    return Calibrator().fit(gate_of(tune, gate), tune.view.has_evidence, documents)


def policy_sizes(inputs: Inputs, policy: Policy) -> IntArray:
    """(Q,) how many sentences a policy shows of the final ranking."""
    node = sigmoid(inputs.scores["final_node"])
    return select(rankings(inputs)["final"].order, node, inputs.pool, inputs.view.offsets, policy)


def table(judged: Sequence[Judged], *, excluded: Collection[str] = (), drop: Collection[str] = ()) -> Predictions:
    """All folds as one table; `drop` leaves the queries of some criteria out."""
    doc_ids = sorted({name for one in judged for name in one.scene.evaluation.view.doc_ids})
    kept = {name for one in judged for name in one.scene.evaluation.view.criterion_ids} - set(drop)
    criterion_ids = sorted(kept)
    pieces = [_piece(one, doc_ids, criterion_ids) for one in judged]
    whole = {name: _concatenated([p.columns.get(name) for p in pieces]) for name in pieces[0].columns}
    keys = (whole["fold"], whole["criterion"], whole["doc"])
    order = np.lexsort(keys)  # type: ignore[arg-type]
    lengths = np.concatenate([segments.lengths(p.offsets) for p in pieces])
    offsets = segments.from_lengths(lengths)
    columns = {name: None if values is None else values[order] for name, values in whole.items()}
    size, hits = columns.pop("size"), columns.pop("hits")
    return Predictions(
        doc_ids=tuple(doc_ids),
        criterion_ids=tuple(criterion_ids),
        gold_offsets=segments.from_lengths(lengths[order]),
        gold_rank=np.concatenate([p.gold_rank for p in pieces])[segments.rows(offsets, order)],
        selections={SHOWN: Selection(size=size, hits=hits)},  # type: ignore[arg-type]
        excluded=frozenset(excluded) - set(drop),
        **columns,  # type: ignore[arg-type]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    columns: dict[str, np.ndarray | None]
    offsets: IntArray
    gold_rank: IntArray


def _piece(one: Judged, doc_ids: Sequence[str], criterion_ids: Sequence[str]) -> _Piece:
    view = one.scene.evaluation.view
    if view.gold is None or view.has_evidence is None:
        raise ValueError("this view holds no gold")
    n = view.n_queries
    doc_place = np.searchsorted(np.array(doc_ids), np.array(view.doc_ids))
    known = {name: place for place, name in enumerate(criterion_ids)}
    criterion = np.array([known.get(name, -1) for name in view.criterion_ids])[view.query_criterion]
    shown = one.ranking.rank <= one.size[view.query]
    gold_size = segments.total(view.gold, view.offsets).astype(np.int64)

    def number(value: float | None) -> FloatArray | None:
        return None if value is None else np.full(n, value)

    columns = {
        "doc": doc_place[view.query_doc].astype(np.int64),
        "criterion": criterion.astype(np.int64),
        "fold": np.full(n, one.scene.fold, dtype=np.int64),
        "n_candidates": segments.lengths(view.offsets),
        "n_ranked": segments.lengths(view.offsets),
        "positive": view.has_evidence,
        "located": gold_size > 0,
        "prob": one.prob,
        "prob_raw": one.prob_raw,
        "prior": one.scene.prior,
        "predicted": one.predicted,
        "state": one.state,
        "tau_neg": number(one.tau_neg),
        "tau_pos": number(one.tau_pos),
        "size": one.size,
        "hits": segments.total(view.gold & shown, view.offsets).astype(np.int64),
    }
    keep = np.flatnonzero(criterion >= 0)
    gold_offsets = segments.from_lengths(gold_size)
    gold_rank = one.ranking.rank[view.gold][segments.rows(gold_offsets, keep)]
    return _Piece(
        columns={name: None if values is None else values[keep] for name, values in columns.items()},
        offsets=segments.from_lengths(gold_size[keep]),
        gold_rank=gold_rank,
    )


def _concatenated(arrays: Sequence[np.ndarray | None]) -> np.ndarray | None:
    there = [values for values in arrays if values is not None]
    return np.concatenate(there) if len(there) == len(arrays) else None


def with_gate(predictions: Predictions, prob: FloatArray) -> Predictions:
    """The same queries judged by another gate alone."""
    return replace(predictions, prob=prob, prob_raw=None, predicted=None, state=None, tau_neg=None, tau_pos=None)
