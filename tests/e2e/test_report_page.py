"""The report in a browser: whole, silent, offline, usable, and unmoved by hostile text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from probative.data import Corpus
from probative.report import write_report

pytestmark = pytest.mark.browser
SECTIONS = [
    *("head", "data", "ranking", "detection", "calibration", "dynamic_k", "triage", "criteria", "stages", "errors"),
    *("reproduce", "glossary"),
]


@pytest.fixture(scope="module")
def report(made_run: Path) -> Path:
    return write_report(made_run)


@pytest.fixture(scope="module")
def with_text(made_run: Path, made_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    manifest = json.loads((made_run / "manifest.json").read_text())
    manifest["corpus"]["fingerprint"] = Corpus.read(made_corpus).fingerprint
    (made_run / "manifest.json").write_text(json.dumps(manifest))
    return write_report(
        made_run, out=tmp_path_factory.mktemp("text") / "report.html", show_text=True, corpus=made_corpus
    )


def test_every_section_is_there_and_the_page_asks_for_nothing(report: Path, show: Callable[..., Any]) -> None:
    opened = show(report)
    sections = opened.page.eval_on_selector_all("main > section", "all => all.map(one => one.id)")
    assert sections == SECTIONS
    opened.page.wait_for_timeout(200)
    assert opened.said == []
    assert opened.requests == []
    assert 15 <= opened.page.locator("figure.plot svg").count()
    assert "synthetic corpus" in opened.page.locator("header").inner_text()


def test_tables_sort_by_value_and_say_so(report: Path, show: Callable[..., Any]) -> None:
    page = show(report).page
    head = page.locator("#t-extraction thead th").nth(1)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    cells = page.eval_on_selector_all(
        "#t-extraction tbody tr td:nth-child(2)", "all => all.map(one => Number(one.dataset.sort))"
    )
    assert cells == sorted(cells, reverse=True)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"


def test_the_theme_toggles_and_the_drawings_follow(report: Path, show: Callable[..., Any]) -> None:
    page = show(report, color_scheme="light").page
    ink = "getComputedStyle(document.querySelector('figure.plot svg text')).fill"
    light = page.evaluate(ink)
    page.locator("#theme").click()
    page.locator("#theme").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.evaluate(ink) != light


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(report: Path, show: Callable[..., Any], theme: str) -> None:
    opened = show(report, color_scheme=theme)
    opened.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert opened.violations() == []


def test_it_reads_without_scripts_and_prints(report: Path, show: Callable[..., Any], tmp_path: Path) -> None:
    page = show(report, java_script_enabled=False).page
    assert "have evidence" in page.locator("#head .intro").inner_text()
    assert page.locator("#theme").is_hidden()
    assert page.locator("#t-settings").is_hidden()
    page.emulate_media(media="print")
    assert page.locator("#t-settings").is_visible(), "paper has nothing to unfold"
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert 50_000 < (tmp_path / "report.pdf").stat().st_size


def test_a_narrow_screen_scrolls_tables_and_not_the_page(report: Path, show: Callable[..., Any]) -> None:
    page = show(report).page
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_names_of_rows_stay_in_sight_while_a_table_scrolls(report: Path, show: Callable[..., Any]) -> None:
    page = show(report).page
    page.set_viewport_size({"width": 390, "height": 800})
    table, name = page.locator(".table:has(#t-headline)"), page.locator("#t-headline tbody th").first
    before = name.bounding_box()
    table.evaluate("one => { one.scrollLeft = 200 }")
    assert table.evaluate("one => one.scrollLeft") > 100
    assert name.bounding_box() == before
    caption = page.locator("#t-headline caption span").bounding_box()
    assert caption is not None
    assert caption["x"] + caption["width"] <= 390


def test_metrics_in_captions_lead_to_the_glossary(report: Path, show: Callable[..., Any]) -> None:
    page = show(report).page
    page.locator("#f-risk_coverage figcaption a", has_text="aurc").click()
    assert page.evaluate("document.querySelector(':target').textContent") == "aurc"


def test_hostile_text_is_shown_and_does_nothing(with_text: Path, show: Callable[..., Any]) -> None:
    opened = show(with_text)
    page = opened.page
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    page.wait_for_timeout(200)
    assert opened.said == []
    assert opened.requests == []
    assert page.title() == "probative report: made <b>up</b>"
    words = page.locator("#errors").inner_text()
    assert "<script>document.title = 'taken'</script>" in words
    assert "⟨U+202E⟩" in words
    assert "\u202e" not in page.content()
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert opened.violations() == []
