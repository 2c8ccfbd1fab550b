"""A copy of a finished run that may be spoilt, and the list of ways to spoil it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from probative import files

Row = dict[str, Any]
LISTS = ("ranked_uids", "gold_uids", "pool_uids", "selected_raw", "selected_gate", "selected_triage")


class Run:
    """A copy of a run folder that may be spoilt."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def json(self, name: str, change: Callable[[Any], Any]) -> None:
        path = self.folder / name
        value = json.loads(path.read_text(encoding="utf-8"))
        changed = change(value)
        files.write_text(path, json.dumps(value if changed is None else changed, ensure_ascii=False))

    def manifest(self) -> Any:
        return json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))

    def master(self) -> Any:
        return json.loads((self.folder / "metrics_master.json").read_text(encoding="utf-8"))

    def records(self, change: Callable[[list[Row]], Any]) -> None:
        def inner(master: Any) -> None:
            master["metrics"] = change(master["metrics"]) or master["metrics"]

        self.json("metrics_master.json", inner)

    def record(self, change: Callable[[Row], Any], **which: Any) -> None:
        """Change the first record that fits."""

        def inner(records: list[Row]) -> None:
            change(next(r for r in records if all(r.get(k) == v for k, v in which.items())))

        self.records(inner)

    def series(self, change: Callable[[Row], Any], name: str) -> None:
        self.json("metrics_master.json", lambda m: change(next(s for s in m["series"] if s["id"] == name)))

    def parquet(self, name: str, change: Callable[[list[Row]], list[Row] | None]) -> None:
        path = self.folder / name
        frame = pl.read_parquet(path)
        rows = frame.to_dicts()
        made = change(rows)
        pl.DataFrame(rows if made is None else made, schema=frame.schema).write_parquet(path)

    def queries(self, change: Callable[[list[Row]], list[Row] | None]) -> None:
        """Change per_query.csv; lists are lists, all else is text."""
        path = self.folder / "per_query.csv"
        frame = pl.read_csv(path, infer_schema=False)
        rows = frame.to_dicts()
        for row in rows:
            row.update({name: json.loads(row[name]) for name in LISTS})
        made = change(rows)
        made = rows if made is None else made
        for row in made:
            row.update({name: json.dumps(row[name]) for name in LISTS})
        pl.DataFrame(made, schema=dict.fromkeys([*made[0]], pl.String)).write_csv(path)

    def text(self, name: str, change: Callable[[str], str]) -> None:
        path = self.folder / name
        files.write_text(path, change(path.read_text(encoding="utf-8")))

    def sign(self) -> None:
        """Hash everything anew, as one would who wants to hide an edit."""
        manifest = self.manifest()
        found = sorted(p for p in self.folder.rglob("*") if p.is_file())
        found = [p for p in found if p.name not in {"manifest.json", "checksums.txt"}]
        manifest["files"] = {p.relative_to(self.folder).as_posix(): files.sha256_file(p) for p in found}
        files.write_json(self.folder / "manifest.json", manifest)
        sums = {
            p.relative_to(self.folder).as_posix(): files.sha256_file(p) for p in [*found, self.folder / "manifest.json"]
        }
        files.write_text(self.folder / "checksums.txt", "".join(f"{v}  {k}\n" for k, v in sorted(sums.items())))

    def evaluate(self, *, intervals: bool = True) -> None:
        """Make metrics_master.json and its tables anew from the spoilt tables, as one would who hides an edit well."""
        from probative.evaluation.api import evaluate_source
        from probative.evaluation.readers import read_path
        from probative.evaluation.settings import EvaluateSettings

        self._carry_into_stages()
        resamples = self.master()["meta"]["bootstrap"]["resamples"] if intervals else 0
        evaluate_source(read_path(self.folder), EvaluateSettings(bootstrap=resamples)).write(self.folder)

    def _carry_into_stages(self) -> None:
        """The stages' tables get the queries, folds and gold that per_query.csv now has."""
        table = pl.read_csv(self.folder / "per_query.csv", infer_schema=False)
        known = {(r["doc_id"], r["criterion_id"]): r for r in table.to_dicts()}

        def change(rows: list[Row]) -> list[Row]:
            kept = [(r, known.get((r["doc_id"], r["criterion_id"]))) for r in rows]
            return [
                {
                    **r,
                    "fold": int(k["fold"]),
                    "gold_uids": json.loads(k["gold_uids"]),
                    "has_evidence": int(k["has_evidence"]),
                }
                for r, k in kept
                if k is not None
            ]

        for path in sorted((self.folder / "stages").glob("*.parquet")):
            self.parquet(f"stages/{path.name}", change)


@dataclass(frozen=True)
class Mutation:
    """One way to spoil a run, and the checks of which at least one must fail."""

    name: str
    what: str
    caught_by: tuple[str, ...]
    change: Callable[[Run], Any]
    evaluated: bool = False
    """The numbers are made anew from the spoilt tables, so that only their contradiction gives it away."""
    signed: bool = True

    @property
    def of_numbers(self) -> bool:
        """Whether the tables behind the numbers stay as they were."""
        return all(code.startswith(("PV02", "PV03", "PV06")) for code in self.caught_by) and not self.name.startswith(
            "stage"
        )


MUTATIONS: list[Mutation] = []


def mutation(what: str, *caught_by: str, evaluated: bool = False, signed: bool = True) -> Callable[..., Any]:
    def keep(change: Callable[[Run], Any]) -> Callable[[Run], Any]:
        name = change.__name__.replace("_", " ")
        MUTATIONS.append(Mutation(name, what, caught_by, change, evaluated, signed))
        return change

    return keep


def longest(rows: Sequence[Row]) -> Row:
    """The first query with gold and several candidates."""
    return next(r for r in rows if r["gold_uids"] and len(r["ranked_uids"]) >= 4)
