"""What an ablation says about one small run: the same numbers as the run, fair comparisons, and a sealed folder."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import probative
from probative.api import Ablation, ablate, settle
from probative.audit import seals
from probative.audit.numbers import Sources
from probative.audit.printed import unknown
from probative.audit.source import opened
from probative.cli import app
from probative.data import Corpus
from probative.data.demo import demo_corpus
from probative.errors import ConfigError, DataError
from probative.evaluation.api import evaluate_source
from probative.evaluation.readers import read_path
from probative.evaluation.settings import EvaluateSettings
from probative.experiment import ablate_table
from probative.experiment.ablate import check_agrees
from probative.experiment.ablate_rows import steps
from probative.experiment.ablate_scene import variants
from probative.experiment.crew import Event
from probative.experiment.fold_job import FoldJob, compute
from probative.experiment.run import run_folds
from probative.experiment.run_tables import seal
from probative.metrics import registry

SMALL = {
    "folds.n_folds": 2,
    "evaluate.bootstrap": 99,
    "rerank.lambdarank.rank_trees": 3,
    "rerank.lambdarank.node_trees": 3,
    "rerank.lambdarank.parts": 2,
    "rerank.linear.iterations": 2,
    "graph.learn.epochs": 1,
    "graph.pool": 8,
    "graph.trunk.hidden": 8,
}
STAGE = {"retrieve": "retrieve", "rerank": "rerank", "graph": "graph", "triage": "final"}
"""Rows that stand in metrics_master too."""


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return demo_corpus(documents=30)


def here(jobs: Sequence[Path], *, listen: Callable[[Event], None], **_: object) -> None:
    """The crew without its processes."""
    for number, path in enumerate(jobs):
        compute(FoldJob.read(path), lambda stage: None)
        listen(Event(job=number, kind="left", facts={}))


def measured(folder: Path) -> None:
    """What a run adds to its tables, without audit and report."""
    source = replace(read_path(folder), origin="per_query.csv")
    evaluate_source(source, EvaluateSettings(bootstrap=99)).write(folder)
    seal(folder)


@pytest.fixture(scope="module")
def found(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Ablation:
    base = tmp_path_factory.mktemp("ablation")
    settings = settle(flags=SMALL).settings
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROBATIVE_CACHE", str(base / "cache"))
        patch.setattr("probative.experiment.run.run_jobs", here)
        patch.setattr("probative.experiment.ablate_scene.run_jobs", here)
        silent = {"show": lambda done, label: None, "finish": measured}
        run_folds(corpus, settings, base / "run", jobs=1, resume=False, **silent)
        return ablate(corpus=corpus, out=base / "run", jobs=1)


def rows(found: Ablation) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in found.document["rows"]}


def value(row: dict[str, Any], name: str) -> float | None:
    record = next(r for r in row["metrics"] if r["id"] == name and r["scope"] == "pooled" and r["criteria"] == "all")
    return None if record["value"] is None else float(record["value"])


def test_every_configuration_of_the_contract_has_its_row(found: Ablation) -> None:
    six = ["retrieve", "rerank", "graph", "dynamic_k", "gate", "triage"]
    further = ["linear", "graph_no_edges", "criterion_back"]
    assert six == [name for name in rows(found) if name in six]
    assert set(further) <= set(rows(found))


@pytest.mark.parametrize(("name", "stage"), STAGE.items())
def test_a_row_has_the_numbers_of_the_run(found: Ablation, name: str, stage: str) -> None:
    master = json.loads((found.folder / "metrics_master.json").read_text())["metrics"]
    fields = ("id", "scope", "population", "criteria")
    known = {
        tuple(r[f] for f in fields): r for r in master if r["stage"] == stage and r.get("mode") in (None, "triage")
    }
    for record in rows(found)[name]["metrics"]:
        if "mode" in record and name != "triage":
            continue
        if record["reason"] is None:
            same = known[tuple(record[f] for f in fields)]
            assert (same["value"], same["n"]) == (record["value"], record["n"])
            assert same["ci_low"] == pytest.approx(record["ci_low"], rel=1e-5)


def test_the_folder_is_sealed_again(found: Ablation) -> None:
    subprocess.run(["sha256sum", "--quiet", "-c", "checksums.txt"], cwd=found.folder, check=True)
    listed = (found.folder / "checksums.txt").read_text()
    assert "ablation.json" in listed
    assert "tables/ablation.csv" in listed


def test_every_printed_number_has_a_source(found: Ablation) -> None:
    with opened(found.folder) as source:
        sources = Sources(source.master or {}, source.ablation, source.manifest or {})
        tables = [name for name in source.files if name.startswith("tables/ablation")]
        assert 3 == len(tables)
        assert [] == [line for name in tables for line in unknown(source.path(name), sources, name)]
        assert [] == [line for check in (seals.checksums, seals.manifest) for line in check(source).findings]


def test_json_is_alone_on_standard_output(
    found: Ablation, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("probative.api.ablate", lambda *args, **options: found)
    assert 0 == app.run(["ablate", "--out", str(found.folder), "--json"])
    assert found.document == json.loads(capsys.readouterr().out)
    assert 0 == app.run(["ablate", "--out", str(found.folder)])
    assert capsys.readouterr().out.startswith("Ablation on demo")


def test_before_triage_there_is_no_alert_precision(found: Ablation) -> None:
    record = next(r for r in rows(found)["gate"]["metrics"] if r["id"] == "alert_precision")
    assert (None, "before triage there are no alerts") == (record["value"], record["reason"])


def test_dynamic_k_is_compared_at_equal_mean_k(found: Ablation) -> None:
    assert value(rows(found)["fusion"], "k_mean") == value(rows(found)["dynamic_k"], "k_mean")
    policies = {row["name"]: row for row in found.document["policies"]}
    for name, row in policies.items():
        if not name.startswith("fixed"):
            rival = policies[f"fixed at the mean K of {name}"]
            assert row["sentences_shown"] == rival["sentences_shown"]


def test_steps_that_leave_the_ranking_alone_are_not_tested_on_it(found: Ablation) -> None:
    tested = {(row["other"], row["id"]) for row in found.document["comparisons"]}
    assert ("dynamic_k", "ndcg@10") not in tested
    assert ("gate", "ndcg@10") not in tested
    assert {("graph", "ndcg@10"), ("gate", "auroc"), ("triage", "evidence_recall")} <= tested


@pytest.mark.parametrize("name", ["comparisons", "policy_comparisons"])
def test_holm_is_over_the_whole_table(found: Ablation, name: str) -> None:
    p = np.array([row["p"] for row in found.document[name]])
    stated = [row["p_holm"] for row in found.document[name]]
    order = np.argsort(p, kind="stable")
    by_hand = np.empty(len(p))
    by_hand[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    assert by_hand.tolist() == pytest.approx(stated)


def test_p3_is_claimed_over_its_best_rival(found: Ablation) -> None:
    p3 = found.document["p3"]
    rivals = {row["base"]: row["base_value"] for row in p3["comparisons"]}
    assert {"rerank", "linear", "graph_no_edges"} == set(rivals)
    assert max(rivals, key=rivals.__getitem__) == p3["best_rival"]


def test_the_prior_is_the_runs_own(found: Ablation) -> None:
    master = json.loads((found.folder / "metrics_master.json").read_text())["metrics"]
    wanted = next(r["value"] for r in master if (r["id"], r["stage"], r["scope"]) == ("auroc", "prior", "pooled"))
    prior = next(row for row in found.document["gates"]["rows"] if row["name"] == "prior")
    assert wanted == value(prior, "auroc")


def test_the_excluded_criterion_is_judged_on_the_others(found: Ablation, corpus: Corpus) -> None:
    (excluded,) = corpus.meta.exclude_from_training
    others = corpus.pairs.filter(corpus.pairs["criterion_id"] != excluded).height
    row = next(c for c in found.document["comparisons"] if c["other"] == "criterion_back" and c["id"] == "auroc")
    assert others == row["n"]


def test_a_wider_share_shows_no_fewer_sentences(found: Ablation) -> None:
    swept = found.document["gamma_sweep"]
    shown = [row["sentences_shown"] for row in swept]
    assert [0.7, 0.8, 0.9, 0.95] == [row["gamma"] for row in swept]
    assert sorted(shown) == shown


def test_the_grid_of_thresholds_is_tunes(found: Ablation) -> None:
    grid = found.document["tau_grid"]
    manifest = json.loads((found.folder / "manifest.json").read_text())
    assert "tune" == grid["role"]
    assert 0 < grid["n"] < manifest["corpus"]["n_queries"] * len(manifest["folds"])
    sensitivity = [row["screening_sensitivity"] for row in grid["rows"] if row["tau_pos"] == 0.9]
    assert sorted(sensitivity, reverse=True) == sensitivity


def test_every_metric_is_one_of_the_contract(found: Ablation) -> None:
    for row in found.document["rows"]:
        for record in row["metrics"]:
            assert registry.lookup(record["id"])


def test_the_terminal_says_in_words_what_each_stage_adds(found: Ablation) -> None:
    text = found.text(100)
    assert "+ graph reranker (P3)" in text
    assert "The corpus is synthetic." in text
    assert len(rows(found)) - 1 <= len(found.document["words"])


def test_words_follow_the_adjusted_p() -> None:
    row = {"id": "ndcg@10", "base": "rerank", "other": "graph", "difference": 0.02, "ci_low": 0.01, "ci_high": 0.03}
    assert ablate_table.verdict({**row, "p_holm": 0.2}).startswith("adds nothing here")
    assert ablate_table.verdict({**row, "p_holm": 0.01}).startswith("gains: ndcg@10 +0.0200 against rerank")
    assert ablate_table.verdict({**row, "difference": -0.02, "p_holm": 0.01}).startswith("loses")


def test_words_name_everything_that_is_more_than_chance(found: Ablation) -> None:
    row = next(c for c in found.document["comparisons"] if (c["other"], c["id"]) == ("graph", "auroc"))
    certain = {**row, "difference": -0.25, "ci_low": -0.5, "ci_high": -0.125, "p_holm": 0.01}
    rows = [certain if c is row else {**c, "p_holm": 1.0} for c in found.document["comparisons"]]
    said = ablate_table.words({**found.document, "comparisons": rows})
    (graph,) = [line for line in said if line.startswith("+ graph reranker")]
    assert graph.endswith("More than chance too: auroc -0.2500 [-0.5000, -0.1250]*.")


def test_a_finished_run_keeps_its_settings(found: Ablation, corpus: Corpus) -> None:
    with pytest.raises(ConfigError, match=r"folds\.n_folds = 2, not 3"):
        ablate(corpus=corpus, out=found.folder, settings={**SMALL, "folds.n_folds": 3})


def test_another_corpus_is_refused(found: Ablation) -> None:
    with pytest.raises(DataError, match="another corpus"):
        ablate(corpus=demo_corpus(documents=31), out=found.folder)


def test_stages_that_give_other_numbers_than_the_run_are_refused(found: Ablation) -> None:
    record = next(r for r in rows(found)["triage"]["metrics"] if r["id"] == "auroc" and r["scope"] == "pooled")
    check_agrees(found.folder, [record])
    with pytest.raises(DataError, match="have changed since"):
        check_agrees(found.folder, [{**record, "value": record["value"] - 0.001}])


def test_what_is_switched_off_has_no_row(corpus: Corpus) -> None:
    settings = settle(flags={"graph.on": False, "rerank.kind": "none"}).settings
    made = variants(settings, corpus)
    assert {"whole", "linear", "restored"} == set(made)
    names = [row.name for row in steps(settings, made)]
    assert {"rerank", "graph", "graph_no_edges"}.isdisjoint(names)
    assert {"retrieve", "dynamic_k", "gate", "triage", "linear"} <= set(names)


def test_the_last_word_alone_has_no_mean(corpus: Corpus) -> None:
    settings = settle(flags={"preset": "reference"}).settings
    assert "fusion" not in [row.name for row in steps(settings, variants(settings, corpus))]


def test_a_row_without_edges_draws_none(corpus: Corpus) -> None:
    edges = variants(probative.api.settle().settings, corpus)["no_edges"].settings.graph.edges
    assert (0, False) == (edges.nearest, edges.adjacent)
