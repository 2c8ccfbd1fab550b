"""What the system says about one question to one document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probative.types import State

FORMULA = "^[=+\\-@\t\r]"
"""A spreadsheet would compute a cell that begins so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A sentence to read; start and end count characters of the document's text, where that was given."""

    sent_uid: str
    start: int | None
    end: int | None
    probability: float
    text: str

    def to_dict(self, *, show_text: bool) -> dict[str, Any]:
        place = {"sent_uid": self.sent_uid, "start": self.start, "end": self.end, "probability": self.probability}
        return {**place, "text": self.text} if show_text else place


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """How likely a document has evidence for a criterion, what to do, and which sentences to read first."""

    doc_id: str
    criterion_id: str
    probability: float
    state: State
    predicted: bool
    evidence: tuple[Evidence, ...] = ()
    note: str | None = None

    @property
    def is_alert(self) -> bool:
        return self.state is State.POS

    def to_dict(self, *, show_text: bool = False) -> dict[str, Any]:
        """As JSON; the document's own words only where they are asked for."""
        return {
            "doc_id": self.doc_id,
            "criterion_id": self.criterion_id,
            "probability": self.probability,
            "state": str(self.state),
            "predicted": self.predicted,
            "evidence": [item.to_dict(show_text=show_text) for item in self.evidence],
            "note": self.note,
        }


def as_table(decisions: Iterable[Decision], *, show_text: bool = True) -> Any:
    """One row a piece of evidence (one row too where there is none), as a Polars frame."""
    import polars as pl

    rows: list[dict[str, Any]] = []
    for decision in decisions:
        head = {
            "doc_id": decision.doc_id,
            "criterion_id": decision.criterion_id,
            "state": str(decision.state),
            "probability": decision.probability,
            "note": decision.note,
        }
        for place, item in enumerate(decision.evidence or (None,), start=1):
            found = {"rank": place, "start": item.start, "end": item.end, "sentence": item.text} if item else {}
            rows.append({**head, **found})
    schema = {
        "doc_id": pl.String, "criterion_id": pl.String, "state": pl.String, "probability": pl.Float64,
        "rank": pl.Int64, "start": pl.Int64, "end": pl.Int64, "sentence": pl.String, "note": pl.String,
    }  # fmt: skip
    table = pl.DataFrame(rows, schema=schema)
    return table if show_text else table.drop("sentence")


def write_spreadsheet(decisions: Iterable[Decision], path: str | Path) -> Path:
    """`as_table` as a CSV file that spreadsheets open; a cell that would be computed gets an apostrophe before it."""
    import polars as pl

    table = as_table(decisions)
    texts = [pl.col(name) for name, kind in table.schema.items() if kind == pl.String]
    safe = [pl.when(t.str.contains(FORMULA)).then(pl.concat_str(pl.lit("'"), t)).otherwise(t) for t in texts]
    table.with_columns(column.alias(t.meta.output_name()) for column, t in zip(safe, texts, strict=True)).write_csv(
        path, include_bom=True
    )
    return Path(path)
