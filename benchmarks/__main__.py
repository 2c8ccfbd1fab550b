"""python -m benchmarks [--full] [--only NAME] [--out FILE]: measure beside peers and write RESULTS.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import command, detection, ranking, resampling
from benchmarks.data import Shape
from benchmarks.ranking import Row
from benchmarks.timing import machine
from probative.files import write_text

RESULTS = Path(__file__).parent / "RESULTS.md"
REFERENCE = Shape(queries=14_770, candidates=20, positive=0.093)
LONG = Shape(queries=100_000, candidates=100, positive=1.0)
LARGE = Shape(queries=1_000_000, candidates=20, positive=0.093)
LIBRARY = ("library", "time", "values that agree to 1e-9", "× probative")
NOTE = """Every library gets the same data in the shape that it likes; making that shape is not timed unless a row says
so. Values are compared before any time is; a difference above 1e-9 stops the run. Peers' loops over resamples may be
measured on fewer resamples and scaled, which their row says."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A table of the results."""

    name: str
    title: str
    head: tuple[str, str, str, str]
    rows: Callable[[], Iterable[Row]]
    full: bool = False
    """Only with --full."""


def sections(full: bool) -> list[Section]:
    """All tables; loops over peers are short unless `full`."""
    loops = 10_000 if full else 50
    found = [
        Section(
            name=f"ranking-{name}",
            title=f"Ranking: six metrics, five cutoffs, {shape.name}",
            head=LIBRARY,
            rows=lambda shape=shape: ranking.compare(shape, slow=full or shape is REFERENCE),  # type: ignore[misc]
            full=shape is not REFERENCE,
        )
        for name, shape in (("reference", REFERENCE), ("long", LONG), ("large", LARGE))
    ]
    return [
        *found,
        Section(
            name="detection",
            title=f"Detection: AUROC, average precision, TPR at four FPR budgets, {REFERENCE.queries:,} queries",
            head=LIBRARY,
            rows=lambda: detection.compare(REFERENCE),
        ),
        Section(
            name="resampling",
            title="Intervals: 10,000 resamples of 1,477 documents",
            head=LIBRARY,
            rows=lambda: resampling.compare(REFERENCE, loops=min(loops, 1_000)),
        ),
        Section(
            name="command",
            title=f"Whole processes: {REFERENCE.name}, per_query.parquet, 10,000 resamples of documents",
            head=("process", "wall time", "peak memory", "× probative"),
            rows=lambda: command.compare(REFERENCE, loops=min(loops, 1_000)),
        ),
        Section(
            name="growth",
            title="Growth with the number of queries",
            head=("queries", "ranking metrics on columns", "probative evaluate --bootstrap 0", "with 10,000 resamples"),
            rows=lambda: command.growth(
                (10_000, 100_000, 1_000_000) if full else (10_000, 100_000), 10_000 if full else 0
            ),
        ),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--full", action="store_true", help="also the large shapes, and long loops over peers")
    parser.add_argument(
        "--only",
        help="tables whose name begins so: ranking-reference, -long, -large, detection, resampling, command, growth",
    )
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go; - prints only")
    chosen = parser.parse_args()
    lines = ["# Benchmarks", "", *NOTE.splitlines(), "", *(f"- {name}: {value}" for name, value in machine())]
    for section in sections(chosen.full):
        if (section.full and not chosen.full) or not section.name.startswith(chosen.only or ""):
            continue
        print(f"\n{section.title}", file=sys.stderr, flush=True)
        lines += ["", f"## {section.title}", "", _row(section.head), _row(("---", "---:", "---:", "---:"))]
        for row in section.rows():
            print("  " + "  |  ".join(row), file=sys.stderr, flush=True)
            lines.append(_row(row))
    text = "\n".join(lines) + "\n"
    if str(chosen.out) == "-":
        print(text, end="")
    else:
        write_text(chosen.out, text)
    return 0


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
