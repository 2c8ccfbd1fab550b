"""docs/metrics.md is what the registry says."""

from __future__ import annotations

from pathlib import Path

from probative.metrics import ENTRIES, pages

PAGE = Path(__file__).resolve().parents[3] / "docs" / "metrics.md"


def test_the_page_is_current() -> None:
    assert pages.render() == PAGE.read_text(encoding="utf-8"), "run: python -m probative.metrics.pages docs/metrics.md"


def test_every_id_stands_on_the_page() -> None:
    text = pages.render()
    assert [] == [entry.id for entry in ENTRIES if f"`{entry.id}`" not in text]
