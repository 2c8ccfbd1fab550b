"""The same decisions at another prevalence: what the probabilities would be where evidence is rarer or commoner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from probative.decide import Decider
from probative.errors import ConfigError
from probative.pipeline.decision import Decision
from probative.types import State


def shifted(probability: float, before: float, after: float) -> float:
    """A calibrated probability moved from one prevalence to another, by Bayes' rule with the likelihoods unchanged.

    >>> round(shifted(0.5, 0.5, 0.1), 3)
    0.1
    """
    odds = after / before * probability
    rest = (1 - after) / (1 - before) * (1 - probability)
    return odds / (odds + rest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prevalence:
    """From the share of TUNE's queries that had evidence to another share."""

    before: float
    after: float
    decider: Decider

    def __post_init__(self) -> None:
        if not 0 < self.after < 1:
            raise ConfigError(f"--prevalence {self.after:g}: must lie between 0 and 1, such as 0.02.")
        if not 0 < self.before < 1:
            raise ConfigError("--prevalence: TUNE held queries of one kind only, so there is nothing to shift from.")

    def of(self, decision: Decision) -> dict[str, Any]:
        """The probability and the state if a share `after` of the queries had evidence; thresholds stay."""
        value = shifted(decision.probability, self.before, self.after)
        state = list(State)[int(self.decider.triage_.assign([value])[0])]
        return {"probability_at_prevalence": value, "state_at_prevalence": str(state)}
