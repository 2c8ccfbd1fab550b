"""Sweeps over what is decided after learning: how many sentences to show, and where to skip and to alert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from probative import segments
from probative.decide import Policy, equal_mean, triage_table
from probative.decide.dynamic_k import GAMMAS
from probative.evaluation.predictions import Predictions
from probative.experiment.ablate_measure import Pair, compared, records
from probative.experiment.ablate_rows import Configuration, Judged, calibrator, judge, policy_sizes, table
from probative.experiment.ablate_scene import Scene
from probative.experiment.settings import RunSettings
from probative.segments import IntArray

SHOWING = ("evidence_recall", "evidence_precision", "evidence_f1", "k_mean")
TESTED = ("evidence_recall", "evidence_precision")
BASIS = Configuration(name="policy", label="final ranking", order="final", gate="best:final", shows="policy")


def policies(settings: RunSettings) -> dict[str, Policy]:
    """Every policy of the contract, with the limits of the settings."""
    raw = settings.decide.policy.raw()
    by_mass = {f"mass γ={gamma:g}": replace(raw, kind="mass", gamma=gamma) for gamma in GAMMAS}
    return {**by_mass, f"threshold τ={raw.tau:g}": replace(raw, kind="threshold"), "gap": replace(raw, kind="gap")}


def against_fixed(scenes: Sequence[Scene], settings: RunSettings) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Every policy beside `fixed` at its own mean K: values, and paired comparisons."""
    basis = [judge(BASIS, scene, settings) for scene in scenes]
    systems: dict[str, Predictions] = {}
    pairs, rows = [], []
    for name, policy in policies(settings).items():
        sizes = [policy_sizes(scene.evaluation, policy) for scene in scenes]
        rival = _split(equal_mean(np.concatenate(sizes), np.concatenate([_lengths(s) for s in scenes])), sizes)
        fixed = f"fixed at the mean K of {name}"
        systems |= {name: _shown(basis, sizes), fixed: _shown(basis, rival)}
        pairs.append(Pair(base=fixed, other=name, metrics=TESTED))
        for label, chosen in ((name, sizes), (fixed, rival)):
            found = records(label, systems[label], SHOWING, "raw", settings.evaluate)
            shown = int(sum(size.sum() for size in chosen))
            rows.append({"name": label, "policy": policy.to_dict(), "sentences_shown": shown, "metrics": found})
    return rows, compared(pairs, systems, settings.evaluate)


def gamma_sweep(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean K, evidence recall and sentences shown by γ, from the rows of `against_fixed`."""
    swept = []
    for row in rows:
        if row["name"].startswith("mass"):
            values = {r["id"]: r["value"] for r in row["metrics"] if r["scope"] == "pooled"}
            swept.append({"gamma": row["policy"]["gamma"], **values, "sentences_shown": row["sentences_shown"]})
    return swept


def tau_grid(scenes: Sequence[Scene], settings: RunSettings) -> dict[str, Any]:
    """What pairs of thresholds would reach on TUNE, all folds together."""
    prob, labels, careful, alert = [], [], [], []
    states = settings.decide.policy.states
    for scene in scenes:
        tune = scene.tune
        gate = np.asarray(tune.gates["final"], dtype=np.float64)
        prob.append(calibrator(tune, "final").predict(gate))
        labels.append(tune.view.has_evidence)
        careful.append(policy_sizes(tune, settings.decide.policy.state(states.uncertain)))
        alert.append(policy_sizes(tune, settings.decide.policy.state(states.pos)))
    rows = triage_table(
        np.concatenate(prob),
        np.concatenate([given for given in labels if given is not None]),
        sizes_uncertain=np.concatenate(careful),
        sizes_pos=np.concatenate(alert),
    )
    return {"role": "tune", "n": int(sum(map(len, prob))), "rows": rows}


def _lengths(scene: Scene) -> IntArray:
    return segments.lengths(scene.evaluation.view.offsets)


def _split(joined: IntArray, like: Sequence[IntArray]) -> list[IntArray]:
    return np.split(joined, np.cumsum([len(part) for part in like])[:-1])


def _shown(basis: Sequence[Judged], sizes: Sequence[IntArray]) -> Predictions:
    return table([replace(one, size=size) for one, size in zip(basis, sizes, strict=True)])
