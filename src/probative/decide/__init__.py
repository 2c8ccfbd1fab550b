"""Calibration, thresholds, dynamic K and triage, usable alone on anyone's scores."""

from probative.decide.calibrate import Calibrator
from probative.decide.decider import Decider, Decisions
from probative.decide.dynamic_k import Limits, Policy, choose_k, equal_mean, head_rows, select
from probative.decide.guarantee import Guarantee, certify, documents_needed, upper_bound
from probative.decide.isotonic import Isotonic
from probative.decide.logistic import Platt, Temperature, UnfitError, sigmoid
from probative.decide.settings import DecideSettings
from probative.decide.threshold import OperatingPoint, choose_threshold
from probative.decide.triage import (
    Targets,
    Triage,
    assign_states,
    triage_by_grid,
    triage_by_guarantee,
    triage_table,
)

__all__ = [
    "Calibrator",
    "DecideSettings",
    "Decider",
    "Decisions",
    "Guarantee",
    "Isotonic",
    "Limits",
    "OperatingPoint",
    "Platt",
    "Policy",
    "Targets",
    "Temperature",
    "Triage",
    "UnfitError",
    "assign_states",
    "certify",
    "choose_k",
    "choose_threshold",
    "documents_needed",
    "equal_mean",
    "head_rows",
    "select",
    "sigmoid",
    "triage_by_grid",
    "triage_by_guarantee",
    "triage_table",
    "upper_bound",
]
