"""The audit's own reader of per_query tables: one plain record a query."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative.errors import DataError

if TYPE_CHECKING:
    import polars as pl

LISTS = ("ranked_uids", "gold_uids", "pool_uids", "selected_raw", "selected_gate", "selected_triage", "ranked_scores")
NUMBERS = ("prob", "prob_raw", "prior", "threshold", "tau_neg", "tau_pos")
BUDGET = "threshold@fpr="
KNOWN = {
    *LISTS,
    *NUMBERS,
    "doc_id",
    "criterion_id",
    "fold",
    "predicted",
    "state",
    "n_candidates",
    "has_evidence",
    "scheme",
}
STATES = ("NEG", "UNCERTAIN", "POS")
PER = (
    "fold",
    "ranked",
    "gold",
    "n",
    "positive",
    "pool",
    "raw",
    "gate",
    "triage",
    "scores",
    "prob",
    "prob_raw",
    "prior",
    "threshold",
    "tau_neg",
    "tau_pos",
    "predicted",
    "state",
    "budgets",
)
"""The fields that every format of one table must agree on."""
RENAMED = {"post_id": "doc_id", "fold_id": "fold"}


@dataclass(slots=True, kw_only=True)
class Query:
    """One row of a per_query table. None means that the file does not say; NaN is an empty threshold cell."""

    row: int
    doc_id: str
    criterion_id: str
    fold: str | None
    ranked: list[str]
    gold: list[str]
    n: int
    positive: bool
    located: bool
    pool: list[str] | None = None
    raw: list[str] | None = None
    gate: list[str] | None = None
    triage: list[str] | None = None
    scores: list[float] | None = None
    prob: float | None = None
    prob_raw: float | None = None
    prior: float | None = None
    threshold: float | None = None
    tau_neg: float | None = None
    tau_pos: float | None = None
    predicted: bool | None = None
    state: str | None = None
    stated_prediction: bool | None = None
    stated_state: str | None = None
    stated_evidence: bool | None = None
    stated_n: int | None = None
    budgets: dict[str, float] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        return self.doc_id, self.criterion_id

    @property
    def where(self) -> str:
        return f"row {self.row} (document {self.doc_id!r}, criterion {self.criterion_id!r})"


@dataclass(frozen=True)
class Table:
    """All queries of one file, in its order."""

    path: Path
    queries: list[Query]
    columns: frozenset[str]

    @cached_property
    def by_key(self) -> dict[tuple[str, str], Query]:
        return {q.key: q for q in self.queries}

    @cached_property
    def folds(self) -> list[str]:
        found = {q.fold for q in self.queries if q.fold is not None}
        return sorted(found, key=lambda f: (0, int(f), f) if f.lstrip("-").isdigit() else (1, 0, f))

    @cached_property
    def criteria(self) -> list[str]:
        return sorted({q.criterion_id for q in self.queries})

    @cached_property
    def documents(self) -> list[str]:
        return sorted({q.doc_id for q in self.queries})


def parquet(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """A Parquet file; a broken one is the user's error and says where."""
    import polars as pl

    try:
        return pl.read_parquet(path, columns=columns)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path}: cannot be read as Parquet ({said}). Copy it again from its origin.") from None


def raw_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a CSV, Parquet or JSONL file as dictionaries."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        yield from parquet(path).iter_rows(named=True)
    elif suffix in {".jsonl", ".ndjson"}:
        with path.open(encoding="utf-8") as stream:
            yield from (json.loads(line) for line in stream if line.strip())
    else:
        csv.field_size_limit(1 << 30)
        with path.open(encoding="utf-8-sig", newline="") as stream:
            yield from csv.DictReader(stream)


def _blank(value: Any) -> bool:
    return value is None or value == ""


def _list(value: Any) -> list[Any] | None:
    if _blank(value):
        return None
    found = json.loads(value) if isinstance(value, str) else value
    if not isinstance(found, list):
        raise ValueError(f"{value!r} is not a list")
    return found


def _uids(value: Any) -> list[str] | None:
    found = _list(value)
    return None if found is None else [str(uid) for uid in found]


