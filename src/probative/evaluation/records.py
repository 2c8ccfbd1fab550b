"""metrics_master.json: records, series, and where they are looked up."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from probative.errors import DataError

SCHEMA_VERSION = 1
Record = dict[str, Any]
Series = dict[str, Any]


def number(value: float | None) -> float | int | None:
    """A JSON number: None for NaN, whole numbers of counts stay whole by their value."""
    if value is None or not math.isfinite(value):
        return None
    return float(value)


@dataclass(frozen=True, kw_only=True)
class MetricsMaster:
    """Every metric of one evaluation: the one source of truth for tables, plots and reports."""

    meta: Mapping[str, Any] = field(default_factory=dict)
    metrics: Sequence[Record] = ()
    series: Sequence[Series] = ()

    @cached_property
    def _index(self) -> dict[tuple[str, str, str, str, str | None], list[Record]]:
        index: dict[tuple[str, str, str, str, str | None], list[Record]] = {}
        for record in self.metrics:
            place = (
                record["id"],
                record["scope"],
                record.get("criteria", "all"),
                record.get("stage", "final"),
                record.get("mode"),
            )
            index.setdefault(place, []).append(record)
        return index

    def get(
        self,
        id: str,  # noqa: A002 - the contract's word
        scope: str = "pooled",
        *,
        population: str | None = None,
        mode: str | None = None,
        criteria: str = "all",
        stage: str = "final",
    ) -> Record | None:
        """One record, or None. Without a population, the first one written, which is the headline one."""
        for record in self._index.get((id, scope, criteria, stage, mode), ()):
            if population is None or record["population"] == population:
                return record
        return None

    def value(self, id: str, scope: str = "pooled", **where: Any) -> float | None:  # noqa: A002 - the contract's word
        """The value of one record; None when it is absent or null."""
        record = self.get(id, scope, **where)
        return None if record is None else record["value"]

    def curve(self, id: str, scope: str = "pooled", stage: str = "final") -> Series | None:  # noqa: A002
        """One series, or None."""
        for series in self.series:
            if (series["id"], series["scope"], series["stage"]) == (id, scope, stage):
                return series
        return None

    def to_dict(self) -> dict[str, Any]:
        """The document as plain values."""
        return {
            "schema_version": SCHEMA_VERSION,
            "meta": dict(self.meta),
            "metrics": list(self.metrics),
            "series": list(self.series),
        }

    def to_json(self) -> str:
        """The document with one record a line: small enough to read, quick enough to write, easy to compare."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        def one(value: Any) -> str:
            return json.dumps(value, ensure_ascii=False, allow_nan=False)

        yield f'{{"schema_version": {SCHEMA_VERSION}, "meta": {one(dict(self.meta))},'
        yield '"metrics": ['
        yield ",\n".join(one(record) for record in self.metrics)
        yield '], "series": ['
        yield ",\n".join(one(series) for series in self.series)
        yield "]}"

    @classmethod
    def read(cls, path: Path) -> MetricsMaster:
        """The document in a file."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            found = values["schema_version"]
            if found != SCHEMA_VERSION:
                raise DataError(f"{path}: schema version {found}, this probative reads {SCHEMA_VERSION}.")
            return cls(meta=values["meta"], metrics=values["metrics"], series=values["series"])
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}: is not a metrics_master.json. Make one with `probative evaluate`.") from error
