"""The report: one page, its figures and its tables, made from the files of a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from probative import files
from probative.report import page, tables
from probative.report.folder import RunFolder
from probative.report.signature import sign
from probative.report.summary import summarise
from probative.report.texts import Texts


def write_report(folder: Path, *, out: Path | None = None, show_text: bool = False, corpus: Path | None = None) -> Path:
    """Write report.html, plots/ and tables/ into the folder, or the page alone to `out`; returns the page's path.

    Document text is on the page only with `show_text`, which needs the corpus.
    """
    run = RunFolder.read(Path(folder))
    found = summarise(run, Texts.read(run, corpus) if show_text else None)
    target = out or run.path / "report.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    files.write_text(target, page.render("report.html", report=found))
    if out is None:
        sign(run.path, [target, *_write_parts(found, run.path)])
    return target


def _write_parts(found: Mapping[str, Any], folder: Path) -> Iterator[Path]:
    for name in ("plots", "tables"):
        (folder / name).mkdir(exist_ok=True)
    for section in found["sections"]:
        for part in page.walk(section["parts"]):
            if part["kind"] == "figure":
                yield from _write_figure(part, folder / "plots")
            elif part["kind"] == "table" and part["keep"]:
                yield from tables.write(part, folder / "tables")


def _write_figure(figure: Mapping[str, Any], folder: Path) -> Iterator[Path]:
    for end, form in (("svg", figure["svg"].encode()), ("png", figure["png"]), ("csv", figure["csv"].encode())):
        path = folder / f"{figure['name']}.{end}"
        files.write_bytes(path, form)
        yield path
