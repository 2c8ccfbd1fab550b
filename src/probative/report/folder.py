"""A folder of results as the report reads it: records, series, and the files beside them that may be absent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative.errors import DataError

if TYPE_CHECKING:
    import polars as pl

Record = Mapping[str, Any]
Row = Sequence[Any]
STAGES = ("retrieve", "rerank", "graph", "final")
MODES = ("triage", "gate", "raw")


@dataclass(frozen=True)
class RunFolder:
    """A run folder, or what `probative evaluate --out` wrote."""

    path: Path

    @staticmethod
    def read(path: Path) -> RunFolder:
        """The folder; DataError when there are no metrics in it."""
        folder = RunFolder(path)
        if not path.is_dir():
            raise DataError(f"{path}: is not a folder. Give a run folder, or what `probative evaluate --out` wrote.")
        if not (path / "metrics_master.json").is_file():
            raise DataError(
                f"{path}: has no metrics_master.json. Make it with `probative evaluate {path} --out {path}`."
            )
        _ = folder._index
        return folder

    @cached_property
    def master(self) -> dict[str, Any]:
        found = self._json("metrics_master.json")
        if not isinstance(found, dict) or found.get("schema_version") != 1 or "metrics" not in found:
            raise DataError(f"{self.path / 'metrics_master.json'}: is not a metrics_master.json of schema version 1.")
        return found

    @cached_property
    def meta(self) -> dict[str, Any]:
        return dict(self.master.get("meta") or {})

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Empty for bare score files."""
        return dict(self._json("manifest.json") or {})

    @cached_property
    def corpus(self) -> dict[str, Any]:
        return dict(self.manifest.get("corpus") or (self.meta.get("run") or {}).get("corpus") or {})

    @cached_property
    def audit(self) -> dict[str, Any] | None:
        found = self._json("audit.json")
        return found if isinstance(found, dict) else None

    @cached_property
    def ablation(self) -> dict[str, Any] | None:
        found = self._json("ablation.json")
        return found if isinstance(found, dict) else None

    @property
    def why_no_ablation(self) -> str:
        """What a reader can do about an absent ablation.json."""
        if self.manifest:
            return "`probative ablate` has not been run."
        return "it runs the stages again, and these are scores from another system."

    @cached_property
    def queries(self) -> pl.DataFrame | None:
        """per_query.csv with list columns still as JSON text."""
        import polars as pl

        path = self.path / "per_query.csv"
        return pl.read_csv(path, infer_schema_length=None) if path.is_file() else None

    @cached_property
    def folds(self) -> pl.DataFrame | None:
        return self._parquet("folds.parquet")

    @cached_property
    def candidates(self) -> pl.DataFrame | None:
        return self._parquet("candidates.parquet")

    def _parquet(self, name: str) -> pl.DataFrame | None:
        import polars as pl

        path = self.path / name
        return pl.read_parquet(path) if path.is_file() else None

    def _json(self, name: str) -> Any:
        path = self.path / name
        if not path.is_file():
            return None
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: is not readable JSON ({error}). Make the run again.") from error

    @cached_property
    def _index(self) -> dict[tuple[Any, ...], list[Record]]:
        index: dict[tuple[Any, ...], list[Record]] = {}
        for record in self.master["metrics"]:
            key = (
                record["id"],
                record["scope"],
                record.get("criteria") or "all",
                record.get("stage") or "final",
                record.get("mode"),
            )
            index.setdefault(key, []).append(record)
        return index

    def record(
        self,
        id: str,  # noqa: A002 - the contract's word
        scope: str = "pooled",
        *,
        population: str | None = None,
        mode: str | None = None,
        criteria: str = "all",
        stage: str = "final",
    ) -> Record | None:
        """One record, or None; without a population the headline one, which is written first."""
        for record in self._index.get((id, scope, criteria, stage, mode), ()):
            if population is None or record["population"] == population:
                return record
        return None

    def value(self, id: str, scope: str = "pooled", **where: Any) -> float | None:  # noqa: A002
        """The value of a record; None when it is absent, null, or stands only for one class."""
        record = self.record(id, scope, **where)
        return None if record is None or record.get("reason") else record["value"]

    def rows(self, id: str, scope: str = "pooled", stage: str = "final") -> list[dict[str, Any]]:  # noqa: A002
        """The rows of a series as mappings; empty when there is none."""
        return next((list(_named(s)) for s in self._series(id) if s["scope"] == scope and s["stage"] == stage), [])

    def columns(self, id: str) -> list[str]:  # noqa: A002
        """The columns of a series; empty when there is none."""
        return next((list(series["columns"]) for series in self._series(id)), [])

    def _series(self, id: str) -> Iterator[Mapping[str, Any]]:  # noqa: A002
        return ({"stage": "final", **s} for s in self.master.get("series", ()) if s["id"] == id)

    @cached_property
    def stages(self) -> list[str]:
        """Stages with records, in order of the pipeline."""
        there = {key[3] for key in self._index}
        return [stage for stage in STAGES if stage in there]

    @cached_property
    def scopes(self) -> list[str]:
        return list(dict.fromkeys(key[1] for key in self._index))

    @cached_property
    def mode(self) -> str | None:
        """The selection that headlines use: triage, or what comes nearest to it."""
        there = {key[4] for key in self._index}
        return next((mode for mode in MODES if mode in there), None)

    @cached_property
    def criteria(self) -> list[dict[str, Any]]:
        """criterion_id, n_queries, n_positive, small, excluded."""
        return list(self.meta.get("criteria") or ())


def _named(series: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    return (dict(zip(series["columns"], row, strict=True)) for row in series["rows"])
