"""An ablation as tables, and in words: what each stage adds."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from probative.evaluation.grid import Grid
from probative.evaluation.table import number

FOUND = ("ndcg@10", "recall@10", "auroc", "auprc")
SHOWN = ("evidence_recall", "evidence_precision", "k_mean", "screening_sensitivity", "alert_precision")
JUDGED_BY = {
    "rerank": "ndcg@10",
    "graph": "ndcg@10",
    "fusion": "ndcg@10",
    "dynamic_k": "evidence_recall",
    "gate": "auroc",
    "linear": "ndcg@10",
    "graph_no_edges": "ndcg@10",
    "whole_no_edges": "ndcg@10",
    "whole_no_graph": "ndcg@10",
    "criterion_back": "ndcg@10",
}
"""The metric that says whether a row adds anything."""
CHANGED = ("graph_no_edges", "whole_no_edges", "whole_no_graph", "criterion_back")
"""Rows that take something out or put something back, rather than add a stage."""
LIMIT = 0.05
CSV_FIELDS = (
    *("row", "label", "base", "metric", "scope", "mode", "criteria", "value", "ci_low", "ci_high", "std_sample", "n"),
    *("n_docs", "reason", "seconds"),
)
Document = Mapping[str, Any]


def words(found: Document) -> list[str]:
    """One sentence a row: what it adds, with the paired interval, and what it costs."""
    said = [_about(row, found) for row in found["rows"] if row["base"] is not None]
    return [*said, *_claims(found)]


def _about(row: Document, found: Document) -> str:
    name = row["name"]
    if name == "triage":
        return _triage(row, found)
    chosen = next((c for c in found["comparisons"] if c["other"] == name and c["id"] == JUDGED_BY[name]), None)
    if chosen is None:
        return f"{row['label']}: not comparable with {row['base']}."
    return f"{row['label']}: {verdict(chosen)}{_shown(row, found)}{_beside(chosen, found)}"


def _beside(chosen: Document, found: Document) -> str:
    """What else of a row can be told from chance."""
    rows = [c for c in found["comparisons"] if c["other"] == chosen["other"] and c["id"] != chosen["id"]]
    told = [f"{c['id']} {_change(c)}" for c in rows if c["p_holm"] is not None and c["p_holm"] < LIMIT]
    return f" More than chance too: {', '.join(told)}." if told else ""


def verdict(comparison: Document) -> str:
    """What a paired comparison says in words; `other` is what is added, or left after something is taken out."""
    gap, low, high = comparison["difference"], comparison["ci_low"], comparison["ci_high"]
    if gap is None:
        return f"{comparison['id']} is undefined on one side."
    inside = "no interval" if low is None else f"95 % interval {low:+.4f} to {high:+.4f}"
    p = comparison["p_holm"]
    tested = "not tested" if p is None else f"p = {p:.4f} after Holm"
    change = f"{comparison['id']} {gap:+.4f} against {comparison['base']} ({inside}, {tested})"
    if p is None:
        return f"{change}."
    if p >= LIMIT:
        start = "no difference" if comparison["other"] in CHANGED else "adds nothing here"
        return f"{start} that can be told from chance: {change}."
    return f"{'gains' if gap > 0 else 'loses'}: {change}."


def _change(comparison: Document) -> str:
    """A difference with its interval; a star where it can be told from chance."""
    gap, low, p = comparison["difference"], comparison["ci_low"], comparison["p_holm"]
    if gap is None:
        return "undefined"
    inside = "" if low is None else f" [{low:+.4f}, {comparison['ci_high']:+.4f}]"
    return f"{gap:+.4f}{inside}{'*' if p is not None and p < LIMIT else ''}"


def _shown(row: Document, found: Document) -> str:
    name = row["name"]
    if name == "dynamic_k":
        return " Compared at equal mean K over all queries."
    if name != "gate":
        return ""
    before = next(r for r in found["rows"] if r["name"] == row["base"])
    return f" It shows {_value(row, 'k_mean'):.2f} sentences a query instead of {_value(before, 'k_mean'):.2f}."


def _triage(row: Document, found: Document) -> str:
    sensitivity, precision = _value(row, "screening_sensitivity"), _value(row, "alert_precision")
    kept = "undefined" if sensitivity is None else f"{sensitivity:.1%}"
    right = "no alert is raised" if precision is None else f"{precision:.1%} of its alerts have evidence"
    recall = next((c for c in found["comparisons"] if c["other"] == "triage" and c["id"] == "evidence_recall"), None)
    shown = f" What it shows: {verdict(recall)}" if recall else ""
    return f"{row['label']}: keeps {kept} of the queries with evidence; {right}.{shown}"


def _claims(found: Document) -> list[str]:
    said = []
    p3 = found["p3"]
    claimed = [row for row in p3["comparisons"] if row["base"] == p3["best_rival"]]
    said += [f"P3 against its best rival, {row['base']}: {verdict(row)}" for row in claimed]
    best = [c for c in found["gates"]["comparisons"] if c["other"] == "gate:final" and c["id"] == "auroc"]
    said += [f"The final gate against {row['base']}: {verdict(row)}" for row in best]
    pairs = [row for row in found["policy_comparisons"] if row["id"] == "evidence_recall"]
    listed = "; ".join(f"{row['other']} {_change(row)}" for row in pairs)
    said.append(f"Evidence recall of every policy over fixed at its own mean K: {listed}.")
    return said


def _record(row: Document, name: str, scope: str = "pooled") -> Document:
    return next((r for r in row["metrics"] if r["id"] == name and r["scope"] == scope), {})


def _value(row: Document, name: str) -> Any:
    return _record(row, name).get("value")


def _cell(row: Document, name: str) -> str:
    value = _value(row, name)
    spread = _record(row, name, "fold_mean").get("std_sample")
    return number(value) if spread is None or value is None else f"{number(value)} ± {number(spread, digits=3)}"


def grids(found: Document) -> list[Grid]:
    """The rows twice: what is found and at what cost, and what is shown."""
    synthetic = " The corpus is synthetic." if found["meta"]["synthetic"] else ""
    excluded = " Criteria put back: measured on the other criteria." if _has(found, "criterion_back") else ""
    ranked = [(row["label"], *(_cell(row, name) for name in FOUND), _seconds(row)) for row in found["rows"]]
    shown = [(row["label"], *(_cell(row, name) for name in SHOWN)) for row in found["rows"]]
    basis = f"Pooled value ± standard deviation over folds.{excluded}{synthetic}"
    return [
        Grid(
            caption=f"Ablation on {found['meta']['corpus']}: what is found",
            head=("", *FOUND, "seconds"),
            rows=ranked,
            note="Before the gate the probability is the best candidate's score calibrated on TUNE. Seconds: learning "
            f"and scoring of all stages that a row needs, over all folds. {basis}",
        ),
        Grid(
            caption="What is shown",
            head=("", *SHOWN),
            rows=shown,
            note="Before dynamic K every query shows the same number of sentences, at the mean K of the policy. "
            f"{basis}",
        ),
    ]


def _has(found: Document, name: str) -> bool:
    return any(row["name"] == name for row in found["rows"])


def _seconds(row: Document) -> str:
    return "–" if row["seconds"] is None else f"{row['seconds']:.1f}"


def comparison_grid(found: Document) -> Grid:
    """Every row against the row above it."""
    rows = [
        (
            f"{c['other']} against {c['base']}",
            c["id"],
            f"{c['difference']:+.4f}",
            "–" if c["ci_low"] is None else f"[{c['ci_low']:+.4f}, {c['ci_high']:+.4f}]",
            "–" if c["p"] is None else f"{c['p']:.4f}",
            "–" if c["p_holm"] is None else f"{c['p_holm']:.4f}",
        )
        for c in found["comparisons"]
        if c["difference"] is not None
    ]
    head = ("rows", "id", "difference", "95 % interval", "p", "p Holm")
    return Grid(caption="Paired comparisons", head=head, rows=rows)


def tables(found: Document) -> dict[str, str]:
    """File name → text, for the folder `tables`."""
    every = [*grids(found), comparison_grid(found)]
    said = "\n".join(f"- {line}" for line in found["words"])
    markdown = "\n".join(f"## {grid.caption}\n\n{grid.markdown()}" for grid in every)
    return {
        "ablation.csv": _csv(found["rows"]),
        "ablation.md": f"{markdown}\n{said}\n",
        "ablation.tex": "\n".join(grid.latex() for grid in every),
    }


def _csv(rows: Sequence[Document]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, CSV_FIELDS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        for record in row["metrics"]:
            about = {"row": row["name"], "label": row["label"], "base": row["base"], "seconds": row["seconds"]}
            writer.writerow({**record, **about, "metric": record["id"]})
    return text.getvalue()


def terminal(found: Document, width: int) -> str:
    """The tables as plain text, then what each stage adds in words."""
    pieces = [_plain(grid, width) for grid in grids(found)]
    said = [piece for line in found["words"] for piece in _wrapped(f"- {line}", width)]
    return "\n".join([*pieces, *said]) + "\n"


def _plain(grid: Grid, width: int) -> str:
    sizes = [max(map(len, column)) for column in zip(grid.head, *grid.rows, strict=True)]
    lines = []
    for first, *rest in (grid.head, *grid.rows):
        cells = [cell.rjust(size) for cell, size in zip(rest, sizes[1:], strict=True)]
        lines.append("  ".join((first.ljust(sizes[0]), *cells)).rstrip())
    return "\n".join([grid.caption, *lines, *_wrapped(grid.note, width), ""])


def _wrapped(line: str, width: int) -> list[str]:
    return textwrap.wrap(line, max(width, 72), subsequent_indent="  ")
