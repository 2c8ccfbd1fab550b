"""PV060 to PV063: every printed number has a source."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from probative.audit.check import Check, absent, judged
from probative.audit.numbers import Known, Printed, Sources, leaves, printed, words
from probative.audit.source import Source

FIX = "Rebuild the tables and the report from the run: probative report RUN. Numbers are never typed in."
CODES = frozenset({"PV060", "PV061", "PV062", "PV063"})
SMALL = 1000
"""Whole numbers up to here count things or name cutoffs; they are not results, unless a column says so."""
COUNTED = frozenset({"n", "n_docs"})
ENDS = ("_low", "_high")
SILENT = frozenset({"script", "style", "svg", "template", "dl", "blockquote"})
"""Parts of a page without results: drawings repeat data, dl holds definitions, blockquote the documents' own words."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a table with the head above it, or a line of running text without one."""

    number: int
    cells: list[str]
    head: list[str]


def _csv(path: Path) -> Iterator[Line]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    for number, row in enumerate(rows[1:], start=2):
        yield Line(number, row, rows[0])


def _markdown(text: str) -> Iterator[Line]:
    head: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("|"):
            head = []
            yield Line(number, [line], [])
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").replace("\\|", "¦").split("|")]
        if not head:
            head = cells
        elif set(line) - set("|-: "):
            yield Line(number, cells, head)


def _latex(text: str) -> Iterator[Line]:
    head: list[str] = []
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if "\\begin{tabular" in line:
            inside, head = True, []
        elif "\\end{tabular" in line:
            inside = False
        elif inside and "&" in line:
            cells = [cell.strip() for cell in line.replace("\\\\", "").replace("\\&", "and").split("&")]
            if head:
                yield Line(number, cells, head)
            head = head or cells
        elif not inside:
            yield Line(number, [line], [])


class _Page(HTMLParser):
    """The tables and the running text of a page; scripts, styles and drawings left out."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Line] = []
        self.silent = 0
        self.head: list[str] = []
        self.row: list[str] | None = None
        self.heads_only = True
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in SILENT:
            self.silent += 1
        elif tag == "table":
            self.head = []
        elif tag == "tr":
            self.row, self.heads_only = [], True
        elif tag in {"td", "th"} and self.row is not None:
            self.row.append("")
            self.heads_only = self.heads_only and tag == "th"
        elif tag in {"p", "li", "div", "h1", "h2", "h3", "figcaption", "caption", "dd", "dt"}:
            self._flush()

    def handle_endtag(self, tag: str) -> None:
        if tag in SILENT:
            self.silent = max(0, self.silent - 1)
        elif tag == "tr" and self.row is not None:
            if self.heads_only:
                self.head = [cell.strip() for cell in self.row]
            else:
                self.lines.append(Line(self.getpos()[0], self.row, self.head))
            self.row = None

    def handle_data(self, data: str) -> None:
        if self.silent:
            return
        if self.row:
            self.row[-1] += data
        elif self.row is None:
            self.text.append(data)

    def _flush(self) -> None:
        text = " ".join("".join(self.text).split())
        self.text = []
        if text:
            self.lines.append(Line(self.getpos()[0], [text], []))


def lines(path: Path) -> Iterator[Line]:
    """The rows and lines of a file that can hold numbers."""
    if path.suffix == ".csv":
        yield from _csv(path)
        return
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield from _markdown(text)
    elif path.suffix == ".tex":
        yield from _latex(text)
    elif path.suffix == ".html":
        page = _Page()
        page.feed(text)
        page._flush()
        yield from page.lines


RECORD = ("id", "scope", "population", "mode", "criteria", "stage")


def _copied(path: Path, records: Mapping[tuple[str, ...], Mapping[str, Any]], name: str) -> Iterator[str]:
    """A table of whole records: each of its cells is that of one record."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream), start=2):
            record = records.get(_key(row))
            if record is None:
                yield f"{name}, line {number}: there is no record {' · '.join(filter(None, _key(row)))}"
                continue
            for column, cell in row.items():
                stated = record.get(column)
                if column not in RECORD and isinstance(stated, int | float) and float(cell or "nan") != float(stated):
                    yield f"{name}, line {number}: {column} of {row['id']} is {cell}, the record has {stated}"


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    defaults = {"criteria": "all", "stage": "final"}
    return tuple(str(row.get(part) or defaults.get(part, "")) for part in RECORD)


def _is_copy(path: Path) -> bool:
    if path.suffix != ".csv":
        return False
    with path.open(encoding="utf-8-sig") as stream:
        return {"id", "scope", "value"} <= set(stream.readline().strip().split(","))


