"""The examples of the guide and of the docstrings do what they say."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "decisions-on-scores.md"
MODULES = ("calibrate", "decider", "dynamic_k", "guarantee", "isotonic", "threshold", "triage")


def test_the_guide_runs_as_printed() -> None:
    found = doctest.testfile(str(GUIDE), module_relative=False)
    assert found.attempted > 20
    assert found.failed == 0


@pytest.mark.parametrize("module", MODULES)
def test_the_docstrings_run_as_printed(module: str) -> None:
    found = doctest.testmod(import_module(f"probative.decide.{module}"))
    assert found.attempted > 0
    assert found.failed == 0
