"""What lies in the folder afterwards: a page, plots and tables that other programs can read."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from probative import files
from probative.experiment.run_tables import seal
from probative.report import write_methods, write_report
from probative.report.plots.plot import NAMES, STAGE

LIMIT = 8_000_000


@pytest.fixture(scope="module")
def written(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(shutil.copytree(run_folder, tmp_path_factory.mktemp("written") / "run"))
    write_report(folder)
    return folder


def test_the_folder_holds_page_plots_and_tables(written: Path) -> None:
    assert (written / "report.html").stat().st_size < LIMIT
    for plot in ("roc", "precision_recall", "reliability", "recall_by_k", "risk_coverage", "gold_flow", "splits"):
        for end in ("svg", "png", "csv"):
            assert (written / "plots" / f"{plot}.{end}").is_file(), plot
    for table in ("headline", "ranking_positives_only", "screening", "metrics_by_criterion"):
        for end in ("csv", "md", "tex"):
            assert (written / "tables" / f"{table}.{end}").is_file(), table
    assert (written / "tables" / "metrics.csv").is_file(), "tables of the evaluation stay"


def test_the_same_folder_gives_the_same_bytes(written: Path) -> None:
    kept = [p for p in sorted(written.rglob("*")) if p.suffix in (".html", ".svg", ".csv", ".tex", ".md", ".png")]
    before = {p: p.read_bytes() for p in kept}
    write_report(written)
    assert [p.name for p in kept if p.read_bytes() != before[p]] == []


def test_the_page_points_nowhere_but_into_itself(written: Path) -> None:
    page = (written / "report.html").read_text()
    links = re.findall(r'(?:href|src)="([^"]*)"', page)
    assert {link.partition(":")[0] for link in links if not link.startswith("#")} == {"data"}
    inside = {link[1:] for link in links if link.startswith("#")}
    assert inside <= set(re.findall(r'\bid="([^"]*)"', page))
    assert "url(http" not in page


@pytest.fixture
def sealed(fresh_run: Callable[[], Path]) -> Path:
    folder = fresh_run()
    write_report(folder)
    seal(folder)
    return folder


def contradicted(folder: Path) -> set[str]:
    """Files that differ from what checksums.txt or the manifest says, or that one of them does not know."""
    lines = (folder / "checksums.txt").read_text().splitlines()
    listed = {line[66:]: line[:64] for line in lines}
    stated = json.loads((folder / "manifest.json").read_text())["files"]
    there = {p.relative_to(folder).as_posix(): files.sha256_file(p) for p in folder.rglob("*") if p.is_file()}
    del there["checksums.txt"]
    wrong = {name for name, digest in there.items() if listed.get(name) != digest}
    return wrong | {name for name, digest in there.items() if name != "manifest.json" and stated.get(name) != digest}


def test_a_rebuilt_report_keeps_the_checksums_true(sealed: Path) -> None:
    (sealed / "plots" / "roc.svg").unlink()
    write_report(sealed)
    write_methods(sealed)
    assert (sealed / "methods.tex").is_file()
    assert contradicted(sealed) == set()


def test_a_rebuilt_report_signs_nothing_that_others_changed(sealed: Path) -> None:
    for name in ("per_query.csv", "manifest.json"):
        with (sealed / name).open("a") as stream:
            stream.write("\n")
    write_report(sealed)
    assert contradicted(sealed) == {"per_query.csv", "manifest.json"}


class Ids(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name == "id" and value]


def test_no_id_stands_twice_on_the_page(written: Path) -> None:
    ids = Ids()
    ids.feed((written / "report.html").read_text())
    assert {one for one, n in Counter(ids.found).items() if n > 1} == set()


def test_no_cell_of_any_csv_is_a_formula(written: Path) -> None:
    cells = 0
    for path in [*(written / "plots").glob("*.csv"), *(written / "tables").glob("errors_*.csv")]:
        with path.open(newline="") as stream:
            for row in csv.reader(stream):
                for cell in row:
                    cells += 1
                    assert not re.match(r"[=@+]|-[^\d.]", cell), (path.name, cell)
    assert cells > 500


def test_every_latex_table_is_balanced(written: Path) -> None:
    for path in (written / "tables").glob("*.tex"):
        text = path.read_text()
        for name in ("table", "tabular"):
            assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}")
        inside = re.sub(r"\\[{}]", "", text)
        assert inside.count("{") == inside.count("}"), path.name
        bare = re.sub(r"\\[&%#$_]", "", text)
        rows = [line for line in bare.splitlines() if line.endswith(r"\\")]
        columns = re.search(r"\\begin\{tabular\}\{([lr]*)\}", bare)
        assert columns, path.name
        if path.stem == "headline":
            assert {line.count("&") for line in rows} == {len(columns.group(1)) - 1}
        assert not re.search(r"[#%_]", re.sub(r"\\(begin|end|caption|toprule)", "", bare)), path.name


def test_the_page_alone_goes_where_it_is_sent(run_folder: Path, tmp_path: Path) -> None:
    before = sorted(run_folder.rglob("*"))
    page = write_report(run_folder, out=tmp_path / "deep" / "page.html")
    assert page.is_file()
    assert sorted(run_folder.rglob("*")) == before


def test_methods_are_a_paragraph_and_a_document_that_could_compile(run_folder: Path, tmp_path: Path) -> None:
    paragraph, document = write_methods(run_folder, out=tmp_path)
    assert "4 criteria of 60 documents" in paragraph.read_text()
    assert "(synthetic)" in paragraph.read_text()
    text = document.read_text()
    assert text.index(r"\usepackage{booktabs}") < text.index(r"\begin{document}") < text.index(r"\toprule")
    assert text.rstrip().endswith(r"\end{document}")
    assert "target or range" not in text
    assert r"\begin{tabular}{lrrll}" in text
    assert text.isascii() or all(ord(char) < 0x250 for char in text)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_stage_has_a_colour_a_dash_and_a_marker_of_its_own() -> None:
    for what in ("color", "linestyle", "marker"):
        assert len({str(style[what]) for style in STAGE.values()}) == len(STAGE)
    for style in STAGE.values():
        assert style["color"] in NAMES
        assert 1.05 / (luminance(style["color"]) + 0.05) > 3
