"""What one fold leaves behind: tables of its EVAL queries and candidates, without gold, and of its TUNE queries."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from probative import segments
from probative.decide import Calibrator, Decider, Decisions, sigmoid
from probative.experiment import lists
from probative.pipeline.ranking import Ranking, best_candidate, rankings
from probative.segments import BoolArray, FloatArray
from probative.types import Inputs, State, View


def _keys(view: View, fold: int) -> dict[str, pl.Series]:
    return {
        "fold": pl.Series(np.full(view.n_queries, fold)),
        "doc_id": lists.names(view.doc_ids).gather(view.query_doc),
        "criterion_id": lists.names(view.criterion_ids).gather(view.query_criterion),
    }


def _uids(view: View, ranking: Ranking, keep: BoolArray | None = None) -> pl.Series:
    """Candidate uids in ranking order, all of them or those that `keep` marks."""
    rows = ranking.order if keep is None else ranking.order[keep[ranking.order]]
    offsets = (
        view.offsets if keep is None else segments.from_lengths(segments.total(keep, view.offsets).astype(np.int64))
    )
    return lists.column(lists.names(view.sent_uids).gather(view.sentence[rows]), offsets)


def queries(inputs: Inputs, ranking: Ranking, decided: Decisions, prior: FloatArray, fold: int) -> pl.DataFrame:
    """The per_query table of the whole system, gold left out."""
    view = inputs.view
    scores = pl.Series(ranking.score[ranking.order].astype(np.float32))
    table = {
        **_keys(view, fold),
        "ranked_uids": _uids(view, ranking),
        "prob_raw": pl.Series(decided.prob_raw),
        "prob": pl.Series(decided.prob),
        "prior": pl.Series(prior),
        "threshold": _number(decided.threshold, view.n_queries),
        "predicted": pl.Series(decided.predicted.astype(np.int8)),
        "tau_neg": _number(decided.tau_neg, view.n_queries),
        "tau_pos": _number(decided.tau_pos, view.n_queries),
        "state": lists.names([str(state) for state in State]).gather(decided.state),
        "n_candidates": pl.Series(np.diff(view.offsets)),
        "pool_uids": _uids(view, ranking, inputs.pool),
        "ranked_scores": lists.column(scores, view.offsets),
    }
    for mode in decided.size:
        table[f"selected_{mode}"] = _uids(view, ranking, decided.selected(mode))
    for budget, threshold in decided.budget_thresholds.items():
        table[f"threshold@fpr={budget}"] = _number(threshold, view.n_queries)
    return pl.DataFrame(table)


def _number(value: float | None, n: int) -> pl.Series:
    return pl.Series([value] * n, dtype=pl.Float64)


def candidates(inputs: Inputs, ranking: Ranking, fold: int) -> pl.DataFrame:
    """One row a candidate, in ranking order, gold left out."""
    view = inputs.view
    rows = ranking.order
    keys = _keys(view, fold)
    query = view.query[rows]
    table = {name: column.gather(query) for name, column in keys.items()}
    table["sent_uid"] = lists.names(view.sent_uids).gather(view.sentence[rows])
    columns = {
        "retriever_score": "retrieve",
        "reranker_score": "rerank",
        "graph_score": "graph",
        "node_prob": "final_node",
    }
    for column, name in columns.items():
        values = inputs.scores.get(name)
        if values is None:
            table[column] = pl.Series([None] * len(rows), dtype=pl.Float32)
        else:
            values = sigmoid(values) if column == "node_prob" else values
            table[column] = pl.Series(values[rows].astype(np.float32))
    table["rank"] = pl.Series(ranking.rank[rows].astype(np.int32))
    table["in_pool"] = pl.Series(np.ones(len(rows), dtype=bool) if inputs.pool is None else inputs.pool[rows])
    return pl.DataFrame(table)


def stages(tune: Inputs, evaluation: Inputs, labels: BoolArray, fold: int) -> dict[str, pl.DataFrame]:
    """A per_query table for every stage: its own ranking, and its best candidate calibrated on TUNE as the gate."""
    groups = np.asarray(tune.view.doc_ids)[tune.view.query_doc]
    made: dict[str, pl.DataFrame] = {}
    for stage, ranking in rankings(evaluation).items():
        if stage == "final":
            continue
        calibrator = Calibrator().fit(best_candidate(tune, stage), labels, groups)
        gate = best_candidate(evaluation, stage)
        table = {**_keys(evaluation.view, fold), "ranked_uids": _uids(evaluation.view, ranking)}
        table |= {"prob_raw": pl.Series(sigmoid(gate)), "prob": pl.Series(calibrator.predict(gate))}
        made[stage] = pl.DataFrame(table)
    return made


def tune_queries(tune: Inputs, decider: Decider, labels: BoolArray, fold: int) -> pl.DataFrame:
    """What calibration and thresholds were chosen from."""
    gate = tune.gates["final"]
    table = {
        **_keys(tune.view, fold),
        "prob_raw": pl.Series(sigmoid(gate)),
        "prob": pl.Series(decider.calibrator_.predict(gate)),
        "has_evidence": pl.Series(labels.astype(np.int8)),
    }
    return pl.DataFrame(table)


def prior(rates: Mapping[str, float], overall: float, view: View) -> FloatArray:
    """(Q,) the criterion's rate on TRAIN, TRAIN's overall rate where the criterion is not in it."""
    per_criterion = np.array([rates.get(cid, overall) for cid in view.criterion_ids], dtype=np.float64)
    return per_criterion[view.query_criterion]


def rates(view: View) -> tuple[dict[str, float], float]:
    """The share of queries with evidence, by criterion and overall."""
    if view.has_evidence is None:
        raise ValueError("this view holds no gold")
    asked = np.bincount(view.query_criterion, minlength=len(view.criterion_ids))
    found = np.bincount(view.query_criterion, weights=view.has_evidence, minlength=len(view.criterion_ids))
    return dict(zip(view.criterion_ids, (found / asked).tolist(), strict=True)), float(view.has_evidence.mean())
