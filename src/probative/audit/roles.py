"""PV040 to PV043: who was on which side of every split."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from probative.audit.check import Check, absent, judged
from probative.audit.queries import Table, raw_rows
from probative.audit.source import Source

ROLES = ("train", "stop", "tune", "eval")
FIX = "The splits of this run cannot be trusted. Run it again: probative run."
NO_FOLDS = "there is no folds.parquet"


@dataclass(frozen=True)
class Folds:
    """Document → role in every outer fold, as folds.parquet says."""

    rows: list[tuple[str, str, str]]
    """(document, fold, role)"""

    @classmethod
    def read(cls, source: Source) -> Folds:
        found = raw_rows(source.path("folds.parquet"))
        return cls([(str(r["doc_id"]), str(r["fold"]), str(r["role"])) for r in found])

    @cached_property
    def by_fold(self) -> dict[str, dict[str, str]]:
        out: dict[str, dict[str, str]] = defaultdict(dict)
        for doc, fold, role in self.rows:
            out[fold][doc] = role
        return dict(out)

    @cached_property
    def documents(self) -> set[str]:
        return {doc for doc, _, _ in self.rows}

    def of(self, fold: str, role: str) -> set[str]:
        return {doc for doc, its in self.by_fold.get(fold, {}).items() if its == role}

    @property
    def is_cross_validation(self) -> bool:
        return len(self.by_fold) > 1


def disjoint(source: Source, folds: Folds | None) -> Check:
    """PV040."""
    title = "Folds and roles are disjoint and complete"
    if folds is None:
        return absent("PV040", title, NO_FOLDS)
    findings = list(_disjoint(folds)) + list(_schemes(source, folds))
    good = f"{len(folds.documents):,} documents in {len(folds.by_fold)} folds; one role a fold, and predicted once"
    return judged("PV040", title, findings, good=good, fix=FIX)


def _disjoint(folds: Folds) -> Iterator[str]:
    seen: dict[tuple[str, str], str] = {}
    for doc, fold, role in folds.rows:
        if role not in ROLES:
            yield f"folds.parquet: document {doc!r} has the role {role!r} in fold {fold}"
        if (doc, fold) in seen:
            yield f"folds.parquet: document {doc!r} is {seen[doc, fold]} and {role} in fold {fold}"
        seen[doc, fold] = role
    for fold, roles in folds.by_fold.items():
        missing = folds.documents - roles.keys()
        if missing:
            yield f"folds.parquet: document {min(missing)!r} has no role in fold {fold}"
        for role in ("train", "eval"):
            if role not in roles.values():
                yield f"folds.parquet: fold {fold} has no {role} document"
    if folds.is_cross_validation:
        for doc in sorted(folds.documents):
            times = sum(roles.get(doc) == "eval" for roles in folds.by_fold.values())
            if times != 1:
                yield f"folds.parquet: document {doc!r} is predicted in {times} folds"


def _schemes(source: Source, folds: Folds) -> Iterator[str]:
    for entry in (source.manifest or {}).get("folds", []):
        name = str(entry["fold"])
        if name not in folds.by_fold:
            yield f"manifest.json: fold {name} is not in folds.parquet"
        elif entry.get("scheme") == "holdout" and not folds.of(name, "tune"):
            yield f"folds.parquet: fold {name} has no tune document, though its scheme is holdout"
        elif entry.get("scheme") == "crossfit" and (entry.get("triage") or {}).get("guarantee"):
            yield f"manifest.json: fold {name} gives a guarantee from crossfit, where TUNE has several models"


def predicted(table: Table, folds: Folds | None) -> Check:
    """PV041."""
    title = "Each document is predicted in the fold that holds it out"
    if folds is None:
        return absent("PV041", title, NO_FOLDS)
    return judged(
        "PV041",
        title,
        _predicted(table, folds),
        good="every row was predicted where its document is EVAL, and none is missing",
        fix=FIX,
    )


def _predicted(table: Table, folds: Folds) -> Iterator[str]:
    for q in table.queries:
        role = folds.by_fold.get(q.fold or "", {}).get(q.doc_id)
        if role != "eval":
            yield f"{table.path.name}, {q.where}: predicted in fold {q.fold}, where the document is {role or 'unknown'}"
    rows = {(q.doc_id, q.fold) for q in table.queries}
    for doc, fold, role in folds.rows:
        if role == "eval" and (doc, fold) not in rows:
            yield f"{table.path.name}: document {doc!r} is EVAL in fold {fold}, but has no row"


@dataclass(frozen=True)
class Tuned:
    """One row of tune_queries.parquet."""

    fold: str
    doc_id: str
    criterion_id: str
    prob_raw: float
    prob: float
    positive: bool
    excluded: bool

    @property
    def where(self) -> str:
        return f"tune_queries.parquet, fold {self.fold}, document {self.doc_id!r}, criterion {self.criterion_id!r}"


def tuned(source: Source, excluded: frozenset[str]) -> list[Tuned]:
    """The rows that thresholds were chosen from."""
    return [_tuned(row, excluded) for row in raw_rows(source.path("tune_queries.parquet"))]


def _tuned(row: dict[str, Any], excluded: frozenset[str]) -> Tuned:
    criterion = str(row["criterion_id"])
    return Tuned(
        fold=str(row["fold"]),
        doc_id=str(row["doc_id"]),
        criterion_id=criterion,
        prob_raw=float(row["prob_raw"]),
        prob=float(row["prob"]),
        positive=bool(row["has_evidence"]),
        excluded=bool(row["excluded"]) if row.get("excluded") is not None else criterion in excluded,
    )


def tune_side(
    table: Table, folds: Folds | None, rows: list[Tuned] | None, schemes: dict[str, str], excluded: frozenset[str]
) -> Check:
    """PV042."""
    title = "Thresholds were chosen on TUNE alone"
    if folds is None or rows is None:
        return absent("PV042", title, "there is no tune_queries.parquet with a folds.parquet")
    findings = list(_tune_side(folds, rows, schemes)) + list(_tune_labels(table, rows, excluded))
    good = f"{len(rows):,} TUNE queries, none of a document of EVAL, each with the label it has elsewhere"
    return judged("PV042", title, findings, good=good, fix=FIX)


def _tune_side(folds: Folds, rows: list[Tuned], schemes: dict[str, str]) -> Iterator[str]:
    seen: set[tuple[str, str, str]] = set()
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        key = (row.fold, row.doc_id, row.criterion_id)
        if key in seen:
            yield f"{row.where}: stands twice"
        seen.add(key)
        found[row.fold].add(row.doc_id)
        role = folds.by_fold.get(row.fold, {}).get(row.doc_id)
        wanted = "train" if schemes.get(row.fold) == "crossfit" else "tune"
        if role != wanted:
            yield f"{row.where}: the document is {role or 'unknown'} in this fold, not {wanted}"
    for fold in folds.by_fold:
        wanted = "train" if schemes.get(fold) == "crossfit" else "tune"
        missing = folds.of(fold, wanted) - found[fold]
        if missing:
            yield f"tune_queries.parquet, fold {fold}: the {wanted} document {min(missing)!r} has no row"


def _tune_labels(table: Table, rows: list[Tuned], excluded: frozenset[str]) -> Iterator[str]:
    expected: dict[str, set[str]] = defaultdict(set)
    for q in table.queries:
        expected[q.doc_id].add(q.criterion_id)
    given: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        known = table.by_key.get((row.doc_id, row.criterion_id))
        given[row.fold, row.doc_id].add(row.criterion_id)
        if known is None and row.doc_id in expected:
            yield f"{row.where}: {table.path.name} has no such query, though it has the document"
        if known is not None and known.positive != row.positive:
            yield f"{row.where}: has_evidence is {int(row.positive)}, in {table.path.name} {int(known.positive)}"
        if row.excluded != (row.criterion_id in excluded):
            yield f"{row.where}: excluded is {row.excluded}, the corpus says {not row.excluded}"
    for (fold, doc), criteria in given.items():
        missing = expected[doc] - criteria - excluded if doc in expected else set()
        if missing:
            yield f"tune_queries.parquet, fold {fold}, document {doc!r}: criterion {min(missing)!r} is missing"
