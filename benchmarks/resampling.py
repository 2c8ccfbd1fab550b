"""Document resamples of nine statistics, beside loops over scikit-learn and scipy.stats.bootstrap."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Data, Shape, per_query, simulate
from benchmarks.detection import sklearn
from benchmarks.ranking import Row
from benchmarks.timing import Disagreement, agree, seconds, timed
from probative.evaluation.bootstrap import Measured, estimate, measure
from probative.evaluation.curve import Curve, Part
from probative.evaluation.cut import Cut, Prepared
from probative.evaluation.engine import FINAL, Stage
from probative.evaluation.readers import read_any
from probative.evaluation.resample import Draw, units
from probative.evaluation.scopes import scopes
from probative.evaluation.settings import EvaluateSettings
from probative.metrics import calibration

RESAMPLES = 10_000
NINE = ("auroc", "auprc", "tpr@fpr=0.01", "tpr@fpr=0.03", "tpr@fpr=0.05", "tpr@fpr=0.1", "brier", "ece", "ndcg@10")
SINGLE = 2e-5
"""Resamples are single precision."""


@dataclass(frozen=True, kw_only=True)
class Engine:
    """The engine's parts on the data, and its draw."""

    stage: Stage
    settings: EvaluateSettings

    @classmethod
    def on(cls, data: Data) -> Engine:
        predictions = read_any(per_query(data)).predictions
        settings = EvaluateSettings(bootstrap=RESAMPLES)
        prepared = Prepared(predictions=predictions, units=units(predictions))
        return cls(
            stage=Stage(name="final", prepared=prepared, families=FINAL, draw=None, settings=settings),
            settings=settings,
        )

    def draw(self) -> Draw:
        return Draw(self.stage.prepared.units.stratum, RESAMPLES, self.settings.seed)

    def nine(self) -> Measured:
        """Nine statistics with their intervals, from the predictions on."""
        cut, parts = self._nine_parts()
        measured = measure(parts, cut.units, self.draw())
        estimate(measured, self.settings.level)
        return measured

    def _nine_parts(self) -> tuple[Cut, list[Part]]:
        families = frozenset({"ranking", "detection", "calibration"})
        stage = Stage(name="final", prepared=self.stage.prepared, families=families, draw=None, settings=self.settings)
        cut, (totals, *others) = stage.parts(np.arange(self.stage.prepared.predictions.n_queries))
        wanted = [key for key in totals.keys if key.id in NINE and key.population in ("all_queries", "positives_only")]
        wanted = [key for key in wanted if (key.id == "ndcg@10") == (key.population == "positives_only")]
        curves = [part for part in others if isinstance(part, Curve) and part.budgets]
        return cut, [totals.only(wanted), *curves]  # type: ignore[attr-defined]

    def resampled(self, weights: NDArray[np.float32]) -> dict[str, NDArray[Any]]:
        """The nine statistics under given document weights."""
        _, parts = self._nine_parts()
        return {
            key.id: row
            for part in parts
            for key, row in zip(part.keys, part.resampled(weights), strict=True)
            if key.id in NINE
        }

    def everything(self, draw: Draw) -> int:
        """Every id with its interval, pooled and per criterion; the number of intervals."""
        predictions = self.stage.prepared.predictions
        stage = Stage(name="final", prepared=self.stage.prepared, families=FINAL, draw=draw, settings=self.settings)
        count = 0
        for scope in scopes(predictions, np.ones(predictions.n_queries, dtype=bool), criteria=True):
            if scope.kind in ("pooled", "criterion"):
                found = estimate(stage.measure(scope), self.settings.level).intervals
                count += 0 if found is None else int(np.isfinite(found.low).sum())
        return count


def nine_by_sklearn(data: Data) -> dict[str, float]:
    """The same nine with scikit-learn, and NumPy for what it lacks."""
    from sklearn.metrics import brier_score_loss, ndcg_score

    y, p = data.positive, data.prob
    at = np.flatnonzero(y)
    return {
        **sklearn(data),
        "brier": float(brier_score_loss(y, p)),
        "ece": calibration.ece(y, p),
        "ndcg@10": float(ndcg_score(data.gold[at].astype(np.float64), data.scores[at], k=10)),
    }


def taken(data: Data, rows: NDArray[np.int64]) -> Data:
    """The data of a resample."""
    return Data(
        shape=data.shape,
        scores=data.scores[rows],
        gold=data.gold[rows],
        positive=data.positive[rows],
        prob=data.prob[rows],
        document=data.document[rows],
    )


def sklearn_loop(data: Data, resamples: int) -> float:
    """Seconds of a loop that draws documents and computes the nine again."""
    rows_of = np.split(np.arange(data.shape.queries), np.flatnonzero(np.diff(data.document)) + 1)
    rng = np.random.default_rng(0)

    def loop() -> None:
        for _ in range(resamples):
            drawn = rng.integers(0, len(rows_of), len(rows_of))
            nine_by_sklearn(taken(data, np.concatenate([rows_of[i] for i in drawn])))

    return timed(loop)[0]


def scipy_bootstrap(data: Data, resamples: int) -> float:
    """Seconds of scipy.stats.bootstrap on one statistic, AUROC, by query: it cannot draw documents."""
    from scipy.stats import bootstrap
    from sklearn.metrics import roc_auc_score

    def call() -> None:
        bootstrap(
            (data.positive, data.prob),
            lambda y, p: float(roc_auc_score(y, p)),
            paired=True,
            vectorized=False,
            n_resamples=resamples,
            method="percentile",
            rng=np.random.default_rng(0),
        )

    return timed(call)[0]


def check(data: Data, engine: Engine) -> int:
    """The nine agree to 1e-9, and so do three resamples, to single precision."""
    measured = engine.nine()
    ours = {key.id: float(value) for key, value in zip(measured.keys, measured.values, strict=True) if key.id in NINE}
    checked = agree("scikit-learn", ours, nine_by_sklearn(data))
    weights = engine.draw().block(0)[:, :3]
    resampled = engine.resampled(weights)
    for column in range(3):
        again = np.repeat(np.arange(data.shape.queries), weights[data.document, column].astype(np.int64))
        for name, value in nine_by_sklearn(taken(data, again)).items():
            if abs(float(resampled[name][column]) - value) > SINGLE:
                raise Disagreement(f"resample {column}, {name}: {value!r}, ours {resampled[name][column]!r}")
    return checked


def compare(shape: Shape, loops: int) -> Iterable[Row]:
    """Times of 10,000 resamples; peers' loops run `loops` times and are scaled."""
    data = simulate(shape)
    engine = Engine.on(data)
    checked = check(data, engine)
    mine, _ = timed(engine.nine, repeat=3)
    yield "probative, nine statistics", seconds(mine), "–", "1"
    whole, count = timed(lambda: engine.everything(engine.draw()), repeat=3)
    yield f"probative, all {count:,} pooled and per-criterion intervals", seconds(whole), "–", f"{whole / mine:.1f}"
    scale = RESAMPLES / loops
    note = "" if scale == 1 else f", from {loops:,}"
    theirs = sklearn_loop(data, loops) * scale
    yield f"scikit-learn loop, the same nine{note}", seconds(theirs), str(checked), f"{theirs / mine:.0f}"
    one = scipy_bootstrap(data, loops) * scale
    yield f"scipy.stats.bootstrap, AUROC alone, by query{note}", seconds(one), "–", f"{one / mine:.0f}"
