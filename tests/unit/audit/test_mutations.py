"""Every mutation of `scripts/mutations.py` is caught by the check that one would expect."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from probative.audit.source import opened
from probative.audit.verify import Case

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "mutations.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutations", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutations"] = module
    spec.loader.exec_module(module)
    return module


mutations = load()


@pytest.fixture(scope="module")
def case(clean_run: Path) -> Case:
    with opened(clean_run) as source:
        return Case(source)


@pytest.mark.parametrize("one", mutations.MUTATIONS, ids=lambda one: one.name)
def test_a_spoilt_and_signed_run_is_caught(one: object, clean_run: Path, case: Case, tmp_path: Path) -> None:
    folder = mutations.spoil(clean_run, one, tmp_path / "run", evaluate=False)
    found = mutations.verdict(folder, one.caught_by, case if one.of_numbers else None)
    assert {c.code for c in found if c.failed} & set(one.caught_by)


def test_there_are_at_least_thirty_of_them() -> None:
    assert len({one.name for one in mutations.MUTATIONS}) == len(mutations.MUTATIONS) >= 30
