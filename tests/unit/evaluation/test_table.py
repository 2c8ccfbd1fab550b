"""The printed table, the written files, and the Python front."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from probative.errors import ConfigError
from probative.evaluation import api
from probative.evaluation.grid import Grid, latex
from probative.evaluation.readers import read_chosen
from probative.evaluation.settings import EvaluateSettings
from probative.evaluation.table import View, check_view, number, render


@pytest.fixture(scope="module")
def example() -> api.Evaluation:
    return api.evaluate_source(read_chosen(example=True), EvaluateSettings(bootstrap=200))


def lines(found: api.Evaluation, view: View | None = None, width: int = 100) -> list[str]:
    return render(found.master, view or View(), width).plain.splitlines()


def row(found: api.Evaluation, name: str, view: View | None = None) -> str:
    return next(line for line in lines(found, view) if line.split()[:1] == [name])


def test_a_row_shows_id_value_std_interval_n_and_population(example: api.Evaluation) -> None:
    cells = row(example, "mrr").split()
    assert cells[:3] == ["mrr", "0.8333", "0.2357"]
    assert cells[3].startswith("[")
    assert cells[-2:] == ["3", "positives_only"]


def test_every_headline_fits_eighty_columns(example: api.Evaluation) -> None:
    assert [] == [line for line in lines(example, width=80) if len(line) > 80]


def test_ranking_stands_under_both_protocols(example: api.Evaluation) -> None:
    shown = [line for line in lines(example) if line.startswith(" mrr ")]
    assert ["positives_only", "all_queries"] == [line.split()[-1] for line in shown]


def test_targets_are_called_met_or_not_met(example: api.Evaluation) -> None:
    assert row(example, "alert_precision").split()[-1] == "all_queries"
    verdicts = {line.split()[0]: line.endswith("not met") for line in lines(example) if line.endswith(" met")}
    assert verdicts["auroc"]
    assert not verdicts["alert_precision"]


def test_what_is_not_computed_names_the_missing_column(example: api.Evaluation) -> None:
    assert any("auroc_raw" in line and "prob_raw" in line for line in lines(example))


def test_explain_puts_the_interpretation_under_its_row(example: api.Evaluation) -> None:
    shown = lines(example, View(explain=True))
    at = next(i for i, line in enumerate(shown) if line.startswith(" mrr "))
    assert "How early" in shown[at + 1]


def test_all_shows_what_the_headlines_leave_out(example: api.Evaluation) -> None:
    assert not any("map_found@10" in line for line in lines(example))
    assert "map_found@10" in row(example, "map_found@10", View(everything=True))


def test_scopes_are_chosen_by_pattern(example: api.Evaluation) -> None:
    shown = lines(example, View(scopes=("criterion:*",)))
    assert any("criterion:refund" in line for line in shown)


def test_without_resamples_no_interval_is_printed() -> None:
    found = api.evaluate_source(read_chosen(example=True), EvaluateSettings(bootstrap=0))
    assert "No intervals were asked for." in lines(found)
    assert "[" not in row(found, "mrr")


@pytest.mark.parametrize(
    ("value", "count", "text"),
    [(None, False, "–"), (0.5, False, "0.5000"), (1234.0, True, "1,234"), (12.34, False, "12.3")],
)
def test_numbers(value: float | None, count: bool, text: str) -> None:
    assert text == number(value, count=count)


def test_a_folder_gets_the_document_the_summary_and_the_tables(example: api.Evaluation, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("kept")
    example.write(out)
    master = json.loads((out / "metrics_master.json").read_text())
    assert master["schema_version"] == 1
    summary = json.loads((out / "summary.json").read_text())
    assert summary["metrics"]["mrr"]["value"] == pytest.approx(5 / 6)
    assert "kept" == (out / "mine.txt").read_text()
    with (out / "tables" / "metrics.csv").open() as stream:
        assert len(master["metrics"]) == len(list(csv.DictReader(stream)))
    assert r"\toprule" in (out / "tables" / "ranking.tex").read_text()
    assert "| mrr |" in (out / "tables" / "ranking.md").read_text()


def test_the_python_front_gives_values_records_and_the_table(example: api.Evaluation) -> None:
    scores = {"d1::A": {"s1": 0.2, "s2": 0.9}, "d2::A": {"s1": 0.4, "s2": 0.3}}
    found = api.evaluate(scores, gold={"d1::A": ["s1"], "d2::A": []}, bootstrap=0)
    assert found.value("mrr") == 0.5
    assert found.value("mrr", population="all_queries") == 0.25
    record = found.record("mrr")
    assert record is not None
    assert record["n"] == 1
    assert "mrr" in str(found)
    assert found.value("auroc") is None


def test_latex_escapes_what_latex_would_read() -> None:
    assert r"A\_1 \& 5\%" == latex("A_1 & 5%")
    assert "{[}0.1, 0.2]" == latex("[0.1, 0.2]")


def test_markdown_escapes_stars_and_pipes() -> None:
    grid = Grid(caption="", head=("a", "b"), rows=(("x|y", "1*"),))
    assert "| a | b |\n| --- | ---: |\n| x\\|y | 1\\* |\n" == grid.markdown()


def test_brief_shows_the_headline_few_and_nothing_around_them(example: api.Evaluation) -> None:
    shown = lines(example, View(brief=True))
    assert [line.split()[0] for line in shown if line.endswith("positives_only")] == [
        "recall@10",
        "mrr",
        "map@10",
        "ndcg@10",
    ]
    assert not any(line.startswith(("TARGETS", "NOT COMPUTED")) for line in shown)


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (
            View(scopes=("pooled", "fold:9")),
            "--scope fold:9: there is no such scope. There are pooled, criterion",
        ),
        (View(criteria="trained"), "--criteria trained: no criterion was excluded"),
    ],
)
def test_a_view_that_shows_nothing_is_refused(view: View, said: str, example: api.Evaluation) -> None:
    with pytest.raises(ConfigError, match=said):
        check_view(example.master, view)


def test_scopes_with_brackets_are_found_by_their_name() -> None:
    scores = {("d1", "[x]"): {"s1": 0.2}}
    found = api.evaluate(scores, gold={("d1", "[x]"): ["s1"]}, bootstrap=0)
    check_view(found.master, View(scopes=("criterion:[x]",)))
