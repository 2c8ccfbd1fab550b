"""What an evaluation starts from: predictions of the final system and, for a run folder, of its stages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probative.errors import DataError
from probative.evaluation.predictions import Predictions

from .flat import Flat, read_flat
from .per_query import read_per_query
from .tables import SUFFIXES, read_table
from .trec import read_trec

STAGES = ("retrieve", "rerank", "graph")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Predictions with a name, the stages before them, and what else is known about where they come from."""

    origin: str
    predictions: Predictions
    stages: Mapping[str, Predictions] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """The run's manifest; empty where there is none."""
    n_unlabelled: int = 0
    notes: tuple[str, ...] = ()


def read_path(path: Path, *, ties: str = "listed") -> Source:
    """A run folder or a per_query file."""
    if path.is_dir():
        return read_run(path, ties=ties)
    if not path.exists():
        raise DataError(f"{path}: there is no such file or folder.")
    return Source(origin=str(path), predictions=read_per_query(read_table(path), ties=ties))


def read_run(folder: Path, *, ties: str = "listed") -> Source:
    """A run folder: per_query in any format, the stages' tables, and the manifest's excluded criteria."""
    manifest = _manifest(folder)
    corpus = manifest.get("corpus") or {}
    excluded = corpus.get("exclude_from_training") or ()
    files = [folder / f"per_query{suffix}" for suffix in SUFFIXES]
    found = next((file for file in files if file.exists()), None)
    if found is None:
        raise DataError(f"{folder}: holds no per_query.csv (nor .parquet or .jsonl), so it is no run folder.")
    stages = {name: folder / "stages" / f"{name}.parquet" for name in STAGES}
    return Source(
        origin=str(folder),
        predictions=read_per_query(read_table(found), excluded, ties=ties),
        stages={
            name: read_per_query(read_table(file), excluded, ties=ties)
            for name, file in stages.items()
            if file.exists()
        },
        manifest=manifest,
        n_unlabelled=int(corpus.get("n_unlabelled") or 0),
    )


def _manifest(folder: Path) -> dict[str, Any]:
    file = folder / "manifest.json"
    if not file.exists():
        return {}
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{file}: is not readable JSON ({error}).") from error
    if not isinstance(manifest, dict):
        raise DataError(f"{file}: must hold one JSON object.")
    return manifest


def read_flat_files(
    scores: Path, gold: Path, probs: Path | None = None, pairs: Path | None = None, *, ties: str = "listed"
) -> Source:
    """Flat score files, in any mixture of formats."""
    flat = Flat(
        scores=read_table(scores),
        gold=read_table(gold),
        probs=read_table(probs) if probs else None,
        pairs=read_table(pairs) if pairs else None,
    )
    return from_flat(flat, ties=ties)


def read_trec_files(run: Path, qrels: Path, probs: Path | None = None, *, ties: str = "listed") -> Source:
    """A TREC run with its qrels, and probabilities for its queries if there are any."""
    flat = read_trec(run, qrels)
    return from_flat(flat if probs is None else flat.with_probs(read_table(probs)), ties=ties)


def from_flat(flat: Flat, *, ties: str = "listed") -> Source:
    """Flat tables as a source."""
    read = read_flat(flat, ties=ties)
    return Source(
        origin=flat.scores.origin, predictions=read.predictions, n_unlabelled=read.n_unlabelled, notes=read.notes
    )
