"""The review page in a browser: keys, filters, no request, hostile text harmless."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from probative.pipeline.documents import NewDocument, Unreadable
from probative.report import write_review

pytestmark = pytest.mark.browser
TEXT = (
    "First, a plain sentence. <script>document.title = 'taken'</script> is said here. "
    "Then \u202ereversed\u202c words. " + "w" * 10_000
)
STATES = ("POS", "UNCERTAIN", "NEG")


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("review")
    documents = [NewDocument(doc_id=f"d{number}", text=TEXT) for number in range(4)]
    start = TEXT.index("<script>")
    lines = []
    for number, document in enumerate(documents):
        for place, criterion in enumerate(("A.1", "<b>A.2</b>", "A.3")):
            spans = [(start, TEXT.index("Then")), (TEXT.index("Then"), TEXT.index("www"))]
            evidence = [
                {"sent_uid": f"{document.doc_id}_{n}", "start": a, "end": b, "probability": 0.5}
                for n, (a, b) in enumerate(spans)
            ]
            state = STATES[(number + place) % 3]
            lines.append(
                {"doc_id": document.doc_id, "criterion_id": criterion, "probability": 0.7, "state": state,
                 "predicted": state == "POS", "evidence": evidence if state != "NEG" else [], "note": None}
            )  # fmt: skip
    (out / "decisions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    counts = {state: sum(line["state"] == state for line in lines) for state in STATES}
    summary = {"documents": 4, "queries": 12, "states": counts, "rejected": 1, "synthetic": True, "warning": "Drift."}
    (out / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    rows = [documents[0], Unreadable(where="line 2", reason="is not JSON"), *documents[1:]]
    return write_review(out, documents=rows)


def test_it_shows_alerts_and_doubts_and_asks_for_nothing(review: Path, show: Callable[..., Any]) -> None:
    opened = show(review)
    assert opened.page.locator("article.query").count() == 8
    assert "contains the text of the documents" in opened.page.locator("main").inner_text()
    assert opened.page.title() == "probative review"
    assert opened.page.locator("mark").first.inner_text().startswith("<script>document.title")
    assert "⟨U+202E⟩" in opened.page.locator("main").inner_text()
    assert (opened.said, opened.requests) == ([], [])


def test_filters_leave_one_criterion_and_one_state(review: Path, show: Callable[..., Any]) -> None:
    page = show(review).page
    page.select_option("#criterion", "<b>A.2</b>")
    page.select_option("#state", "POS")
    shown = page.locator("article.query:visible")
    assert {(one.get_attribute("data-criterion"), one.get_attribute("data-state")) for one in shown.all()} == {
        ("<b>A.2</b>", "POS")
    }
    assert (shown.count(), page.locator("#shown").inner_text()) == (1, "1 query")


def test_without_scripts_it_reads_and_has_no_dead_controls(review: Path, show: Callable[..., Any]) -> None:
    page = show(review, java_script_enabled=False).page
    assert page.locator("article.query:visible").count() == 8
    assert page.locator("select:visible, button:visible").count() == 0
    assert "rows that could not be read: 1," in page.locator("main").inner_text()


def test_keys_step_through_queries_and_marks(review: Path, show: Callable[..., Any]) -> None:
    page = show(review).page
    place = "[...document.querySelectorAll('article.query')].findIndex(one => one.classList.contains('current'))"
    mark = "[...document.querySelectorAll('mark')].findIndex(one => one.classList.contains('current'))"
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate(place) == 1
    page.keyboard.press("n")
    assert page.evaluate(mark) == 2
    page.keyboard.press("n")
    page.keyboard.press("n")
    assert (page.evaluate(place), page.evaluate(mark)) == (2, 4)
    page.keyboard.press("p")
    assert (page.evaluate(place), page.evaluate(mark)) == (1, 3)
    page.keyboard.press("k")
    assert (page.evaluate(place), page.evaluate(mark)) == (0, -1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(review: Path, show: Callable[..., Any], theme: str) -> None:
    opened = show(review, color_scheme=theme)
    assert opened.violations() == []
    opened.page.set_viewport_size({"width": 390, "height": 800})
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