def unknown(path: Path, sources: Sources, name: str) -> Iterator[str]:
    """Numbers of a file that no record has."""
    if _is_copy(path):
        yield from _copied(path, {_key(r): r for r in sources.master.get("metrics", ())}, name)
        return
    for line in lines(path):
        row_words = frozenset().union(*(words(cell) for cell in line.cells))
        row_ids = row_words & sources.by_id.keys()
        series = sources.of_series(line.head)
        for place, cell in enumerate(line.cells):
            head = line.head[place] if place < len(line.head) else ""
            if words(cell) & (sources.by_id.keys() | sources.scopes.keys()) and line.head:
                continue
            if (
                line.head
                and series is None
                and not sources.together(_widened(row_ids, sources), row_words, _plain(cell))
            ):
                yield f"{name}, line {line.number}: {_plain(cell)} are not the numbers of one record"
            known = series or _allowed(sources, head, row_ids, row_words if line.head else frozenset())
            for number in printed(cell):
                # A large whole number in a sentence counts something, whichever metric the sentence names.
                source = known if line.head or not number.is_whole else sources.anything
                if _is_result(number, head) and not source.has(number):
                    yield f"{name}, line {line.number}: {number.text} is in no record that its row can mean"


def _widened(ids: frozenset[str], sources: Sources) -> frozenset[str]:
    """A table of rates names its rows once, for the operating threshold and for 0.5."""
    return ids | {f"{name}@p=0.5" for name in ids} & sources.by_id.keys()


def _plain(cell: str) -> str:
    return cell.replace("$\\pm$", "±").replace("{", "").replace("}", "").replace("\\,", "").strip()


def _allowed(sources: Sources, head: str, row_ids: frozenset[str], row_words: frozenset[str]) -> Known:
    base = head
    for end in ENDS:
        base = base.removesuffix(end)
    ids = words(base) & sources.by_id.keys() or row_ids
    ids = _widened(ids, sources)
    return sources.of(ids, row_words | words(base)) if ids else sources.anything


def _is_result(number: Printed, head: str) -> bool:
    return not number.is_whole or number.value > SMALL or head in COUNTED


def all_printed(source: Source) -> list[Check]:
    """PV060 to PV063."""
    verdict = source.json("audit.json") if source.has("audit.json") else None
    sources = Sources(source.master or {}, source.ablation, source.manifest or {}, verdict)
    tables = [n for n in source.files if n.startswith("tables/") or (n.startswith("plots/") and n.endswith(".csv"))]
    groups = {
        "PV060": ("Numbers of the tables have a source", [n for n in tables if not n.endswith(".tex")]),
        "PV061": ("Numbers of the LaTeX tables have a source", [n for n in source.files if n.endswith(".tex")]),
        "PV062": ("Numbers of the report have a source", [n for n in source.files if n == "report.html"]),
    }
    found = [_group(source, code, title, names, sources) for code, (title, names) in groups.items()]
    return [*found, _summary(source, sources)]


def _group(source: Source, code: str, title: str, names: list[str], sources: Sources) -> Check:
    if not names:
        return absent(code, title, "there is no such file")
    if source.master is None:
        return absent(code, title, "there is no metrics_master.json")
    findings = [line for name in names for line in unknown(source.path(name), sources, name)]
    return judged(code, title, findings, good=f"every number in {len(names)} files was found", fix=FIX)


def _summary(source: Source, sources: Sources) -> Check:
    """PV063: each figure of summary.json is that of its own record."""
    title = "Numbers of summary.json have a source"
    if not source.has("summary.json") or source.master is None:
        return absent("PV063", title, "there is no summary.json beside a metrics_master.json")
    stated = source.json("summary.json")
    findings = []
    for name, entry in (stated.get("metrics") or {}).items():
        known = {v for r in sources.by_id.get(name, ()) if r["scope"] == "pooled" for v in leaves(r)}
        findings += [
            f"summary.json, {name}: {value} is in no pooled record of {name}"
            for value in leaves(entry)
            if value not in known
        ]
    for entry in stated.get("targets") or ():
        values = {r.get("value") for r in sources.by_id.get(str(entry.get("id")), ()) if r["scope"] == "pooled"}
        if entry.get("value") not in values:
            findings.append(f"summary.json, targets: {entry.get('id')} is {entry.get('value')}, in no pooled record")
    return judged("PV063", title, findings, good="every figure is that of a record", fix=FIX)
