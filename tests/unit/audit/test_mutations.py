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
    sys.path.insert(0, str(SCRIPT.parent))
    spec.loader.exec_module(module)
    sys.path.remove(str(SCRIPT.parent))
    return module


mutations = load()


Cases = list[tuple[Path, Case]]


@pytest.fixture(scope="module")
def cases(clean_run: Path, guaranteed_run: Path) -> Cases:
    found = []
    for run in (clean_run, guaranteed_run):
        with opened(run) as source:
            found.append((run, Case(source)))
    return found


def spoilt(one: object, cases: Cases, place: Path) -> tuple[Path, Case]:
    """The first run that holds what the mutation spoils, spoilt; skipped where there is none."""
    for number, (run, case) in enumerate(cases):
        try:
            return mutations.spoil(run, one, place / str(number), evaluate=False), case
        except StopIteration:
            continue
    pytest.skip("only a whole run has this file: scripts/mutations.py spoils one")


@pytest.mark.parametrize("one", mutations.MUTATIONS, ids=lambda one: one.name)
def test_a_spoilt_and_signed_run_is_caught(one: object, cases: Cases, tmp_path: Path) -> None:
    folder, case = spoilt(one, cases, tmp_path)
    found = mutations.verdict(folder, one.caught_by, case if one.of_numbers else None)
    assert {c.code for c in found if c.failed} & set(one.caught_by)


def test_there_are_at_least_a_hundred_of_them() -> None:
    assert len({one.name for one in mutations.MUTATIONS}) == len(mutations.MUTATIONS) >= 100
