"""A comparison as text for a terminal, and as the table of a paper."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from probative.evaluation.comparison import Comparison, Row
from probative.evaluation.grid import Grid
from probative.evaluation.table import number
from probative.evaluation.totals import Key
from probative.metrics import registry

if TYPE_CHECKING:
    from rich.text import Text

WIDE = 110
WIDE_ONLY = ("p", "effect", "w / t / l")
HEAD = ("id", "base", "other", "difference", "95 % interval", "p", "p Holm", "effect", "w / t / l")


def note(found: Comparison) -> str:
    """What the marks and numbers stand on, in one paragraph."""
    if not found.resamples:
        return "No resamples were asked for: no intervals and no test."
    return (
        f"Difference = other − base; {found.level:.0%} percentile intervals from {found.resamples:,} paired resamples "
        f"of {found.unit}, seed {found.seed}. Swap test with as many draws; * p < .05, ** p < .01, *** p < .001 "
        f"after Holm over {sum(row.p is not None for row in found.rows)} comparisons. Effect: the difference in "
        f"standard deviations of {found.one}'s share in it. w / t / l: {found.unit} on which the other is better, "
        "equal, worse."
    )


def render(found: Comparison, width: int) -> Text:
    """One block for every other system."""
    from rich.text import Text

    kept = tuple(i for i in range(len(HEAD)) if width >= WIDE or HEAD[i] not in WIDE_ONLY)
    text = Text(f"{found.n_queries:,} queries in {found.n_docs:,} documents.\n")
    head, *table = (tuple(cells[i] for i in kept) for cells in (HEAD, *map(_cells, found.rows)))
    widths = [max(len(row[i]) for row in (head, *table)) for i in range(len(head))]
    for other in found.systems[1:]:
        text.append(f"\n{other}", style="bold")
        text.append(f" against {found.systems[0]}\n")
        text.append(f"  {_line(head, widths)}\n", style="dim")
        for row, cells in zip(found.rows, table, strict=True):
            if row.other == other:
                text.append(f"  {_line(cells, widths)}\n", style="bold" if row.mark else "")
    if found.not_computed:
        text.append("\nNOT COMPUTED\n", style="bold")
        for name in found.not_computed:
            needs = ", ".join(registry.lookup(name.partition(":")[0]).inputs)
            text.append(f"  {name}: needs {needs} in every system\n")
    if len(kept) < len(HEAD):
        text.append(f"\n{', '.join(WIDE_ONLY)} need {WIDE} columns, or --json.\n", style="dim")
    text.append("\n")
    for line in textwrap.wrap(note(found), max(width, 72)):
        text.append(f"{line}\n", style="dim")
    return text


def label(key: Key) -> str:
    """A metric's id, with what is not its default."""
    entry = registry.lookup(key.id)
    said = [key.population] if key.population != entry.population else []
    said += [key.mode] if key.mode and key.mode != "triage" else []
    return f"{key.id} ({', '.join(said)})" if said else key.id


def _cells(row: Row) -> tuple[str, ...]:
    inside = "" if row.ci_low is None or row.ci_high is None else f"[{row.ci_low:+.4f}, {row.ci_high:+.4f}]"
    return (
        label(row.key),
        number(row.base_value),
        number(row.other_value),
        "–" if row.difference is None else f"{row.difference:+.4f}{row.mark}",
        inside,
        _p(row.p),
        _p(row.p_holm),
        "–" if row.effect is None else f"{row.effect:+.2f}",
        "–" if row.record is None else " / ".join(f"{count:,}" for count in row.record),
    )


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    numbers = (cell.rjust(size) for cell, size in zip(cells[1:], widths[1:], strict=True))
    return "  ".join((cells[0].ljust(widths[0]), *numbers)).rstrip()


def grid(found: Comparison) -> Grid:
    """Systems down, metrics across; marks stand on the values of the others."""
    rows = []
    for system in found.systems:
        cells = [system]
        for key in found.keys:
            row = found.row(system, key)
            cells.append(number(found.value(system, key).value) + (row.mark if row else ""))
        rows.append(tuple(cells))
    head = ("system", *(label(key) for key in found.keys))
    caption = f"{len(found.systems)} systems on {found.n_queries:,} queries of {found.n_docs:,} documents"
    return Grid(caption=caption, head=head, rows=tuple(rows), note=note(found))
