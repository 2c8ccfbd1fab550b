"""Who learns, who chooses, who is predicted: document-disjoint folds and the roles inside them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import polars as pl
from pydantic import Field, field_validator, model_validator

from probative.data.deal import Unit, deal
from probative.data.near import NearDuplicates, find_near_duplicates
from probative.errors import ConfigError, DataError
from probative.settings import Settings
from probative.types import Role

SCHEMA = {"doc_id": pl.String, "fold": pl.Int64, "role": pl.String, "part": pl.Int64}


class FoldSettings(Settings):
    """How a corpus is split.

    >>> FoldSettings(split="80/10/10").split
    (0.8, 0.1, 0.1)
    """

    n_folds: int = Field(default=5, ge=2)
    scheme: Literal["holdout", "crossfit"] = "holdout"
    method: Literal["contract", "balanced"] = "contract"
    tune_fraction: float = Field(default=0.3, gt=0, lt=1)
    stop_fraction: float = Field(default=0.1, gt=0, lt=1)
    inner_parts: int = Field(default=4, ge=2)
    group_by: str | None = None
    near_duplicates: float | None = Field(default=None, gt=0, le=1)
    split: tuple[float, float, float] | None = None

    @model_validator(mode="before")
    @classmethod
    def _split_is_a_holdout(cls, values: Any) -> Any:
        if not isinstance(values, Mapping) or values.get("split") is None:
            return values
        if values.get("scheme", "holdout") != "holdout":
            raise ValueError("a single split needs scheme holdout: it has one TUNE part and no inner parts")
        return {**values, "scheme": "holdout"}

    @field_validator("split", mode="before")
    @classmethod
    def _read_split(cls, value: Any) -> Any:
        return value.split("/") if isinstance(value, str) else value

    @field_validator("split")
    @classmethod
    def _as_fractions(cls, value: tuple[float, float, float] | None) -> tuple[float, float, float] | None:
        if value is None:
            return None
        whole = sum(value)
        if min(value) <= 0 or min(abs(whole - 1), abs(whole - 100)) > 1e-9:
            raise ValueError("must be three shares above 0 that add up to 100, such as 80/10/10")
        return (value[0] / whole, value[1] / whole, value[2] / whole)


class Foldable(Protocol):
    """What folds need to know of a corpus."""

    @property
    def documents(self) -> pl.DataFrame: ...
    @property
    def sentences(self) -> pl.DataFrame: ...
    @property
    def pairs(self) -> pl.DataFrame: ...


def make_folds(
    corpus: Foldable, settings: FoldSettings, seed: int, *, near: NearDuplicates | None = None
) -> pl.DataFrame:
    """Every document's role in every outer fold: doc_id, fold, role, part; sorted by fold, then document.

    `near` spares a second search where the caller has already looked for near-duplicates.
    """
    units = _units(corpus, settings, near)
    if settings.split is not None:
        rest, evaluated = _cut(units, [1 - settings.split[2], settings.split[2]], settings, f"{seed}/outer")
        return _table([_fold(0, rest, evaluated, settings, seed)])
    outer = _outer(units, settings, seed)
    folds = []
    for number, evaluated in enumerate(outer):
        rest = [unit for other, piece in enumerate(outer) if other != number for unit in piece]
        folds.append(_fold(number, rest, evaluated, settings, seed))
    return _table(folds)


def make_deployment(
    corpus: Foldable, settings: FoldSettings, seed: int, *, near: NearDuplicates | None = None
) -> pl.DataFrame:
    """The roles of a model that is to be used: those of fold 0 of a corpus whose EVAL documents were left out."""
    return _table([_fold(0, _units(corpus, settings, near), [], settings, seed)])


def roles(folds: pl.DataFrame, fold: int) -> dict[Role, list[str]]:
    """The documents of every role of one fold, sorted."""
    rows = folds.filter(pl.col("fold") == fold).sort("doc_id")
    if rows.is_empty():
        raise DataError(f"There is no fold {fold}; the folds are {sorted(folds['fold'].unique())}.")
    by_role = {role: rows.filter(pl.col("role") == role.value)["doc_id"].to_list() for role in Role}
    return {role: ids for role, ids in by_role.items() if role is not Role.NEW}


def parts(folds: pl.DataFrame, fold: int) -> list[list[str]]:
    """The documents of every inner part of one fold of the crossfit scheme; empty in the holdout scheme."""
    rows = folds.filter((pl.col("fold") == fold) & pl.col("part").is_not_null()).sort("part", "doc_id")
    return [group["doc_id"].to_list() for group in rows.partition_by("part", maintain_order=True)]


def _outer(units: Sequence[Unit], settings: FoldSettings, seed: int) -> list[list[Unit]]:
    n_documents, k = sum(unit.size for unit in units), settings.n_folds
    if len(units) < k:
        raise DataError(
            f"{_count(units, settings)} cannot be cut into {k} folds. Set n_folds to {max(2, len(units))} or fewer"
            " (at least 2), or bring more documents."
        )
    targets = [n_documents // k] * (k - 1)
    targets.append(n_documents - sum(targets))
    return deal(_shuffled(units, f"{seed}/outer"), targets, balanced=settings.method == "balanced")


def _fold(
    number: int, rest: Sequence[Unit], evaluated: Sequence[Unit], settings: FoldSettings, seed: int
) -> list[tuple[str, int, str, int | None]]:
    rows = _rows(evaluated, number, Role.EVAL)
    salt = f"{seed}/fold {number}"
    if settings.scheme == "crossfit":
        pieces = _cut(rest, [1 / settings.inner_parts] * settings.inner_parts, settings, f"{salt}/parts")
        return rows + [row for part, piece in enumerate(pieces) for row in _rows(piece, number, Role.TRAIN, part)]
    share = settings.tune_fraction
    if settings.split is not None:
        share = settings.split[1] / (settings.split[0] + settings.split[1])
    train, tune = _cut(rest, [1 - share, share], settings, f"{salt}/tune")
    train, stop = _cut(train, [1 - settings.stop_fraction, settings.stop_fraction], settings, f"{salt}/stop")
    return rows + _rows(train, number, Role.TRAIN) + _rows(tune, number, Role.TUNE) + _rows(stop, number, Role.STOP)


def _cut(units: Sequence[Unit], shares: Sequence[float], settings: FoldSettings, salt: str) -> list[list[Unit]]:
    """Units dealt by shares; every piece gets at least one, the first takes what rounding leaves."""
    if len(units) < len(shares):
        raise DataError(
            f"{_count(units, settings)} cannot be cut into {len(shares)} pieces ({salt.split('/')[-1]})."
            " Bring more documents, or fewer folds and parts."
        )
    n_documents = sum(unit.size for unit in units)
    targets = [max(1, int(share * n_documents + 0.5)) for share in shares[1:]]
    targets.insert(0, max(1, n_documents - sum(targets)))
    return deal(_shuffled(units, salt), targets, balanced=settings.method == "balanced")


def _shuffled(units: Sequence[Unit], salt: str) -> list[Unit]:
    """A seeded shuffle by hash: the same in every version of every library, whatever order the units came in."""
    return sorted(units, key=lambda unit: hashlib.sha256(f"{salt}\0{unit.name}".encode()).digest())


def _units(corpus: Foldable, settings: FoldSettings, near: NearDuplicates | None) -> list[Unit]:
    """What must stay on one side: a document, a group of documents, or groups joined by near-duplicates."""
    doc_ids = corpus.documents["doc_id"].to_list()
    side = {doc_id: doc_id for doc_id in doc_ids}
    if settings.group_by is not None:
        for first, *others in _groups(corpus.documents, settings.group_by):
            for other in others:
                _join(side, first, other)
    if settings.near_duplicates is not None:
        near = near or find_near_duplicates(corpus.sentences, settings.near_duplicates)
        for first, other in near.pairs.select("left", "right").iter_rows():
            _join(side, first, other)
    members: dict[str, list[str]] = {}
    for doc_id in sorted(doc_ids):
        members.setdefault(_root(side, doc_id), []).append(doc_id)
    positives = _positives(corpus.pairs) if settings.method == "balanced" else {}
    return [
        Unit(doc_ids=tuple(ids), labels=tuple(label for doc_id in ids for label in positives.get(doc_id, ())))
        for ids in members.values()
    ]


def _groups(documents: pl.DataFrame, column: str) -> list[list[str]]:
    if column not in documents.columns or column == "doc_id":
        known = [name for name in documents.columns if name != "doc_id"]
        has = f"Columns that can group: {', '.join(known)}." if known else "The documents table has only doc_id."
        raise ConfigError(f"group_by: the documents table has no column {column!r}. {has}")
    groups = documents.drop_nulls(column).sort("doc_id").group_by(column, maintain_order=True)
    return [frame["doc_id"].to_list() for _, frame in groups]


def _positives(pairs: pl.DataFrame) -> dict[str, list[str]]:
    rows = (
        pairs.filter(pl.col("has_evidence").cast(pl.Int64) == 1).group_by("doc_id").agg(pl.col("criterion_id").sort())
    )
    return dict(rows.iter_rows())


def _root(side: dict[str, str], doc_id: str) -> str:
    while side[doc_id] != doc_id:
        side[doc_id] = side[side[doc_id]]
        doc_id = side[doc_id]
    return doc_id


def _join(side: dict[str, str], first: str, other: str) -> None:
    low, high = sorted((_root(side, first), _root(side, other)))
    side[high] = low


def _count(units: Sequence[Unit], settings: FoldSettings) -> str:
    n_documents = sum(unit.size for unit in units)
    if n_documents == len(units):
        return f"{n_documents} documents"
    why = "near-duplicates" if settings.group_by is None else f"groups of {settings.group_by!r}"
    return f"{n_documents} documents in {len(units)} {why}"


def _rows(
    units: Sequence[Unit], fold: int, role: Role, part: int | None = None
) -> list[tuple[str, int, str, int | None]]:
    return [(doc_id, fold, role.value, part) for unit in units for doc_id in unit.doc_ids]


def _table(folds: Sequence[list[tuple[str, int, str, int | None]]]) -> pl.DataFrame:
    rows = [row for fold in folds for row in fold]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row").sort("fold", "doc_id")
