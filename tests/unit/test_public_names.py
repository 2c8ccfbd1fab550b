"""The names that can be imported are the names that are documented, and importing them is free."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
HEADING = re.compile(r"^## `(probative[\w.]*)`", re.MULTILINE)
HEAVY = ("torch", "transformers", "lightgbm", "sklearn", "numpy", "polars", "pandas", "scipy", "matplotlib")


def documented() -> dict[str, list[str]]:
    """Module → names in the first column of its table."""
    _, *parts = HEADING.split(PAGE.read_text())
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    return {module: sorted(re.findall(r"^\| `(\w+)", text, re.MULTILINE)) for module, text in sections.items()}


@pytest.mark.parametrize("module", sorted(documented()))
def test_the_exported_names_are_the_documented_ones(module: str) -> None:
    assert sorted(import_module(module).__all__) == documented()[module]


def test_importing_probative_imports_nothing_heavy() -> None:
    code = f"import sys, probative; print([m for m in {HEAVY!r} if m in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_the_light_rooms_import_no_model_package() -> None:
    rooms = "metrics data evaluation audit report decide cli.app"
    code = (
        "import sys\n"
        + "".join(f"import probative.{room}\n" for room in rooms.split())
        + "print([m for m in ('torch', 'transformers', 'lightgbm', 'sklearn', 'onnxruntime') if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_an_unknown_name_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="nonsense"):
        from probative import nonsense  # noqa: F401
