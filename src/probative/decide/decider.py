"""From a gate's log-odds and node probabilities to decisions with evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from probative.decide.calibrate import Calibrator
from probative.decide.dynamic_k import Policy, head_rows, select
from probative.decide.guarantee import CANDIDATES
from probative.decide.labelled import Labelled, finite
from probative.decide.logistic import sigmoid
from probative.decide.settings import DecideSettings
from probative.decide.threshold import Cuts, OperatingPoint, point_at
from probative.decide.triage import Triage, triage_by_grid, triage_by_guarantee
from probative.errors import ConfigError, ModelError
from probative.segments import BoolArray, FloatArray, IntArray

Mode = Literal["raw", "gate", "triage"]
MODES: tuple[Mode, ...] = ("raw", "gate", "triage")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """What was decided about Q queries, and which of their N rows are shown in each mode."""

    prob_raw: FloatArray
    prob: FloatArray
    predicted: BoolArray
    state: IntArray
    """0 NEG, 1 UNCERTAIN, 2 POS"""
    threshold: float | None
    tau_neg: float
    tau_pos: float
    budget_thresholds: Mapping[str, float | None]
    size: Mapping[Mode, IntArray]
    """Mode → (Q,) sentences shown."""
    rank_order: IntArray
    offsets: IntArray

    def selected(self, mode: Mode) -> BoolArray:
        """(N,) the rows shown."""
        return head_rows(self.rank_order, self.size[mode], self.offsets)


class Decider:
    """Calibration, operating thresholds, triage and dynamic K, learned on TUNE and then applied.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> document = np.repeat(np.arange(100), 5)
    >>> has_evidence = rng.random(500) < 0.3
    >>> gate = rng.normal(2.0 * has_evidence - 1.0)
    >>> decider = Decider().fit(gate, has_evidence, document)
    >>> found = decider.decide([-4.0, 5.0], np.arange(6), np.full(6, 0.5), None, np.array([0, 3, 6]))
    >>> found.state.tolist(), found.size["triage"].tolist()
    ([0, 2], [0, 3])
    """

    calibrator_: Calibrator
    operating_: OperatingPoint
    thresholds_: dict[str, OperatingPoint]
    triage_: Triage

    def __init__(self, settings: DecideSettings | None = None) -> None:
        self.settings = settings or DecideSettings()

    def fit(
        self,
        gate_logits: ArrayLike,
        labels: ArrayLike,
        groups: ArrayLike,
        *,
        candidates: ArrayLike = CANDIDATES,
        out_of_fold: bool = False,
    ) -> Self:
        """Learn from the labelled queries of TUNE; `groups` are their documents.

        `candidates` are the log-odds that the guaranteed triage tries. `out_of_fold` says that the scores come from
        several models, one an inner part: no guarantee can be issued from those.
        """
        chosen = self.settings
        if out_of_fold and chosen.triage.method == "guaranteed":
            raise ConfigError(
                "decide.triage.method: a guarantee needs TUNE documents that no model has learned from, scored by the "
                "models that will be used. Choose the holdout scheme, or triage by grid."
            )
        tune = Labelled.of(gate_logits, labels, groups)
        self.calibrator_ = Calibrator(chosen.calibration).fit(tune.score, tune.positive, groups)
        value = self.calibrator_.predict(tune.score)
        cuts = Cuts.of(tune, value)
        self.operating_ = point_at(cuts, chosen.fpr_budget)
        self.thresholds_ = {f"{budget:g}": point_at(cuts, budget) for budget in chosen.budgets}
        if chosen.triage.method == "grid":
            self.triage_ = triage_by_grid(tune.score, tune.positive, chosen.triage.targets(), values=value)
        else:
            self.triage_ = triage_by_guarantee(
                tune.score,
                tune.positive,
                groups,
                chosen.triage.targets(),
                confidence=chosen.triage.confidence,
                candidates=candidates,
                calibrate=self.calibrator_.predict,
            )
        return self

    def decide(
        self,
        gate_logits: ArrayLike,
        rank_order: IntArray,
        node_prob: FloatArray,
        pool: BoolArray | None,
        offsets: IntArray,
        n_candidates: IntArray | None = None,
    ) -> Decisions:
        """Decide about queries whose rows lie between `offsets`; see `dynamic_k.select` for the row arrays."""
        logits = finite(gate_logits, "gate_logits")
        prob = self.calibrator_.predict(logits)
        predicted, state = self.operating_.predict(prob), self.triage_.assign(prob)

        def size(policy: Policy) -> IntArray:
            return select(rank_order, node_prob, pool, offsets, policy, n_candidates)

        chosen = self.settings.policy
        raw, careful, alert = (
            size(chosen.raw()),
            size(chosen.state(chosen.states.uncertain)),
            size(chosen.state(chosen.states.pos)),
        )
        return Decisions(
            prob_raw=sigmoid(logits),
            prob=prob,
            predicted=predicted,
            state=state,
            threshold=self.operating_.value,
            tau_neg=self.triage_.tau_neg,
            tau_pos=self.triage_.tau_pos,
            budget_thresholds={name: point.value for name, point in self.thresholds_.items()},
            size={
                "raw": raw,
                "gate": np.where(predicted, raw, 0),
                "triage": np.choose(state, [np.zeros_like(raw), careful, alert]),
            },
            rank_order=rank_order,
            offsets=offsets,
        )

    def to_dict(self) -> dict[str, Any]:
        """What a run's manifest says about one fold."""
        return {
            "calibrator": self.calibrator_.to_dict(),
            "thresholds": {
                name: None if point.value is None else point.to_dict() for name, point in self.thresholds_.items()
            },
            "operating": self.operating_.to_dict(),
            "triage": self.triage_.to_dict(),
            "policy": self.settings.policy.model_dump(mode="json"),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """A fitted decider from `to_dict`."""
        try:
            return cls()._restore(values)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"decider: its saved form is incomplete or altered ({error}).") from error

    def _restore(self, values: Mapping[str, Any]) -> Self:
        self.calibrator_ = Calibrator.from_dict(values["calibrator"])
        self.operating_ = OperatingPoint.from_dict(values["operating"])
        self.triage_ = Triage.from_dict(values["triage"])
        self.thresholds_ = {
            name: OperatingPoint.from_dict(entry or {"fpr_budget": float(name), "raw": None, "value": None})
            for name, entry in values["thresholds"].items()
        }
        promise = self.triage_.guarantee
        confidence = self.settings.triage.confidence if promise is None else promise.confidence
        self.settings = DecideSettings.model_validate(
            {
                "fpr_budget": self.operating_.fpr_budget,
                "budgets": [point.fpr_budget for point in self.thresholds_.values()],
                "calibration": self.calibrator_.kinds,
                "triage": {"method": self.triage_.method, "confidence": confidence, **values["triage"]["targets"]},
                "policy": values["policy"],
            }
        )
        return self
