"""The same decisions at another prevalence: what the probabilities would be where evidence is rarer or commoner."""

from __future__ import annotations

from typing import Any

from probative.errors import ConfigError
from probative.pipeline.decision import Decision
from probative.pipeline.pipeline import Pipeline


def shifted(probability: float, before: float, after: float) -> float:
    """A calibrated probability moved from one prevalence to another, by Bayes' rule with the likelihoods unchanged.

    >>> round(shifted(0.5, 0.5, 0.1), 3)
    0.1
    """
    odds = after / before * probability
    rest = (1 - after) / (1 - before) * (1 - probability)
    return odds / (odds + rest) if odds + rest > 0 else 0.0


def at_prevalence(decision: Decision, pipeline: Pipeline, prevalence: float) -> dict[str, Any]:
    """The probability and state of a decision if a share `prevalence` of the queries had evidence."""
    if not 0 < prevalence < 1:
        raise ConfigError(f"--prevalence {prevalence}: must lie between 0 and 1, such as 0.02.")
    tune = pipeline.facts["tune"]
    before = tune["n_positive"] / tune["n_queries"]
    value = shifted(decision.probability, before, prevalence)
    state = pipeline.decider.triage_.assign([value])[0]
    return {"probability_at_prevalence": value, "state_at_prevalence": ("NEG", "UNCERTAIN", "POS")[int(state)]}
