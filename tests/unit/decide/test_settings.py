"""The settings of decisions: the contract's defaults, and what is refused."""

from __future__ import annotations

import pytest

from probative.decide import DecideSettings, Limits, Policy
from probative.errors import ConfigError
from probative.settings import Layer, resolve


def resolved(**values: object) -> DecideSettings:
    return resolve(DecideSettings, [Layer(origin="test", values=values)]).settings


def test_the_defaults_are_those_of_the_contract() -> None:
    settings = DecideSettings()
    assert (settings.fpr_budget, settings.budgets) == (0.05, (0.01, 0.03, 0.05, 0.1))
    policy = settings.policy
    assert Policy(kind="mass", gamma=0.9, limits=Limits(k_min=2, hard_cap=10, k_max_ratio=0.5)) == policy.raw()
    careful = Policy(kind="mass", gamma=0.95, limits=Limits(k_min=5, hard_cap=12, k_max_ratio=0.7))
    assert careful == policy.state(policy.states.uncertain)
    assert Policy(gamma=0.9, limits=Limits(k_min=3, hard_cap=12, k_max_ratio=0.6)) == policy.state(policy.states.pos)


def test_rounding_holds_in_every_state() -> None:
    policy = resolved(policy={"rounding": "ceil"}).policy
    assert "ceil" == policy.raw().limits.rounding == policy.state(policy.states.pos).limits.rounding


def test_one_limit_of_one_state_may_be_changed_alone() -> None:
    states = resolved(policy={"states": {"pos": {"k_min": 1}}}).policy.states
    assert (states.pos.k_min, states.pos.hard_cap) == (1, 12)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"fpr_budget": 0.0}, "fpr_budget"),
        ({"calibration": []}, "calibration"),
        ({"calibration": ["beta"]}, "calibration.0"),
        ({"triage": {"method": "guess"}}, "triage.method"),
        ({"triage": {"screening_sensitivity": 1.0}}, "triage.screening_sensitivity"),
        ({"policy": {"gamma": 1.2}}, "policy.gamma"),
        ({"policy": {"gama": 0.9}}, "policy.gama.*Did you mean 'policy.gamma'"),
    ],
)
def test_impossible_values_are_refused_by_name(values: dict[str, object], name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        resolved(**values)
