"""What `--out` writes: metrics_master.json, summary.json, and tables as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from probative import files
from probative.evaluation.grid import Grid
from probative.evaluation.records import MetricsMaster, Record
from probative.evaluation.table import HEAD, SUMMARY, View, blocks, cells, headline_mode, not_computed, targets
from probative.metrics import registry

ACROSS = ("ndcg@10", "recall@10", "mrr", "auroc", "auprc", "brier", "ece", "screening_sensitivity", "alert_precision")
COLUMNS = (
    *("id", "scope", "population", "mode", "criteria", "stage", "value", "reason", "n", "n_docs", "std", "median"),
    *("p25", "p75", "std_sample", "std_pop", "ci_low", "ci_high", "ci_method"),
)


def write_tables(master: MetricsMaster, folder: Path) -> None:
    """Write everything into a folder; an existing folder keeps its other files."""
    if folder.exists():
        _write(master, folder)
        return
    with files.writing_folder(folder) as aside:
        _write(master, aside)


def _write(master: MetricsMaster, folder: Path) -> None:
    files.write_text(folder / "metrics_master.json", master.to_json())
    files.write_json(folder / "summary.json", summary(master))
    with files.writing_folder(folder / "tables") as tables:
        files.write_text(tables / "metrics.csv", _csv(master.metrics))
        for name, grid in grids(master):
            files.write_text(tables / f"{name}.md", grid.markdown())
            files.write_text(tables / f"{name}.tex", grid.latex())


def summary(master: MetricsMaster) -> dict[str, Any]:
    """The headline few, the targets, and what could not be computed."""
    mode = headline_mode(master)
    kept = ("value", "ci_low", "ci_high", "ci_method", "n", "n_docs", "population", "mode", "reason")
    found = {}
    for name in SUMMARY:
        entry = registry.lookup(name)
        record = master.get(name, population=entry.population, mode=mode if entry.by_mode else None)
        if record is not None:
            found[name] = {field: record[field] for field in kept if field in record}
    return {
        "schema_version": 1,
        "meta": dict(master.meta),
        "metrics": found,
        "targets": [
            {"id": record["id"], "value": record["value"], "target": target, "met": met}
            for record, target, met in targets(master)
        ],
        "not_computed": dict(not_computed(master)),
    }


def grids(master: MetricsMaster) -> Iterator[tuple[str, Grid]]:
    """The headline table of every section, and the headline metrics across folds and criteria."""
    sections: dict[str, list[tuple[str, ...]]] = {}
    for block in blocks(master, View()):
        name = block.section.lower().replace(" ", "_")
        sections.setdefault(name, []).extend(tuple(cell.strip() for cell in cells(row)) for row in block.rows)
    for name, rows in sections.items():
        yield name, Grid(caption=name.replace("_", " "), head=tuple(cell.strip() for cell in HEAD), rows=tuple(rows))
    for name, pattern in (("folds", "fold"), ("criteria", "criterion")):
        grid = _across(master, pattern)
        if grid.rows:
            yield name, Grid(caption=f"by {pattern}", head=grid.head, rows=grid.rows)


def _across(master: MetricsMaster, pattern: str) -> Grid:
    scopes = dict.fromkeys(record["scope"] for record in master.metrics if record["scope"].startswith(pattern))
    ids = [name for name in ACROSS if any(master.get(name, scope) for scope in scopes)]
    rows = tuple((scope, *(_cell(master.get(name, scope)) for name in ids)) for scope in scopes)
    return Grid(caption="", head=("scope", *ids), rows=rows)


def _cell(record: Record | None) -> str:
    return "–" if record is None or record["value"] is None else f"{record['value']:.4f}"


def _csv(records: Sequence[Record]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()
