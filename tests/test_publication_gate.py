"""What must hold before numbers are published: their ranges, and the conditions of `verify --publish`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probative.audit import invariants, publish
from probative.audit.source import opened
from probative.evaluation.api import evaluate_source
from probative.evaluation.readers import read_path
from probative.evaluation.settings import EvaluateSettings


def predictions(folder: Path, seed: int, *, positives: float, ties: bool) -> Path:
    """A random per_query file: short documents, ties, empty gold, any share of positives."""
    rng = np.random.default_rng(seed)
    rows = []
    for d in range(12):
        uids = [f"d{d}s{i}" for i in range(int(rng.integers(1, 8)))]
        for criterion in ("A.1", "A.2"):
            gold = [uid for uid in uids if rng.random() < positives]
            prob = float(np.round(rng.random(), 1) if ties else rng.random())
            shown = uids[: int(rng.integers(0, len(uids) + 1))]
            row = {"fold": d % 3, "doc_id": f"d{d}", "criterion_id": criterion, "prob": prob, "prior": 0.4}
            row |= {"ranked_uids": json.dumps(list(rng.permutation(uids))), "gold_uids": json.dumps(gold)}
            rows.append(row | {"tau_neg": 0.3, "tau_pos": 0.7, "selected_raw": json.dumps(shown)})
    path = folder / f"per_query_{seed}.csv"
    pl.DataFrame(rows).write_csv(path)
    return path


def measured(path: Path) -> list[dict[str, Any]]:
    master = evaluate_source(read_path(path), EvaluateSettings(bootstrap=50)).master
    return list(master.metrics)


class TestMetricRangeAssertions:
    """001 §6.2: every metric of every evaluation lies in its range."""

    @settings(max_examples=12, deadline=None)
    @given(seed=st.integers(0, 10_000), positives=st.sampled_from([0.0, 0.05, 0.5, 1.0]), ties=st.booleans())
    def test_every_record_of_any_predictions_is_in_range(
        self, tmp_path_factory: pytest.TempPathFactory, seed: int, positives: float, ties: bool
    ) -> None:
        path = predictions(tmp_path_factory.mktemp("any"), seed, positives=positives, ties=ties)
        records = measured(path)
        assert {"recall@3", "mrr", "map@3", "ndcg@10", "auroc", "auprc", "mcc", "ece"} <= {r["id"] for r in records}
        assert () == invariants.ranges(records).findings

    @pytest.mark.parametrize("metric", ["recall@10", "mrr@10", "map@10", "ndcg@10", "auroc", "auprc"])
    @pytest.mark.parametrize("value", [-0.001, 1.001])
    def test_a_value_outside_its_range_is_found(self, tmp_path: Path, metric: str, value: float) -> None:
        records = measured(predictions(tmp_path, 1, positives=0.4, ties=False))
        next(r for r in records if r["id"] == metric)["value"] = value
        assert invariants.ranges(records).failed

    def test_mcc_may_be_negative_and_a_rate_may_not(self) -> None:
        assert (-1.0, 1.0) == invariants.limits("mcc")
        assert (0.0, 1.0) == invariants.limits("sensitivity@p=0.5")


MANIFEST: dict[str, Any] = {
    "probative": "0.1.0",
    "config": {"evaluate": {"bootstrap": 10_000}},
    "config_hash": "ab",
    "seed": 1,
    "threads": 1,
    "environment": {"python": "3.11", "packages": {"numpy": "2"}},
    "corpus": {
        "name": "charts",
        "synthetic": False,
        "licence": "CC BY 4.0",
        "source": "a hospital",
        "fingerprint": "cd",
        "exclude_from_training": ["A.10"],
    },
    "folds": [{"fold": 0, "scheme": "holdout"}],
}


def without(*path: str) -> dict[str, Any]:
    manifest = json.loads(json.dumps(MANIFEST))
    inside = manifest
    for name in path[:-1]:
        inside = inside[name]
    del inside[path[-1]]
    return dict(manifest)


class TestConditions:
    """`probative verify --publish`."""

    @pytest.mark.parametrize(
        "path", [("seed",), ("environment", "packages"), ("config_hash",), ("corpus", "fingerprint")], ids="/".join
    )
    def test_a_seed_or_version_that_is_not_recorded_is_named(self, path: tuple[str, ...]) -> None:
        found = publish.recorded(without(*path))
        assert found.failed
        assert path[-1] in found.why

    def test_everything_recorded_passes(self) -> None:
        assert not publish.recorded(MANIFEST).failed

    @pytest.mark.parametrize("missing", ["positives_only", "all_queries"])
    def test_one_protocol_alone_is_not_enough(self, tmp_path: Path, missing: str) -> None:
        records = measured(predictions(tmp_path, 2, positives=0.4, ties=False))
        assert not publish.protocols(records).failed
        assert publish.protocols([r for r in records if r["population"] != missing]).failed

    def test_a_row_without_interval_n_or_population_is_found(self, tmp_path: Path) -> None:
        records = measured(predictions(tmp_path, 3, positives=0.4, ties=False))
        assert not publish.rows(records).failed
        for name in ("ci_low", "n", "population"):
            changed = [dict(r) for r in records]
            next(r for r in changed if r["id"] == "auroc")[name] = None
            assert publish.rows(changed).failed

    @pytest.mark.parametrize(
        ("corpus", "report", "fails"),
        [
            ({"synthetic": True}, "Everything here is synthetic.", False),
            ({"synthetic": True}, "Results on patients.", True),
            ({"synthetic": False, "name": "demo"}, "", True),
            ({"synthetic": False, "name": "charts"}, "", False),
            ({}, "", True),
        ],
    )
    def test_a_synthetic_corpus_is_never_presented_as_real(
        self, tmp_path: Path, corpus: dict[str, Any], report: str, fails: bool
    ) -> None:
        (tmp_path / "per_query.csv").touch()
        (tmp_path / "metrics_master.json").write_text('{"metrics": [], "meta": {}}')
        (tmp_path / "report.html").write_text(report)
        with opened(tmp_path) as source:
            assert fails == publish.synthetic(source, {"corpus": corpus}).failed

    @pytest.mark.parametrize(
        ("holm", "fails"), [([0.03, 0.04, 0.04], False), ([0.01, 0.02, 0.04], True), ([None, None, None], True)]
    )
    def test_comparisons_need_holms_correction(self, tmp_path: Path, holm: list[float | None], fails: bool) -> None:
        rows = [{"p": p, "p_holm": h} for p, h in zip([0.01, 0.02, 0.04], holm, strict=True)]
        (tmp_path / "per_query.csv").touch()
        (tmp_path / "metrics_master.json").write_text('{"metrics": []}')
        (tmp_path / "ablation.json").write_text(json.dumps({"rows": rows}))
        with opened(tmp_path) as source:
            assert fails == publish.corrected(source).failed

    @pytest.mark.parametrize(
        ("excluded", "sets", "fails"),
        [(["A.10"], {"all", "trained"}, False), (["A.10"], {"all"}, True), ([], {"all"}, False), (None, {"all"}, True)],
    )
    def test_the_treatment_of_excluded_criteria_is_stated(
        self, excluded: list[str] | None, sets: set[str], fails: bool
    ) -> None:
        manifest = {"corpus": {"exclude_from_training": excluded}}
        assert fails == publish.excluded(manifest, [{"criteria": name} for name in sets]).failed

    def test_a_quick_run_is_not_for_publication(self) -> None:
        assert not publish.quick(MANIFEST).failed
        assert publish.quick({"config": {"documents": 120}}).failed
        assert publish.quick({"config": {"evaluate": {"bootstrap": 1000}}}).failed
