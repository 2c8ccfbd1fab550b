"""Three states: skip, look with care, alert (contract §7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from probative.decide.guarantee import CANDIDATES, Guarantee, certify
from probative.decide.labelled import Labelled, finite
from probative.decide.logistic import sigmoid
from probative.decide.threshold import Cuts
from probative.errors import ConfigError, DataError
from probative.segments import BoolArray, FloatArray, IntArray

NEVER_NEG, NEVER_POS = 0.0, 1.0
NO_EVIDENCE = "No query of TUNE has evidence: nothing is skipped or alerted to."


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What the two thresholds must reach on TUNE; the last two are optional."""

    screening_sensitivity: float = 0.995
    alert_precision: float = 0.9
    alert_recall: float | None = None
    alert_fpr: float | None = None


def assign_states(probabilities: ArrayLike, tau_neg: float, tau_pos: float) -> IntArray:
    """0 NEG below tau_neg, 1 UNCERTAIN, 2 POS from tau_pos on.

    >>> assign_states([0.1, 0.2, 0.7, 0.9], tau_neg=0.2, tau_pos=0.9).tolist()
    [0, 1, 1, 2]
    """
    if not tau_neg <= tau_pos:
        raise ConfigError(f"triage: tau_neg must not exceed tau_pos; got {tau_neg} and {tau_pos}.")
    p = finite(probabilities, "probabilities")
    return np.where(p < tau_neg, 0, np.where(p < tau_pos, 1, 2)).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Triage:
    """Two thresholds, how they came about, and what they reached on TUNE.

    A raw threshold is None where its state is never given; the calibrated one is then 0 (never NEG) or 1 (never POS).
    """

    method: Literal["grid", "guaranteed"]
    tau_neg: float
    tau_pos: float
    raw_tau_neg: float | None
    raw_tau_pos: float | None
    targets: Targets
    reached: Mapping[str, float | None]
    reasons: tuple[str, ...] = ()
    guarantee: Guarantee | None = None

    def assign(self, probabilities: ArrayLike) -> IntArray:
        """The state of each query as a code: 0 NEG, 1 UNCERTAIN, 2 POS."""
        return assign_states(probabilities, self.tau_neg, self.tau_pos)

    @property
    def met(self) -> dict[str, bool]:
        """Target by target, whether TUNE reached it."""
        asked = {name: value for name, value in asdict(self.targets).items() if value is not None}
        reached = {name: self.reached[name] for name in asked}
        return {
            name: value is not None and (value <= asked[name] if name == "alert_fpr" else value >= asked[name])
            for name, value in reached.items()
        }

    def words(self) -> tuple[str, ...]:
        """What the thresholds do, in sentences."""

        def percent(name: str) -> str:
            value = self.reached[name]
            return "undefined" if value is None else f"{100 * value:.1f} %"

        skip = f"Below {self.tau_neg:.4g} a query is skipped: {percent('neg_rate')} of TUNE's queries"
        alert = f"From {self.tau_pos:.4g} on a query is an alert: {percent('pos_rate')} of TUNE's queries"
        return (
            f"{skip}; {percent('screening_sensitivity')} of those with evidence are kept.",
            f"{alert}; {percent('alert_precision')} of the alerts have evidence.",
            *self.reasons,
        )

    def to_dict(self) -> dict[str, Any]:
        """The entry `triage` of a run's manifest."""
        return {
            "method": self.method,
            "tau_neg": self.tau_neg,
            "tau_pos": self.tau_pos,
            "raw_tau_neg": self.raw_tau_neg,
            "raw_tau_pos": self.raw_tau_pos,
            "targets": asdict(self.targets),
            "reached": dict(self.reached),
            "met": self.met,
            "reasons": list(self.reasons),
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Triage:
        guarantee = values["guarantee"]
        return cls(
            **{
                name: values[name] for name in ("method", "tau_neg", "tau_pos", "raw_tau_neg", "raw_tau_pos", "reached")
            },
            targets=Targets(**values["targets"]),
            reasons=tuple(values["reasons"]),
            guarantee=None if guarantee is None else Guarantee.from_dict(guarantee),
        )


def triage_by_grid(
    scores: ArrayLike, labels: ArrayLike, targets: Targets | None = None, *, values: ArrayLike | None = None
) -> Triage:
    """The best thresholds under the targets: skip as much and alert to as much evidence as they allow.

    `values` are the probabilities of the same rows (default: the scores themselves).

    >>> found = triage_by_grid([0.9, 0.8, 0.7, 0.4, 0.2, 0.1], [1, 1, 0, 1, 0, 0], Targets(alert_precision=0.9))
    >>> found.tau_neg, found.tau_pos
    (0.4, 0.8)
    """
    rows = Labelled.of(scores, labels)
    mapped = rows.score if values is None else finite(values, "values")
    if not ((mapped >= 0) & (mapped <= 1)).all():
        raise DataError("values: must be probabilities, got a number outside [0, 1]. Calibrate the scores first.")
    chosen = targets or Targets()
    cuts = Cuts.of(rows, mapped)
    if not cuts.n_positive:
        return _finish("grid", rows, mapped, chosen, None, None, [NO_EVIDENCE])
    keep = int(np.argmax(cuts.tpr >= chosen.screening_sensitivity))
    neg = (float(cuts.raw[keep]), float(cuts.value[keep]))
    pos, reasons = _alert(cuts, neg, chosen)
    return _finish("grid", rows, mapped, chosen, neg, pos, reasons)


def triage_by_guarantee(
    scores: ArrayLike,
    labels: ArrayLike,
    groups: ArrayLike,
    targets: Targets | None = None,
    *,
    confidence: float = 0.95,
    candidates: ArrayLike = CANDIDATES,
    calibrate: Callable[[FloatArray], FloatArray] = sigmoid,
) -> Triage:
    """The skip threshold by `certify`, which promises a rate over documents; the alert threshold is found as by grid.

    `scores` and `candidates` are log-odds, or whatever `calibrate` turns into probabilities.
    """
    rows = Labelled.of(scores, labels, groups)
    chosen = targets or Targets()
    found = certify(
        scores, labels, groups, target=chosen.screening_sensitivity, confidence=confidence, candidates=candidates
    )
    neg = None if found.raw is None else (found.raw, float(calibrate(np.array([found.raw]))[0]))
    values = calibrate(rows.score)
    cuts = Cuts.of(rows, values)
    pos, reasons = _alert(cuts, neg, chosen) if cuts.n_positive else (None, [NO_EVIDENCE])
    return _finish("guaranteed", rows, values, chosen, neg, pos, [found.reason, *reasons], found)


Cut = tuple[float, float]
"""A threshold on the raw and on the calibrated scale."""


def _alert(cuts: Cuts, neg: Cut | None, targets: Targets) -> tuple[Cut, list[str]]:
    """The alert threshold that finds most evidence under the targets, not below the skip threshold."""
    above = np.ones(cuts.raw.size, dtype=bool) if neg is None else cuts.value >= neg[1]
    tests: dict[str, BoolArray] = {"alert_precision": cuts.precision >= targets.alert_precision}
    if targets.alert_fpr is not None:
        tests["alert_fpr"] = cuts.fpr <= targets.alert_fpr
    if targets.alert_recall is not None:
        tests["alert_recall"] = cuts.tpr >= targets.alert_recall
    dropped: list[str] = []
    while tests:
        allowed = above & np.logical_and.reduce(list(tests.values()))
        if allowed.any():
            best = int(np.argmax(np.where(allowed, cuts.tp, -1)))
            break
        dropped.append(tests.popitem()[0])
    else:
        precision = np.where(above, cuts.precision, -1.0)
        best = int(np.argmax(np.where(precision == precision.max(), cuts.tp, -1)))
    reasons = [f"{' and '.join(dropped)} cannot be reached on TUNE together with the other targets."] if dropped else []
    if not tests:
        highest = f"{cuts.precision[best]:.3f}"
        reasons = [
            f"alert_precision ≥ {targets.alert_precision:g} cannot be reached on TUNE; taken is the highest, {highest}."
        ]
    return (float(cuts.raw[best]), float(cuts.value[best])), reasons


def _finish(
    method: Literal["grid", "guaranteed"],
    rows: Labelled,
    values: FloatArray,
    targets: Targets,
    neg: Cut | None,
    pos: Cut | None,
    reasons: list[str],
    guarantee: Guarantee | None = None,
) -> Triage:
    tau_neg, tau_pos = NEVER_NEG if neg is None else neg[1], NEVER_POS if pos is None else pos[1]
    alert = values >= tau_pos if pos is not None else np.zeros(values.size, dtype=bool)
    skip = values < tau_neg if neg is not None else np.zeros(values.size, dtype=bool)
    return Triage(
        method=method,
        tau_neg=tau_neg,
        tau_pos=tau_pos,
        raw_tau_neg=None if neg is None else neg[0],
        raw_tau_pos=None if pos is None else pos[0],
        targets=targets,
        reached=reached(rows.positive, skip, alert),
        reasons=tuple(reasons),
        guarantee=guarantee,
    )


def reached(positive: BoolArray, skip: BoolArray, alert: BoolArray) -> dict[str, float | None]:
    """The rates of contract §7 for two decisions; None where the denominator is 0."""

    def rate(part: BoolArray, whole: BoolArray) -> float | None:
        return float((part & whole).sum() / whole.sum()) if whole.any() else None

    everything = np.ones(positive.size, dtype=bool)
    return {
        "screening_sensitivity": rate(~skip, positive),
        "alert_precision": rate(positive, alert),
        "alert_recall": rate(alert, positive),
        "alert_fpr": rate(alert, ~positive),
        "neg_rate": rate(skip, everything),
        "pos_rate": rate(alert, everything),
    }


def triage_table(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    sizes_uncertain: IntArray,
    sizes_pos: IntArray,
    tau_negs: tuple[float, ...] = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2),
    tau_poss: tuple[float, ...] = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
) -> list[dict[str, float | None]]:
    """One row a pair of thresholds: what screening and alerting would reach and how many sentences would be shown.

    `sizes_uncertain` and `sizes_pos` say how many sentences each query shows in either state.
    """
    rows = Labelled.of(probabilities, labels)
    out: list[dict[str, float | None]] = []
    for tau_neg, tau_pos in [(low, high) for low in tau_negs for high in tau_poss if low <= high]:
        state = assign_states(rows.score, tau_neg, tau_pos)
        found = reached(rows.positive, state == 0, state == 2)
        shown = int(sizes_uncertain[state == 1].sum() + sizes_pos[state == 2].sum())
        out.append({"tau_neg": tau_neg, "tau_pos": tau_pos, **found, "sentences_shown": shown})
    return out
