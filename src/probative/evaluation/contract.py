"""The registry as text and JSON."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from probative.metrics import registry
from probative.metrics.entry import Entry

if TYPE_CHECKING:
    from rich.text import Text


def to_dict(entry: Entry) -> dict[str, Any]:
    """One entry as plain values; an open end of its range is null."""
    return {**asdict(entry), "target": str(entry.target) if entry.target else None}


def as_json() -> list[dict[str, Any]]:
    """Every entry as plain values."""
    return [to_dict(entry) for entry in registry.ENTRIES]


def listing(width: int) -> Text:
    """One line a metric, by section of the contract."""
    from rich.text import Text

    text = Text()
    section = ""
    wide = max(len(entry.id) for entry in registry.ENTRIES)
    for entry in registry.ENTRIES:
        if entry.section != section:
            section = entry.section
            text.append(f"{section}\n" if not text else f"\n{section}\n", style="bold")
        mark = "*" if entry.default else " "
        line = f"{mark} {entry.id.ljust(wide)}  {entry.population.ljust(14)}  {entry.interpretation}"
        text.append(_fit(line, max(width, 80)) + "\n")
    text.append("\n* the reading that headline tables use. `probative metrics explain ID` says more.\n", style="dim")
    return text


def _fit(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1].rstrip()}…"


def explanation(entry: Entry, width: int) -> Text:
    """Everything the contract says about one metric."""
    from rich.text import Text

    text = Text(f"{entry.id}\n", style="bold")
    lines = {
        "reads": entry.interpretation,
        "formula": entry.formula,
        "population": ", ".join(entry.populations),
        "modes": "raw, gate, triage (headline)" if entry.by_mode else "",
        "conventions": entry.conventions or "none beyond the formula",
        "range": f"{entry.range}, {_better(entry)}",
        "example": entry.example,
        "defined by": ", ".join(source if source != "–" else "probative" for source in entry.sources),
        "headline": "yes" if entry.default else "no: another reading is the default, or it is a supplement",
        "target": str(entry.target or ""),
        "baseline": _span(entry.baseline, entry.id),
        "good": _span(entry.good, entry.id),
        "needs": ", ".join(entry.inputs),
    }
    for name, said in lines.items():
        if said:
            text.append(f"  {name.ljust(13)}", style="dim")
            wrapped = textwrap.wrap(said, max(width, 60) - 15) or [""]
            text.append(f"\n{' ' * 15}".join(wrapped) + "\n")
    return text


def _better(entry: Entry) -> str:
    return "neither end is better" if entry.better == "none" else f"{entry.better} is better"


def _span(ends: tuple[float, float] | None, id: str) -> str:  # noqa: A002 - the contract's word
    where = {"K": " at K = 10", "α": " at α = 0.05"}.get(id[-1], "")
    return f"{ends[0]:g} – {ends[1]:g}{where}" if ends else ""
