"""The page as a dictionary: every number from its record, every missing part with its reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from probative.data import Corpus
from probative.data.demo import demo_corpus
from probative.errors import ConfigError, DataError
from probative.evaluation.api import evaluate
from probative.report import summarise, words
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
    assert row[2].startswith("≥ 0.85: ✓ met" if record["value"] >= 0.85 else "≥ 0.85: ✗ not met")
    assert row[4] == "240 / 60"


@pytest.mark.parametrize(
    ("expected", "low", "high"),
    [("≥ 0.85: ✓ met", 0.86, 0.95), ("≥ 0.85: ✓ met, but the interval spans it", 0.8, 0.95)],
)
def test_a_target_says_when_the_interval_spans_it(
    expected: str, low: float, high: float, fresh_run: Callable[[], Path]
) -> None:
    folder = fresh_run()
    master = json.loads((folder / "metrics_master.json").read_text())
    for record in master["metrics"]:
        if record["id"] == "auroc":
            record.update(value=0.9, ci_low=low, ci_high=high)
    (folder / "metrics_master.json").write_text(json.dumps(master))
    assert [expected] == [row[2] for row in table(only(folder, head), "head", "headline") if row[0] == "auroc"]


def test_a_metric_without_a_target_stands_beside_its_ranges(fresh_run: Callable[[], Path]) -> None:
    folder = fresh_run()
    master = json.loads((folder / "metrics_master.json").read_text())
    for record in master["metrics"]:
        if record["id"] == "ndcg@10":
            record["value"] = 0.82
    (folder / "metrics_master.json").write_text(json.dumps(master))
    row = next(row for row in table(only(folder, head), "head", "headline") if row[0] == "ndcg@10")
    assert row[2] == "baseline 0.70 to 0.80, good 0.85 to 0.90: baseline"


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


def test_every_figure_names_whom_it_is_about(summary: Part) -> None:
    about = ("n = ", "all_queries", "positives_only", "brackets the number of positives", "all queries with evidence")
    figures = [p for s in summary["sections"] for p in walk(s["parts"]) if p["kind"] == "figure"]
    silent = {f["name"] for f in figures if not any(word in f["caption"] for word in about)}
    assert silent == {"splits"}


def test_an_asterisk_is_explained_below_its_table(summary: Part) -> None:
    tables = [p for s in summary["sections"] for p in walk(s["parts"]) if p["kind"] == "table"]
    starred = {p["name"] for p in tables if any(cell["text"].endswith("]*") for row in p["rows"] for cell in row)}
    assert starred == {p["name"] for p in tables if "asterisk marks Clopper–Pearson" in p["note"]} != set()


def test_budgets_stand_beside_the_gate_that_never_reads(run_folder: Path, summary: Part) -> None:
    prior = RunFolder.read(run_folder).record("tpr@fpr=0.1", stage="prior")
    assert prior is not None
    assert table(summary, "detection", "detection_budgets")[3][1] == words.measured(prior)


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
    why = next(p["text"] for p in parts_of(found, "stages") if p.get("text", "").startswith("The ablation"))
    assert why.endswith("scores from another system."), "a remedy that cannot be taken is none"


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
    assert rows[0][:2] == ["retriever only", "0.500 [0.400, 0.600]"]
    assert rows[1][6] == "–"
    note = next(p for p in parts_of(found, "stages") if p.get("name") == "ablation_stages")["note"]
    assert "before triage" in note
    assert "`ndcg@10`: positives_only: n = 20 queries in 10 documents." in note
    assert table(found, "stages", "ablation_folds")[0][1] == "0.500 ± 0.100"
    assert table(found, "stages", "ablation_comparisons") == [
        ["+ reranker against retriever only", "ndcg@10", "+0.100", "[+0.050, +0.150]", "0.010", "0.020"]
    ]
    assert table(found, "dynamic_k", "policies_at_equal_k") == [
        ["gap", "3.00", "0.700", "3.00", "0.650", "+0.050", "[+0.010, +0.090]", "0.0002"]
    ]
    assert table(found, "triage", "tau_grid")[1] == ["0.1", "0.9", "0.900", "–", "5"]
    names = {p.get("name") for s in found["sections"] for p in walk(s["parts"]) if p["kind"] == "figure"}
    assert {"policies", "gamma_sweep", "tau_grid", "ablation", "ablation_gains"} <= names


def record(id: str, value: float | None, scope: str = "pooled", **more: Any) -> Part:  # noqa: A002
    ends = (None, None) if value is None else (value - 0.1, value + 0.1)
    about = {"population": "positives_only", "n": 20, "n_docs": 10}
    return {"id": id, "scope": scope, "value": value, "ci_low": ends[0], "ci_high": ends[1], **about, **more}


ABLATION = {
    "rows": [
        {
            "name": name,
            "label": label,
            "seconds": 2.0,
            "metrics": [
                record("ndcg@10", value),
                record("ndcg@10", value, "fold_mean", std_sample=0.1),
                record("alert_precision", None, reason="before triage there are no alerts"),
            ],
        }
        for name, label, value in (("retrieve", "retriever only", 0.5), ("rerank", "+ reranker", 0.6))
    ],
    "comparisons": [
        {"base": "retrieve", "other": "rerank", "id": "ndcg@10", "difference": 0.1, "ci_low": 0.05, "ci_high": 0.15,
         "p": 0.01, "p_holm": 0.02}
    ],
    "policies": [
        {"name": name, "metrics": [record("k_mean", 3.0), record("evidence_recall", recall)]}
        for name, recall in (("gap", 0.7), ("fixed at the mean K of gap", 0.65))
    ],
    "policy_comparisons": [
        {"id": "evidence_recall", "other": "gap", "base": "fixed at the mean K of gap", "difference": 0.05,
         "ci_low": 0.01, "ci_high": 0.09, "p_holm": 0.0002}
    ],
    "gamma_sweep": [{"gamma": g, "evidence_recall": g, "k_mean": 3.0, "sentences_shown": 9} for g in (0.7, 0.9)],
    "tau_grid": {
        "rows": [
            {"tau_neg": 0.1, "tau_pos": p, "screening_sensitivity": 0.9, "alert_precision": precision,
             "sentences_shown": 5}
            for p, precision in ((0.5, 0.5), (0.9, None))
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
    other = demo_corpus(documents=5).write(tmp_path / "other")
    with pytest.raises(DataError, match="not the corpus of this run"):
        Texts.read(run, other)


def test_text_of_a_run_on_fewer_documents_comes_from_the_whole_corpus(
    fresh_run: Callable[[], Path], tmp_path: Path
) -> None:
    whole = demo_corpus(documents=8)
    ids = whole.doc_ids[:5]
    cut = {n: t.filter(pl.col("doc_id").is_in(ids)) if "doc_id" in t.columns else t for n, t in whole.tables.items()}
    some = Corpus(meta=whole.meta, **cut)
    folder = fresh_run()
    pl.DataFrame({"doc_id": ids, "fold": 0, "role": "eval"}).write_parquet(folder / "folds.parquet")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["corpus"]["fingerprint"] = some.fingerprint
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert sorted(ids) == sorted(Texts.read(RunFolder.read(folder), whole.write(tmp_path / "whole")).by_document)


def test_text_of_the_demo_corpus_needs_no_folder(fresh_run: Callable[[], Path]) -> None:
    folder = fresh_run()
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["corpus"] = {"name": "demo"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "folds.parquet").unlink()
    assert len(Texts.read(RunFolder.read(folder), None).by_document) == 1477


def test_the_headline_mode_is_what_comes_nearest_to_triage(run_folder: Path) -> None:
    found = head.headline(RunFolder.read(run_folder), "evidence_recall")
    assert found is not None
    assert found["mode"] == "triage"
