"""The report: one page, its figures and its tables, made from the files of a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from probative import files
from probative.report import page, tables
from probative.report.folder import RunFolder
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
        _write_parts(found, run.path)
    return target


def _write_parts(found: Mapping[str, Any], folder: Path) -> None:
    for name in ("plots", "tables"):
        (folder / name).mkdir(exist_ok=True)
    for section in found["sections"]:
        for part in page.walk(section["parts"]):
            if part["kind"] == "figure":
                _write_figure(part, folder / "plots")
            elif part["kind"] == "table" and part["keep"]:
                tables.write(part, folder / "tables")


def _write_figure(figure: Mapping[str, Any], folder: Path) -> None:
    files.write_text(folder / f"{figure['name']}.svg", figure["svg"])
    files.write_bytes(folder / f"{figure['name']}.png", figure["png"])
    files.write_text(folder / f"{figure['name']}.csv", figure["csv"])
