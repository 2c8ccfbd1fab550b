"""PV060 to PV063: every printed number has a source."""

from __future__ import annotations

import csv
import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from probative.audit.check import Check, absent, judged
from probative.audit.source import Source

FIX = "Rebuild the tables and the report from the run: probative report RUN. Numbers are never typed in."
NUMBER = re.compile(
    r"(?<![\w.#-])([−-]?)(\d{1,3}(?:[,\u202f\u2009\u00a0]\d{3})+|\d+)?(\.\d+)?(?:[eE]([+-]?\d+))?(?![\w])"
)
ALWAYS = 1000
"""Whole numbers up to here count things, name cutoffs or bins; they are not results."""


class Numbers:
    """All numbers that may be printed, sorted for lookup to printed precision."""

    def __init__(self, sources: Iterable[Any]) -> None:
        found: set[float] = set()
        for source in sources:
            found.update(leaves(source))
        found |= (
            {100 * v for v in found}
            | {1 - v for v in found if 0 <= v <= 1}
            | {100 * (1 - v) for v in found if 0 <= v <= 1}
        )
        self.sorted = sorted({abs(v) for v in found})

    def near(self, value: float, half: float) -> bool:
        """Whether some number rounds to this one."""
        slack = half * (1 + 1e-6) + 1e-12
        place = bisect_left(self.sorted, value - slack)
        return place < len(self.sorted) and self.sorted[place] <= value + slack


def leaves(value: Any) -> Iterator[float]:
    """Every number below a JSON value."""
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, str) and len(value) < 40:
        yield from (number for number, _, _ in numbers(value))


def numbers(text: str) -> Iterator[tuple[float, float, str]]:
    """(value, half a unit of its last digit, as printed) of every number in a text."""
    for match in NUMBER.finditer(text):
        whole, fraction, power = match.group(2), match.group(3), match.group(4)
        if whole is None and fraction is None:
            continue
        digits = re.sub(r"\D", "", whole or "0")
        scale = 10.0 ** int(power or 0)
        places = len(fraction) - 1 if fraction else 0
        yield float(f"{digits}{fraction or ''}") * scale, 0.5 * 10.0**-places * scale, match.group(0)


class _Words(HTMLParser):
    """The text of a page, without scripts, styles and drawings."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "style", "svg"}:
            self.silent.append(tag)
        if tag in {"td", "th", "p", "li", "tr", "div", "h1", "h2", "h3", "br"}:
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if self.silent and self.silent[-1] == tag:
            self.silent.pop()

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.parts.append(data)


def text_of(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".html":
        return text
    words = _Words()
    words.feed(text)
    return "".join(words.parts)


def _cells(path: Path) -> Iterator[tuple[int, str]]:
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as stream:
            for number, row in enumerate(csv.reader(stream), start=1):
                if number > 1:
                    yield from ((number, cell) for cell in row)
        return
    if path.suffix == ".json":
        yield 1, json.dumps(list(leaves(json.loads(path.read_text(encoding="utf-8")))))
        return
    for number, line in enumerate(text_of(path).splitlines(), start=1):
        yield number, line


def unknown(path: Path, known: Numbers, name: str) -> Iterator[str]:
    """Numbers of a file that no source has."""
    for line, cell in _cells(path):
        for value, half, printed in numbers(cell):
            is_result = half < 0.5 or value > ALWAYS
            if is_result and not known.near(value, half):
                yield f"{name}, line {line}: {printed.strip()} is in no record of this run"


def known_numbers(source: Source) -> Numbers:
    return Numbers([source.master, source.ablation, source.manifest])


def printed(source: Source, known: Numbers) -> list[Check]:
    """PV060 to PV063."""
    groups = {
        "PV060": (
            "Numbers of the tables have a source",
            [n for n in source.files if n.startswith("tables/") and not n.endswith(".tex")],
        ),
        "PV061": ("Numbers of the LaTeX tables have a source", [n for n in source.files if n.endswith(".tex")]),
        "PV062": ("Numbers of the report have a source", [n for n in source.files if n == "report.html"]),
        "PV063": ("Numbers of summary.json have a source", [n for n in source.files if n == "summary.json"]),
    }
    return [_group(source, code, title, names, known) for code, (title, names) in groups.items()]


def _group(source: Source, code: str, title: str, names: list[str], known: Numbers) -> Check:
    if not names:
        return absent(code, title, "there is no such file")
    if source.master is None:
        return absent(code, title, "there is no metrics_master.json")
    findings = [line for name in names for line in unknown(source.path(name), known, name)]
    return judged(code, title, findings, good=f"every number in {len(names)} files was found", fix=FIX)
