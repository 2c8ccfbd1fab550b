"""What a section is made of: plain dictionaries that the template knows how to show."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from probative.metrics import ENTRIES
from probative.report import words
from probative.report.plots.plot import Plot

Part = dict[str, Any]
Cell = str | Mapping[str, Any]
_IDS = {entry.id for entry in ENTRIES}


def section(id: str, title: str, intro: str, *parts: Part | None) -> Part:  # noqa: A002
    """A section; absent parts fall out."""
    return {"id": id, "title": title, "intro": intro, "parts": [part for part in parts if part is not None]}


def text(said: str) -> Part:
    return {"kind": "text", "text": said}


def note(said: str, tone: str = "info") -> Part:
    """A line set apart; the tone is also written out in words."""
    return {"kind": "note", "text": said, "tone": tone}


def heading(said: str) -> Part:
    return {"kind": "heading", "text": said}


def missing(what: str, why: str) -> Part:
    """A part that cannot be made, and why."""
    return {"kind": "missing", "text": f"{what} cannot be shown: {why}"}


def code(said: str, label: str) -> Part:
    return {"kind": "code", "text": said, "label": label}


def items(said: Iterable[str]) -> Part:
    return {"kind": "list", "items": list(said)}


def folded(title: str, *parts: Part | None) -> Part:
    """Parts behind a heading that opens without a script."""
    return {"kind": "folded", "title": title, "parts": [part for part in parts if part is not None]}


def figures(*found: Part | None) -> Part | None:
    """Figures side by side."""
    shown = [figure for figure in found if figure is not None]
    return {"kind": "figures", "parts": shown} if shown else None


def figure(
    plot: Plot, title: str, alt: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = ""
) -> Part:
    """A plot with its alternative in words and its data."""
    return {
        "kind": "figure",
        "name": plot.name,
        "title": title,
        "alt": alt,
        "caption": caption,
        "svg": plot.svg,
        "png": plot.png,
        "csv": as_csv(columns, rows),
        "wide": plot.wide,
    }


def table(
    name: str,
    caption: str,
    head: Sequence[Any],
    rows: Iterable[Sequence[Any]],
    note: str = "",
    *,
    keep: bool = True,
    sort: bool = True,
) -> Part:
    """A table; `keep` also writes it as CSV, Markdown and LaTeX, without `sort` its order is its meaning."""
    made = [[_cell(cell) for cell in row] for row in rows]
    because = _starred(made) + _because(made)
    heads = [_cell(cell) for cell in head]
    for place in range(1, len(heads)):
        column = [row[place] for row in made]
        if _is_numeric(column):
            for cell in (heads[place], *column):
                cell["num"] = True
    return {
        "kind": "table",
        "name": name,
        "caption": caption,
        "head": heads,
        "rows": made,
        "note": f"{note}{because}".strip(),
        "keep": keep,
        "sort": sort,
    }


_FIGURE = re.compile(r"[<>−+]? ?[\d.,]+( %)?( \[.*\]\*?)?( ± [\d.,]+)?")


def _is_numeric(column: Sequence[Mapping[str, Any]]) -> bool:
    said = [cell["text"] for cell in column if cell["text"] != words.NONE]
    return bool(said) and all(_FIGURE.fullmatch(text) for text in said)


def _starred(rows: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    """What an asterisk means, where there is one."""
    if not any(one["text"].endswith("]*") for row in rows for one in row):
        return ""
    return " An asterisk marks Clopper–Pearson on the effective number of documents, too near its end to resample."


def _because(rows: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    """Why cells are empty, each reason once."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        for one in row:
            if "reason" in one:
                found.setdefault(one["reason"], {})[row[0]["text"]] = None
    said = (reason if len(names) > 3 else f"{', '.join(names)}: {reason}" for reason, names in found.items())
    return f" – {'; '.join(said)}." if found else ""


def cell(said: Any, *, sort: float | None = None, tone: str = "") -> dict[str, Any]:
    """A cell with what to sort it by and how it is toned; a tone only repeats what the words say."""
    text = said if isinstance(said, str) else words.number(said)
    return {"text": text, "sort": sort, "tone": tone, "metric": "", "bounds": "", "num": False}


def metric(id: str, said: str = "") -> dict[str, Any]:  # noqa: A002
    """A metric's name that leads to its definition."""
    return {**cell(said or id), "metric": anchor(id)}


def measured(record: Mapping[str, Any] | None, digits: int = 3) -> dict[str, Any]:
    """Value and interval of a record."""
    if record is not None and record.get("reason"):
        return {**cell(words.NONE, tone="weak"), "reason": str(record["reason"])}
    if record is None or record["value"] is None:
        return cell(words.NONE)
    tone = "weak" if record.get("small") else ""
    return {
        **cell(words.measured(record, digits), sort=record["value"], tone=tone),
        "bounds": words.bounds(record, digits),
    }


def difference(row: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A paired difference, and its interval."""
    ends = [row.get(end) for end in ("ci_low", "ci_high")]
    bounds = words.NONE if None in ends else f"[{', '.join(words.signed(end, 3) for end in ends)}]"
    return cell(words.signed(row["difference"], 3), sort=row["difference"]), cell(bounds, sort=ends[0])


def basis(record: Mapping[str, Any] | None) -> str:
    """Whom a number is about: population, selection, n."""
    if record is None:
        return ""
    mode = f", selection {record['mode']}" if record.get("mode") else ""
    return (
        f"{record['population']}{mode}: n = {words.count(record['n'])} queries in "
        f"{words.count(record['n_docs'])} documents."
    )


def anchor(id: str) -> str:  # noqa: A002
    """Where the glossary explains a metric; empty when it does not."""
    family = pattern(id)
    return "m-" + re.sub(r"[^a-z0-9]+", "-", family.replace("α", "a").lower()).strip("-") if family else ""


def pattern(id: str) -> str:  # noqa: A002
    """The registry's id: ndcg@10 → ndcg@K."""
    family, _, parameter = id.partition("@")
    options = (id, f"{family}@fpr=α" if parameter.startswith("fpr=") else f"{family}@K")
    return next((option for option in options if option in _IDS), "")


def _cell(given: Cell) -> dict[str, Any]:
    return dict(given) if isinstance(given, Mapping) else cell(given)


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """CSV that no spreadsheet takes for formulas."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([words.harmless(column) for column in columns])
    writer.writerows([words.harmless(value) for value in row] for row in rows)
    return out.getvalue()
