"""What a small run cannot show: definitions at their edges, cells of printed tables, redrawn splits, ablations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from probative.audit import ablation, labels, printed, redrawn, splitting
from probative.audit.check import Check
from probative.audit.numbers import Sources
from probative.audit.queries import Query, read_query
from probative.audit.roles import Folds

SPLIT = {"n_folds": 5, "scheme": "holdout", "method": "contract", "tune_fraction": 0.3, "stop_fraction": 0.1}


def query(doc: str, gold: list[str], predicted: int, prob: float = 0.5) -> Query:
    row = {"doc_id": doc, "criterion_id": "A.1", "ranked_uids": ["s1", "s2"], "gold_uids": gold}
    return read_query({**row, "predicted": predicted, "prob": prob}, 1)


@pytest.mark.parametrize(
    ("metric", "queries", "expected"),
    [
        ("f1_weighted", [query("d", [], 1)], False),
        ("f1_weighted_document", [query("d", [], 1)], False),
        ("f1_micro", [query("d", [], 0)], False),
        ("f1_micro", [query("d", [], 1)], True),
        ("f1_macro", [query("d", [], 0)], True),
    ],
)
def test_an_average_without_weights_is_undefined(metric: str, queries: list[Query], expected: bool) -> None:
    assert expected == labels.is_defined(metric, queries)


def test_a_resample_of_one_query_has_no_line() -> None:
    queries = [query(f"d{i}", ["s1"] if i % 3 else [], 1, 0.2 + 0.01 * ((i * 7) % 5)) for i in range(30)]
    weights = np.stack([np.ones(30), 30.0 * (np.arange(30) == 4)])
    found = dict(redrawn.line(queries, weights))
    assert [True, False] == np.isfinite(found["calibration_slope"]).tolist()


def test_five_folds_of_1477_documents_have_the_sizes_of_the_contract() -> None:
    roles = splitting.roles([f"p{i:06d}" for i in range(1477)], SPLIT, seed=42)
    sizes = [sum(role == "eval" for role in fold.values()) for fold in roles.values()]
    assert [295, 295, 295, 295, 297] == sizes


def test_another_seed_gives_another_split() -> None:
    documents = [f"d{i}" for i in range(40)]
    assert splitting.roles(documents, SPLIT, seed=1) != splitting.roles(documents, SPLIT, seed=2)


@pytest.mark.parametrize(("role", "status"), [("train", "passed"), ("tune", "failed")])
def test_documents_of_one_group_stay_on_one_side(role: str, status: str) -> None:
    folds = Folds([("d1", "0", "train"), ("d2", "0", role), ("d3", "0", "eval")])
    manifest = {"config": {"seed": 1, "folds": {**SPLIT, "group_by": "author"}}}
    assert status == splitting.redrawn(manifest, folds, {"d1": "a", "d2": "a", "d3": "b"}).status


RECORD = {"id": "mrr", "scope": "pooled", "population": "positives_only", "value": 0.642, "ci_low": 0.594}
MASTER = {"metrics": [{**RECORD, "ci_high": 0.692, "std_sample": 0.07}]}


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("0.642 [0.594, 0.692]", True),
        ("64.2 [59.4, 69.2]", True),
        ("0.642 ± 0.070", True),
        ("0.692 [0.594, 0.692]", False),
        ("0.642 [0.594, 0.642]", False),
        ("0.642 ± 0.594", False),
        ("0.642", True),
    ],
)
def test_the_numbers_of_one_cell_come_from_one_record(cell: str, expected: bool) -> None:
    sources = Sources(MASTER, None, {})
    assert expected == sources.together(frozenset({"mrr"}), frozenset({"mrr", "positives_only"}), cell)


HEAD = "metric,triage,population,n / documents (triage)\n"


@pytest.mark.parametrize(("n", "unknown"), [("6,680", 0), ("6,681", 1)])
def test_counts_above_a_thousand_are_found_in_records_of_any_population(n: str, unknown: int, tmp_path: Path) -> None:
    record = {"id": "k_mean_passed", "scope": "pooled", "population": "passed_queries", "mode": "triage", "value": 4.5}
    sources = Sources({"metrics": [{**record, "n": 6680, "n_docs": 272}]}, None, {})
    table = tmp_path / "extraction.csv"
    table.write_text(f'{HEAD}k_mean_passed,4.5,passed_queries,"{n} / 272"\n')
    assert unknown == len(list(printed.unknown(table, sources, "tables/extraction.csv")))


def document(**changed: Any) -> dict[str, Any]:
    row = {"name": "rerank", "variant": "whole", "metrics": [{**RECORD, "n": 125, "stage": "rerank"}]}
    one = {"id": "mrr", "population": "positives_only", "base": "retrieve", "other": "rerank", "p": 0.01}
    one |= {"base_value": 0.6, "other_value": 0.642, "difference": 0.042, "p_holm": 0.02}
    two = {**one, "other": "graph", "other_value": 0.6, "difference": 0.0, "p": 0.5, "p_holm": 0.5}
    return {"rows": [row], "comparisons": [{**one, **changed}, two]}


def checked(found: dict[str, Any]) -> Check:
    return ablation.ablation(found, {"metrics": [{**RECORD, "stage": "rerank", "n": 125}]}, None)


def test_an_ablation_that_agrees_passes() -> None:
    assert "passed" == checked(document()).status


@pytest.mark.parametrize("changed", [{"p_holm": 0.01}, {"difference": 0.05}, {"other_value": 0.7, "difference": 0.1}])
def test_an_ablation_that_contradicts_itself_is_caught(changed: dict[str, float]) -> None:
    assert checked(document(**changed)).failed


def test_an_ablation_that_contradicts_the_run_is_caught() -> None:
    found = document()
    found["rows"][0]["metrics"][0]["value"] = 0.7
    assert "row rerank" in checked(found).why
