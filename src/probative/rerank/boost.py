"""LightGBM, the same bytes every time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from probative.segments import IntArray
from probative.types import Floats, Vectors


def boost(
    table: Vectors,
    target: Floats,
    settings: Mapping[str, Any],
    *,
    trees: int,
    seed: int,
    groups: IntArray | None = None,
    names: Sequence[str] = (),
) -> Any:
    """Fit trees on one thread; `settings` lie over the common ones."""
    import lightgbm

    common = {
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbose": -1,
        "seed": seed,
        "lambda_l2": 5.0,
        "feature_fraction": 0.6,
        "bagging_fraction": 0.7,
        "bagging_freq": 1,
    }
    data = lightgbm.Dataset(table, target, group=groups, feature_name=list(names) or "auto")
    return lightgbm.train({**common, **settings}, data, trees)
