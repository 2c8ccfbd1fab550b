"""The examples of the guide and of the docstrings do what they say."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from probative.decide import DecideSettings

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


def test_the_configuration_of_the_guide_shows_every_default() -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert DecideSettings().model_dump(mode="json") == yaml.safe_load(block)["decide"]
