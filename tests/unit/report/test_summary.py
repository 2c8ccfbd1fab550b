"""The page as a dictionary: every number from its record, every missing part with its reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from probative.errors import ConfigError, DataError
from probative.evaluation.api import evaluate
from probative.report import summarise
from probative.report.folder import RunFolder
from probative.report.page import walk
from probative.report.sections import detection, dynamic_k, head, stages, triage
from probative.report.texts import Texts

Part = dict[str, Any]


@pytest.fixture(scope="module")
def summary(run_folder: Path) -> Part:
    return summarise(RunFolder.read(run_folder))


def only(folder: Path, *nouns: Any) -> Part:
    """Some sections of a folder."""
    run = RunFolder.read(folder)
    return {"sections": [noun.section(run) for noun in nouns]}


def parts_of(summary: Part, section: str) -> list[Any]:
    return list(walk(next(s for s in summary["sections"] if s["id"] == section)["parts"]))


def table(summary: Part, section: str, name: str) -> list[list[str]]:
    found = next(p for p in parts_of(summary, section) if p.get("name") == name and p["kind"] == "table")
    return [[cell["text"] for cell in row] for row in found["rows"]]


def test_a_headline_row_is_its_record(run_folder: Path, summary: Part) -> None:
    record = next(
        r
        for r in json.loads((run_folder / "metrics_master.json").read_text())["metrics"]
        if (r["id"], r["scope"], r["stage"], r["criteria"]) == ("auroc", "pooled", "final", "all")
    )
    row = next(row for row in table(summary, "head", "headline") if row[0] == "auroc")
    assert row[1] == f"{record['value']:.3f} [{record['ci_low']:.3f}, {record['ci_high']:.3f}]"
    assert row[2] == ("✓ met: auroc ≥ 0.85" if record["value"] >= 0.85 else "✗ not met: auroc ≥ 0.85")
    assert row[4] == "240 / 60"


def test_nothing_is_computed_a_changed_record_changes_the_page(fresh_run: Callable[[], Path]) -> None:
    folder = fresh_run()
    master = json.loads((folder / "metrics_master.json").read_text())
    for record in master["metrics"]:
        if record["id"] in ("screening_sensitivity", "tp"):
            record["value"] = 0.12345 if record["id"] != "tp" else 7777.0
    (folder / "metrics_master.json").write_text(json.dumps(master))
    found = only(folder, head, detection)
    assert "keeps 12.3 % of those that have evidence" in found["sections"][0]["intro"]
    assert table(found, "detection", "confusion")[0][1] == "7,777"


def test_both_protocols_stand_in_ranking(summary: Part) -> None:
    positives, everything = (
        table(summary, "ranking", f"ranking_{population}") for population in ("positives_only", "all_queries")
    )
    assert [row[0] for row in positives] == [row[0] for row in everything]
    assert float(positives[0][1].split()[0]) > float(everything[0][1].split()[0])


def test_a_synthetic_corpus_is_called_so(summary: Part) -> None:
    assert any("Synthetic corpus" in part.get("text", "") for part in parts_of(summary, "head"))


def test_every_figure_has_words_and_data(summary: Part) -> None:
    figures = [p for s in summary["sections"] for p in walk(s["parts"]) if p["kind"] == "figure"]
    assert len(figures) >= 15
    for figure in figures:
        assert len(figure["alt"]) > 20, figure["name"]
        assert figure["csv"].count("\n") >= 2, figure["name"]
        assert figure["svg"].count("<path") > 2, figure["name"]
        assert figure["png"].startswith(b"\x89PNG"), figure["name"]
    assert len({figure["name"] for figure in figures}) == len(figures)


def test_every_metric_of_a_table_leads_to_the_glossary(summary: Part) -> None:
    anchors = {t["anchor"] for p in parts_of(summary, "glossary") for g in p.get("groups", ()) for t in g["terms"]}
    cells = [
        cell
        for s in summary["sections"]
        for p in walk(s["parts"])
        if p["kind"] == "table"
        for row in [p["head"], *p["rows"]]
        for cell in row
    ]
    linked = {cell["metric"] for cell in cells if cell["metric"]}
    assert len(linked) > 40
    assert linked <= anchors


def test_errors_are_the_most_confident_ones_and_hold_no_text(run_folder: Path, summary: Part) -> None:
    misses = table(summary, "errors", "errors_misses")
    assert 0 < len(misses) <= 12
    assert {row[3] for row in misses} == {"NEG"}
    probabilities = [float(row[2]) for row in misses]
    assert probabilities == sorted(probabilities)
    assert not [p for p in parts_of(summary, "errors") if p["kind"] == "case"]
    alarms = [float(row[2]) for row in table(summary, "errors", "errors_alarms")]
    assert alarms == sorted(alarms, reverse=True)


def test_what_cannot_be_made_says_why(summary: Part) -> None:
    missing = [p["text"] for s in summary["sections"] for p in walk(s["parts"]) if p["kind"] == "missing"]
    assert [text for text in missing if "ablate" in text]
    assert all(" cannot be shown: " in text for text in missing)


def test_bare_scores_make_a_page_whose_sections_say_what_they_lack(tmp_path: Path) -> None:
    scores = {"a::x": {"s1": 0.9, "s2": 0.1}, "b::x": {"s3": 0.4, "s4": 0.3}}
    evaluate(scores, gold={"a::x": ["s1"], "b::x": []}, bootstrap=0).write(tmp_path / "out")
    found = summarise(RunFolder.read(tmp_path / "out"))
    kinds = {s["id"]: [p["kind"] for p in walk(s["parts"])] for s in found["sections"]}
    assert "table" in kinds["ranking"]
    for section in ("detection", "calibration", "dynamic_k", "triage", "errors", "reproduce"):
        assert "missing" in kinds[section], section


def test_an_audit_is_quoted(fresh_run: Callable[[], Path]) -> None:
    folder = fresh_run()
    (folder / "audit.json").write_text(json.dumps({"status": "failed", "failed": ["PV010"], "summary": "1 failed."}))
    said = [p["text"] for p in parts_of(only(folder, head), "head") if p["kind"] == "note"]
    assert "Audit failed: PV010. 1 failed." in said


def test_the_guarantee_is_told_in_its_own_words(fresh_run: Callable[[], Path]) -> None:
    folder = fresh_run()
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["folds"][0]["triage"]["guarantee"] = {"reason": "Not certifiable: 578 are missing."}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    said = [item for p in parts_of(only(folder, triage), "triage") for item in p.get("items", ())]
    assert said == ["Fold 0: Not certifiable: 578 are missing."]


def test_an_ablation_fills_stages_sweeps_and_grid(fresh_run: Callable[[], Path]) -> None:
    folder = fresh_run()
    (folder / "ablation.json").write_text(json.dumps(ABLATION))
    found = only(folder, stages, dynamic_k, triage)
    rows = table(found, "stages", "ablation_stages")
    assert rows[0][:2] == ["retriever only", "0.500 ± 0.100"]
    assert rows[1][6] == "–"
    assert "before triage" in next(p for p in parts_of(found, "stages") if p.get("name") == "ablation_stages")["note"]
    assert table(found, "stages", "ablation_comparisons")[0][2:4] == ["+0.1000", "[+0.0500, +0.1500]"]
    assert table(found, "dynamic_k", "policies_at_equal_k") == [["gap", "3.000", "0.700", "3.000", "0.650"]]
    names = {p.get("name") for s in found["sections"] for p in walk(s["parts"]) if p["kind"] == "figure"}
    assert {"policies", "gamma_sweep", "tau_grid", "ablation"} <= names


def record(id: str, value: float | None, scope: str = "pooled", **more: Any) -> Part:  # noqa: A002
    return {"id": id, "scope": scope, "value": value, "ci_low": None, "ci_high": None, **more}


ABLATION = {
    "rows": [
        {
            "label": label,
            "seconds": 2.0,
            "metrics": [
                record("ndcg@10", value),
                record("ndcg@10", value, "fold_mean", std_sample=0.1),
                record("alert_precision", None, reason="before triage there are no alerts"),
            ],
        }
        for label, value in (("retriever only", 0.5), ("+ reranker", 0.6))
    ],
    "comparisons": [
        {"base": "retrieve", "other": "rerank", "id": "ndcg@10", "difference": 0.1, "ci_low": 0.05, "ci_high": 0.15,
         "p": 0.01, "p_holm": 0.02}
    ],
    "policies": [
        {"name": name, "metrics": [record("k_mean", 3.0), record("evidence_recall", recall)]}
        for name, recall in (("gap", 0.7), ("fixed at the mean K of gap", 0.65))
    ],
    "gamma_sweep": [{"gamma": g, "evidence_recall": g, "k_mean": 3.0, "sentences_shown": 9} for g in (0.7, 0.9)],
    "tau_grid": {
        "rows": [
            {"tau_neg": 0.1, "tau_pos": p, "screening_sensitivity": 0.9, "alert_precision": p, "sentences_shown": 5}
            for p in (0.5, 0.9)
        ]
    },
    "words": ["+ reranker: gains."],
}  # fmt: skip


def test_a_folder_without_metrics_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="probative evaluate"):
        RunFolder.read(tmp_path)
    with pytest.raises(DataError, match="is not a folder"):
        RunFolder.read(tmp_path / "absent")
    (tmp_path / "metrics_master.json").write_text('{"schema_version": 9}')
    with pytest.raises(DataError, match="schema version 1"):
        RunFolder.read(tmp_path)


def test_text_needs_the_corpus_of_the_run(run_folder: Path, tmp_path: Path) -> None:
    run = RunFolder.read(run_folder)
    with pytest.raises(ConfigError, match="--corpus"):
        Texts.read(run, None)
    from probative.data.demo import demo_corpus

    other = demo_corpus(documents=5).write(tmp_path / "other")
    with pytest.raises(DataError, match="not the corpus of this run"):
        Texts.read(run, other)


def test_the_headline_mode_is_what_comes_nearest_to_triage(run_folder: Path) -> None:
    found = head.headline(RunFolder.read(run_folder), "evidence_recall")
    assert found is not None
    assert found["mode"] == "triage"
