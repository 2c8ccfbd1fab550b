"""Probabilities of few decimals lie equally far from a threshold, but for the last bit."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from probative import audit, evaluate
from probative.audit import reliability
from probative.audit.queries import read_query


def test_distances_are_compared_to_the_last_bit() -> None:
    rows = {"doc_id": "d", "criterion_id": "c", "ranked_uids": [], "gold_uids": []}
    below, above = (reliability.answer(read_query({**rows, "prob": p, "state": "POS"}, 1))[0] for p in (0.2, 0.8))
    assert abs(0.2 - 0.5) < abs(0.8 - 0.5)
    assert below < above


@pytest.mark.parametrize("seed", range(3))
def test_an_evaluation_of_rounded_probabilities_verifies(seed: int, tmp_path: Path) -> None:
    draw = pl.Series(range(120)).sample(fraction=1, shuffle=True, seed=seed)
    prob = (draw % 20) / 20
    table = pl.DataFrame(
        {
            "doc_id": [f"d{i // 3}" for i in range(120)],
            "criterion_id": [f"c{i % 3}" for i in range(120)],
            "ranked_uids": [["a", "b"]] * 120,
            "gold_uids": [["b"] if p > 8 else [] for p in (draw % 13)],
            "prob": prob,
            "tau_neg": 0.3,
            "tau_pos": 0.7,
        }
    )
    table.write_parquet(tmp_path / "per_query.parquet")
    evaluate(tmp_path / "per_query.parquet", bootstrap=200).write(tmp_path)
    assert [] == audit.audit(tmp_path / "per_query.parquet")["failed"]
