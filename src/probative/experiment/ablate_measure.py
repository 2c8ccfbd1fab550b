"""The numbers of an ablation: records in the shape of metrics_master, and paired comparisons with one adjustment."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from probative.evaluation import compare as comparing
from probative.evaluation import swap
from probative.evaluation.comparison import Row
from probative.evaluation.cut import Prepared
from probative.evaluation.engine import Stage
from probative.evaluation.predictions import Predictions
from probative.evaluation.records import Record
from probative.evaluation.resample import Draw, units
from probative.evaluation.settings import EvaluateSettings
from probative.metrics import registry

SCOPES = ("pooled", "fold_mean")
FAMILY = {"2": "ranking", "3": "detection", "4": "calibration", "5": "extraction", "7": "triage"}


def records(
    name: str, predictions: Predictions, ids: Collection[str], mode: str, settings: EvaluateSettings
) -> list[Record]:
    """Pooled and as a mean over folds; `mode` is what decided about the sentences shown."""
    table = units(predictions, settings.resample)
    draw = Draw(table.stratum, settings.bootstrap, settings.seed) if settings.bootstrap else None
    stage = Stage(
        name=name,
        prepared=Prepared(predictions=predictions, units=table, tie_mode=settings.ties),
        families=frozenset(FAMILY[registry.lookup(one).section[0]] for one in ids),
        draw=draw,
        settings=settings.model_copy(update={"criteria_limit": 0}),
    )
    found = [r for r in stage.records() if r["id"] in ids and r["scope"] in SCOPES and _headline(r)]
    return [{**record, **({"mode": mode} if "mode" in record else {})} for record in found]


def _headline(record: Record) -> bool:
    return bool(record["population"] == registry.lookup(record["id"]).population)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two systems, and the metrics on which they may differ."""

    base: str
    other: str
    metrics: Sequence[str]
    criteria: str = "all"


def compared(
    pairs: Sequence[Pair], systems: Mapping[str, Predictions], settings: EvaluateSettings
) -> list[dict[str, Any]]:
    """Paired interval and swap test of every pair and metric, with Holm over all of them."""
    rows: list[tuple[Row, str]] = []
    for pair in pairs:
        two = [comparing.System(name=name, predictions=systems[name]) for name in (pair.base, pair.other)]
        rows += [(row, pair.criteria) for row in comparing.compare(two, pair.metrics, settings).rows]
    adjusted = swap.holm(np.array([np.nan if row.p is None else row.p for row, _ in rows]))
    made = []
    for (row, criteria), p in zip(rows, adjusted, strict=True):
        values = row.with_holm(float(p) if np.isfinite(p) else None).to_dict()
        values.pop("mode", None)
        base, difference = values["base_value"], values["difference"]
        values["relative"] = difference / base if base and difference is not None else None
        made.append({**values, "criteria": criteria})
    return made
