"""Settings of calibration, thresholds, dynamic K and triage."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from probative.decide.calibrate import Kind
from probative.decide.dynamic_k import Limits, Policy, PolicyKind
from probative.decide.threshold import BUDGETS
from probative.decide.triage import Targets
from probative.settings import Settings

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Inside = Annotated[float, Field(gt=0.0, lt=1.0)]


class LimitSettings(Settings):
    """How few and how many sentences may be shown."""

    k_min: int = Field(default=2, ge=0)
    hard_cap: int = Field(default=10, ge=0)
    k_max_ratio: Share = 0.5


class StateSettings(LimitSettings):
    """The policy's share and limits in one state."""

    gamma: Share = 0.9


class UncertainSettings(StateSettings):
    """Where one looks with care, more is shown."""

    gamma: Share = 0.95
    k_min: int = Field(default=5, ge=0)
    hard_cap: int = Field(default=12, ge=0)
    k_max_ratio: Share = 0.7


class PosSettings(StateSettings):
    """Where there is an alert."""

    k_min: int = Field(default=3, ge=0)
    hard_cap: int = Field(default=12, ge=0)
    k_max_ratio: Share = 0.6


class StatesSettings(Settings):
    """Presets of the two states that show sentences; NEG shows none."""

    uncertain: UncertainSettings = UncertainSettings()
    pos: PosSettings = PosSettings()


class PolicySettings(LimitSettings):
    """How many sentences to show before any gate."""

    kind: PolicyKind = "mass"
    gamma: Share = 0.9
    tau: Share = 0.5
    k: int = Field(default=5, ge=0)
    rounding: Literal["floor", "ceil"] = "floor"
    states: StatesSettings = StatesSettings()

    def raw(self) -> Policy:
        """The policy before any gate."""
        return self._policy(self, self.gamma)

    def state(self, preset: StateSettings) -> Policy:
        """The policy under a state's preset."""
        return self._policy(preset, preset.gamma)

    def _policy(self, limits: LimitSettings, gamma: float) -> Policy:
        return Policy(
            kind=self.kind,
            gamma=gamma,
            tau=self.tau,
            k=self.k,
            limits=Limits(
                k_min=limits.k_min, hard_cap=limits.hard_cap, k_max_ratio=limits.k_max_ratio, rounding=self.rounding
            ),
        )


class TriageSettings(Settings):
    """How the two thresholds are chosen. `confidence` is for the guaranteed method."""

    method: Literal["grid", "guaranteed"] = "grid"
    screening_sensitivity: Inside = 0.995
    alert_precision: Share = 0.9
    alert_recall: Share | None = None
    alert_fpr: Share | None = None
    confidence: Inside = 0.95

    def targets(self) -> Targets:
        return Targets(
            screening_sensitivity=self.screening_sensitivity,
            alert_precision=self.alert_precision,
            alert_recall=self.alert_recall,
            alert_fpr=self.alert_fpr,
        )


class DecideSettings(Settings):
    """Everything that turns scores into decisions."""

    fpr_budget: Inside = 0.05
    budgets: tuple[Inside, ...] = BUDGETS
    calibration: tuple[Kind, ...] = Field(default=("isotonic", "platt", "temperature"), min_length=1)
    triage: TriageSettings = TriageSettings()
    policy: PolicySettings = PolicySettings()
