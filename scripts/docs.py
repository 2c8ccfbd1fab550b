"""Rewrite the generated pages: docs/metrics.md from the registry, docs/api.md and docs/commands.md from the code."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
MODULES = {
    "probative": "What most people need.",
    "probative.metrics": "Metrics on arrays, lists and dictionaries, under the names that papers and reports use.",
    "probative.data": "Corpora.",
    "probative.decide": "Calibration, thresholds, dynamic K and triage on anyone's scores.",
    "probative.pipeline": "The fitted system.",
    "probative.encode": "Text to vectors.",
    "probative.retrieve": "The first stage.",
    "probative.rerank": "Learned rerankers.",
    "probative.graph": "The sentence graph.",
    "probative.audit": "The second opinion.",
    "probative.report": "Pages for readers.",
}
COMMANDS = (
    "run", "evaluate", "compare", "ablate", "tune", "fit", "screen", "verify", "report", "doctor",
    "data import", "data validate", "data describe", "data demo", "metrics list", "metrics explain",
)  # fmt: skip


def api() -> str:
    """Every public name with its first sentence."""
    lines = ["# Python names", "", "Made by `make docs`. What is not here is private and may change.", ""]
    for module, what in MODULES.items():
        lines += [f"## `{module}`", "", what, "", "| name | what it is |", "|---|---|"]
        found = import_module(module)
        lines += [f"| `{name}` | {_sentence(getattr(found, name))} |" for name in sorted(found.__all__)]
        lines.append("")
    return "\n".join(lines)


def _sentence(value: object) -> str:
    if not (callable(value) or inspect.ismodule(value)) or _is_type(value):
        return "a type" if _is_type(value) else "a constant"
    text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    return text.replace("|", "\\|") or "see its module"


def _is_type(value: object) -> bool:
    return getattr(type(value), "__module__", "") in ("typing", "types", "collections.abc")


def commands() -> str:
    """The help of every command."""
    lines = ["# Commands", "", "Made by `make docs` from the commands' own help.", ""]
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", "TERM": "dumb"}
    for command in COMMANDS:
        call = [sys.executable, "-m", "probative", *command.split(), "--help"]
        said = subprocess.run(call, capture_output=True, text=True, env=environment, check=True).stdout
        lines += [f"## probative {command}", "", "```text", said.rstrip(), "```", ""]
    return "\n".join(lines)


def pages() -> dict[str, str]:
    """Page name → text."""
    from probative.metrics.pages import render

    return {"metrics.md": render(), "api.md": api(), "commands.md": commands()}


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
        print(DOCS / name)
