"""Tables keep their shape whatever an identifier holds."""

from __future__ import annotations

from probative.evaluation.grid import Grid

HOSTILE = "a|b\u202e\n50 %_"


def test_identifiers_cannot_break_a_markdown_table() -> None:
    found = Grid(caption="c", head=("id", "value"), rows=((HOSTILE, "1"),)).markdown()
    assert ["| id | value |", "| --- | ---: |", "| a\\|b 50 %_ | 1 |"] == found.splitlines()


def test_identifiers_cannot_break_a_latex_table() -> None:
    found = Grid(caption="c", head=("id", "value"), rows=((HOSTILE, "1"),)).latex()
    assert r"a|b 50 \%\_ & 1 \\" in found.splitlines()
