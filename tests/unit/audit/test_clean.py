"""What is right must pass: few decimals, more criteria than are listed, a configured limit."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.unit.audit.conftest import make_run

from probative import audit, evaluate
from probative.audit import reliability
from probative.audit.queries import read_query


def test_distances_are_compared_to_the_last_bit() -> None:
    rows = {"doc_id": "d", "criterion_id": "c", "ranked_uids": [], "gold_uids": []}
    below, above = (reliability.answer(read_query({**rows, "prob": p, "state": "POS"}, 1))[0] for p in (0.2, 0.8))
    assert abs(0.2 - 0.5) < abs(0.8 - 0.5)
    assert below < above


def verified(table: pl.DataFrame, folder: Path) -> list[str]:
    table.write_parquet(folder / "per_query.parquet")
    evaluate(folder / "per_query.parquet", bootstrap=200).write(folder)
    found: list[str] = audit.audit(folder)["failed"]
    return found


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
    assert [] == verified(table, tmp_path)


def test_an_evaluation_of_more_criteria_than_it_lists_verifies(tmp_path: Path) -> None:
    number = range(420)
    table = pl.DataFrame(
        {
            "doc_id": [f"d{i // 2}" for i in number],
            "criterion_id": [f"claim {i}" for i in number],
            "ranked_uids": [["a", "b", "c"]] * 420,
            "gold_uids": [["b"] if i % 3 else [] for i in number],
            "prob": [(i * 7 % 420) / 420 for i in number],
            "selected_raw": [["a", "b"]] * 420,
        }
    )
    assert [] == verified(table, tmp_path)


def test_a_run_that_lists_no_single_criteria_verifies(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", resamples=200, criteria_limit=1)
    assert [] == audit.audit(run)["failed"]
