"""Shared fixtures: where the real corpus lies, and a cache of the tests' own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("PROBATIVE_SHARED") or Path(__file__).resolve().parents[2] / "shared")


@pytest.fixture(scope="session")
def cuad_path() -> Path:
    """The CUAD corpus folder, or a skip."""
    path = SHARED / "data" / "cuad"
    if not path.is_dir():
        pytest.skip("the CUAD corpus is not beside the repository; set PROBATIVE_SHARED to its parent folder")
    return path


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads or fills the user's cache."""
    os.environ.setdefault("PROBATIVE_CACHE", str(tmp_path_factory.mktemp("cache")))
