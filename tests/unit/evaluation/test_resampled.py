"""A weight of two is the document standing there twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from probative.evaluation.cut import Prepared
from probative.evaluation.engine import FINAL, Stage
from probative.evaluation.predictions import Predictions, Selection
from probative.evaluation.resample import Draw, units
from probative.evaluation.settings import EvaluateSettings
from probative.segments import IntArray

SETTINGS = EvaluateSettings(bootstrap=0)
RELATIVES = ("aurc", "auroc_candidates", "auprc_candidates", "ece_equalmass", "calibration_")
"""These resample a close relative of themselves."""
FIXED = ("k_min", "k_max", "curve_threshold", "auroc_within", "auprc_within")
"""No interval, or the criteria that count are chosen once."""


def predictions(documents: int = 25, criteria: int = 4) -> Predictions:
    rng = np.random.default_rng(4)
    n = documents * criteria
    positive = rng.random(n) < 0.5
    gold = np.where(positive, rng.integers(1, 4, n), 0)
    prob = np.round(np.clip(rng.normal(0.35 + 0.3 * positive, 0.25), 0, 1), 1)
    state = np.where(prob < 0.2, 0, np.where(prob < 0.6, 1, 2))
    doc = np.repeat(np.arange(documents), criteria)
    candidates = rng.integers(3, 25, documents)[doc]
    offsets = np.concatenate([[0], np.cumsum(gold)])
    row_offsets = np.concatenate([[0], np.cumsum(candidates)])
    rank = np.concatenate([rng.permutation(np.arange(c + 1))[:g] for c, g in zip(candidates, gold, strict=True)])
    size = rng.integers(0, 6, n)
    return Predictions(
        doc_ids=tuple(f"d{i:02d}" for i in range(documents)),
        criterion_ids=tuple(f"c{i}" for i in range(criteria)),
        doc=doc,
        criterion=np.tile(np.arange(criteria), documents),
        fold=doc % 3,
        n_candidates=candidates,
        n_ranked=candidates,
        gold_offsets=offsets,
        gold_rank=rank,
        gold_in_pool=rng.random(len(rank)) < 0.7,
        positive=positive,
        located=gold > 0,
        prob=prob,
        prob_raw=np.round(prob * 0.8, 1),
        prior=np.full(n, 0.4),
        predicted=prob >= 0.5,
        state=state,
        selections={"triage": Selection(size=size * (state > 0), hits=np.minimum(size * (state > 0), gold))},
        budget_thresholds={"0.05": np.full(n, 0.7)},
        row_offsets=row_offsets,
        row_score=np.round(rng.random(row_offsets[-1]), 1),
        row_gold=rng.random(row_offsets[-1]) < 0.1,
    )


def repeated(p: Predictions, times: IntArray) -> Predictions:
    """The same with every document standing there so many times, under new names."""
    order = [q for d, t in enumerate(times) for _ in range(int(t)) for q in np.flatnonzero(p.doc == d)]
    names = [d for d, t in enumerate(times) for _ in range(int(t))]
    rows = np.array(order)
    gold = np.concatenate([np.arange(p.gold_offsets[q], p.gold_offsets[q + 1]) for q in order])
    per_query = ("criterion", "fold", "n_candidates", "n_ranked", "positive", "located", "prob", "prob_raw", "prior")
    assert p.gold_in_pool is not None
    return replace(
        p,
        doc_ids=tuple(f"d{i:02d}" for i in range(len(names))),
        doc=np.repeat(np.arange(len(names)), len(p.criterion_ids)),
        gold_offsets=np.concatenate([[0], np.cumsum(np.diff(p.gold_offsets)[rows])]),
        gold_rank=p.gold_rank[gold],
        gold_in_pool=p.gold_in_pool[gold],
        predicted=p.predicted[rows] if p.predicted is not None else None,
        state=p.state[rows] if p.state is not None else None,
        selections={m: Selection(size=s.size[rows], hits=s.hits[rows]) for m, s in p.selections.items()},
        budget_thresholds={alpha: values[rows] for alpha, values in p.budget_thresholds.items()},
        row_offsets=None,
        row_score=None,
        row_gold=None,
        **{name: getattr(p, name)[rows] for name in per_query},
    )


def stage(p: Predictions) -> Stage:
    prepared = Prepared(predictions=p, units=units(p))
    return Stage(name="final", prepared=prepared, families=FINAL, draw=None, settings=SETTINGS)


@pytest.mark.parametrize("column", [0, 1])
def test_a_resample_is_the_value_of_the_repeated_documents(column: int) -> None:
    p = predictions()
    weights = Draw(units(p).stratum, 2, 11).block(0)[:, [column]]
    by_unit = np.zeros(len(p.doc_ids), dtype=np.int64)
    by_unit[p.doc] = weights[units(p).unit, 0].astype(np.int64)
    _, parts = stage(p).parts(np.arange(p.n_queries))
    ours = {key: row[0] for part in parts for key, row in zip(part.keys, part.resampled(weights), strict=True)}
    again = repeated(p, by_unit)
    _, parts = stage(again).parts(np.arange(again.n_queries))
    values = {key: value for part in parts for key, value in zip(part.keys, part.point(), strict=True)}
    compared = 0
    for key, value in values.items():
        if not key.id.startswith((*RELATIVES, *FIXED)):
            assert value == pytest.approx(ours[key], rel=2e-5, abs=2e-5, nan_ok=True), key
            compared += 1
    assert compared > 200


def test_the_spread_of_sizes_that_hardly_differ_is_exact() -> None:
    p = predictions(documents=300)
    size = np.full(p.n_queries, 40)
    size[:5] = 39
    p = replace(p, selections={"raw": Selection(size=size, hits=np.zeros_like(size))})
    cut, parts = stage(p).parts(np.arange(p.n_queries))
    place, key = next((i, key) for i, key in enumerate(parts[0].keys) if key[:2] == ("k_std", "all_queries"))
    found = parts[0].resampled(np.ones((len(cut.units), 1), dtype=np.float32))[place, 0]
    assert found == pytest.approx(size[cut.known.rows].std(), rel=1e-6), key


@pytest.mark.parametrize("easy", [0.0, 0.97], ids=["noise", "most gold on top, the rest anywhere"])
@pytest.mark.parametrize("id", ["aurc", "auroc_candidates", "auprc_candidates"])
def test_groups_of_scores_resample_like_the_scores_themselves(
    id: str,  # noqa: A002
    easy: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    p = predictions(documents=300)
    assert p.row_gold is not None
    rng = np.random.default_rng(0)
    score = rng.random(len(p.row_gold)) + (p.row_gold & (rng.random(len(p.row_gold)) < easy))
    p = replace(p, prob=rng.random(p.n_queries), row_score=score)
    draw = Draw(units(p).stratum, 400, 3)

    def resamples(groups: int | None) -> np.ndarray:
        if groups is not None:
            monkeypatch.setattr("probative.evaluation.curve.GROUPS", groups)
            monkeypatch.setattr("probative.evaluation.of_triage.GROUPS", groups)
        _, parts = stage(p).parts(np.arange(p.n_queries))
        part = next(part for part in parts if id in [key.id for key in part.keys])
        row = [key.id for key in part.keys].index(id)
        return np.concatenate([part.resampled(weights)[row] for _, weights in draw.blocks()])

    coarse, fine = resamples(None), resamples(100_000)
    np.testing.assert_allclose(np.std(coarse), np.std(fine), rtol=0.02)
    assert np.corrcoef(coarse, fine)[0, 1] > 0.995
    assert abs(np.mean(coarse) - np.mean(fine)) < 0.1 * np.std(fine)