def _number(value: Any) -> float | None:
    return math.nan if _blank(value) else float(value)


def _flag(value: Any) -> bool | None:
    if _blank(value):
        return None
    text = str(value).strip().lower()
    if text in {"1", "1.0", "true"}:
        return True
    if text in {"0", "0.0", "false"}:
        return False
    raise ValueError(f"{value!r} is neither 0 nor 1")


def _cell(value: Any) -> str | None:
    return None if _blank(value) else str(value)


def _predicted(stated: bool | None, prob: float | None, threshold: float | None) -> bool | None:
    if stated is not None or prob is None:
        return stated
    return prob >= (0.5 if threshold is None else threshold)


def _state(stated: str | None, prob: float | None, tau_neg: float | None, tau_pos: float | None) -> str | None:
    if stated is not None or prob is None or tau_neg is None or tau_pos is None:
        return stated
    return "NEG" if prob < tau_neg else "UNCERTAIN" if prob < tau_pos else "POS"


def read_query(values: Mapping[str, Any], row: int) -> Query:
    """One record from one row; ValueError when a cell cannot be read."""
    lists = {name: _uids(values.get(name)) for name in LISTS[:-1]}
    scores = _list(values.get("ranked_scores"))
    numbers = {name: _number(values[name]) if name in values else None for name in NUMBERS}
    gold = lists["gold_uids"] or []
    ranked = lists["ranked_uids"] or []
    stated_evidence = _flag(values.get("has_evidence"))
    stated_n = None if _blank(values.get("n_candidates")) else int(values["n_candidates"])
    predicted = _flag(values.get("predicted"))
    state = _cell(values.get("state"))
    modes = {
        m: (lists[f"selected_{m}"] or []) if f"selected_{m}" in values else None for m in ("raw", "gate", "triage")
    }
    return Query(
        row=row,
        doc_id=str(values["doc_id"]),
        criterion_id=str(values["criterion_id"]),
        fold=_cell(values.get("fold")),
        ranked=ranked,
        gold=gold,
        n=len(ranked) if stated_n is None else stated_n,
        positive=bool(gold) or stated_evidence is True,
        located=bool(gold),
        pool=(lists["pool_uids"] or []) if "pool_uids" in values else None,
        raw=modes["raw"],
        gate=modes["gate"],
        triage=modes["triage"],
        scores=None if scores is None else [float(s) for s in scores],
        prob=numbers["prob"],
        prob_raw=numbers["prob_raw"],
        prior=numbers["prior"],
        threshold=numbers["threshold"],
        tau_neg=numbers["tau_neg"],
        tau_pos=numbers["tau_pos"],
        predicted=_predicted(predicted, numbers["prob"], numbers["threshold"]),
        state=_state(state, numbers["prob"], numbers["tau_neg"], numbers["tau_pos"]),
        stated_prediction=predicted,
        stated_state=state,
        stated_evidence=stated_evidence,
        stated_n=stated_n,
        budgets={
            name[len(BUDGET) :]: float(_number(v) or 0.0) for name, v in values.items() if name.startswith(BUDGET)
        },
        extra={name: v for name, v in values.items() if name not in KNOWN and not name.startswith(BUDGET)},
    )


def read_table(path: Path) -> Table:
    """A per_query table, or one error that names the row."""
    queries: list[Query] = []
    columns: set[str] = set()

    try:
        for row, found in enumerate(raw_rows(path), start=1):
            values = {RENAMED.get(name, name): value for name, value in found.items()}
            columns.update(values)
            try:
                queries.append(read_query(values, row))
            except KeyError as error:
                needed = "doc_id, criterion_id, ranked_uids, gold_uids"
                raise DataError(f"{path}: has no column {error}. A per_query table needs {needed}.") from None
            except (ValueError, TypeError) as error:
                raise DataError(
                    f"{path}, row {row}: cannot be read ({error}). Correct the cell or write the file again."
                ) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read ({error}). Give a per_query file in CSV, Parquet or JSONL.") from error
    if not queries:
        raise DataError(f"{path}: holds no rows.")
    return Table(path=path, queries=queries, columns=frozenset(columns))
