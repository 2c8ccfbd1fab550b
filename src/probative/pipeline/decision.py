"""What the system says about one question to one document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from probative.types import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A sentence to read; start and end count characters of the document's text, where that was given."""

    sent_uid: str
    start: int | None
    end: int | None
    probability: float
    text: str


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
        values = asdict(self)
        values["state"] = str(self.state)
        if not show_text:
            for item in values["evidence"]:
                del item["text"]
        values["evidence"] = list(values["evidence"])
        return values


def as_table(decisions: Iterable[Decision], *, show_text: bool = True) -> Any:
    """One row a piece of evidence (one row too where there is none), as a Polars frame for a spreadsheet."""
    import polars as pl

    rows = []
    for decision in decisions:
        head = {"doc_id": decision.doc_id, "criterion_id": decision.criterion_id}
        head |= {"state": str(decision.state), "probability": decision.probability}  # type: ignore[dict-item]
        for place, item in enumerate(decision.evidence or (None,), start=1):
            cells = {"rank": place, "start": item.start, "end": item.end} if item else {}
            words = {"sentence": item.text} if item and show_text else {}
            rows.append({**head, **cells, **words})
    text = {"sentence": pl.String} if show_text else {}
    schema = {
        "doc_id": pl.String, "criterion_id": pl.String, "state": pl.String, "probability": pl.Float64,
        "rank": pl.Int64, "start": pl.Int64, "end": pl.Int64, **text,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema)
