"""Documents on the wrong side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from probative import files
from spoilt.run import Row, Run, mutation


@mutation("a document is EVAL and TRAIN in one fold", "PV040")
def document_on_two_sides(run: Run) -> None:
    def change(rows: list[Row]) -> list[Row]:
        held = next(r for r in rows if r["role"] == "eval")
        return [*rows, {**held, "role": "train"}]

    run.parquet("folds.parquet", change)


@mutation("TUNE and EVAL are swapped in one fold", "PV041", "PV042", "PV040")
def tune_and_eval_swapped(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        for row in rows:
            if row["fold"] == rows[0]["fold"]:
                row["role"] = {"tune": "eval", "eval": "tune"}.get(row["role"], row["role"])

    run.parquet("folds.parquet", change)


@mutation("a document has lost its role in one fold", "PV040")
def lost_document(run: Run) -> None:
    run.parquet("folds.parquet", lambda rows: [r for i, r in enumerate(rows) if i != _first(rows, "train")])


def _first(rows: Sequence[Row], role: str) -> int:
    return next(i for i, r in enumerate(rows) if r["role"] == role)


@mutation("two documents exchange their folds", "PV041", evaluated=True)
def swapped_folds(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        first = rows[0]
        other = next(r for r in rows if r["fold"] != first["fold"])
        swap = {first["doc_id"]: other["fold"], other["doc_id"]: first["fold"]}
        for row in rows:
            row["fold"] = swap.get(row["doc_id"], row["fold"])

    run.queries(change)


@mutation("EVAL's queries are among those that thresholds were chosen from", "PV042")
def eval_in_tune(run: Run) -> None:
    def change(rows: list[Row]) -> list[Row]:
        table = pl.read_csv(run.folder / "per_query.csv", infer_schema=False).filter(
            pl.col("fold") == str(rows[0]["fold"])
        )
        row = next(r for r in table.to_dicts() if r["criterion_id"] == rows[0]["criterion_id"])
        numbers = {"prob_raw": float(row["prob_raw"]), "prob": float(row["prob"])}
        return [*rows, {**rows[0], **numbers, "doc_id": row["doc_id"]}]

    run.parquet("tune_queries.parquet", change)


@mutation("a label of TUNE is turned round", "PV042")
def flipped_tune_label(run: Run) -> None:
    run.parquet("tune_queries.parquet", lambda rows: rows[0].update(has_evidence=1 - rows[0]["has_evidence"]))


@mutation("an inconvenient query of TUNE is left out", "PV042")
def dropped_tune_row(run: Run) -> None:
    run.parquet("tune_queries.parquet", lambda rows: rows[1:])


@mutation("the split is another one than the seed gives: STOP and TRAIN exchange a document", "PV043")
def exchanged_stop(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        fold = rows[0]["fold"]
        pair = [next(r for r in rows if r["fold"] == fold and r["role"] == role) for role in ("train", "stop")]
        pair[0]["role"], pair[1]["role"] = "stop", "train"

    run.parquet("folds.parquet", change)


@mutation("two documents exchange their folds in every table", "PV043", evaluated=True)
def picked_split(run: Run) -> None:
    table = pl.read_csv(run.folder / "per_query.csv", infer_schema=False)
    first = table.row(0, named=True)
    other = table.filter(pl.col("fold") != first["fold"]).row(0, named=True)
    swap = {first["doc_id"]: other["doc_id"], other["doc_id"]: first["doc_id"]}
    fold = {first["doc_id"]: other["fold"], other["doc_id"]: first["fold"]}
    run.queries(lambda rows: [{**r, "fold": fold.get(r["doc_id"], r["fold"])} for r in rows])
    run.parquet("folds.parquet", lambda rows: [{**r, "doc_id": swap.get(r["doc_id"], r["doc_id"])} for r in rows])
    run.parquet("candidates.parquet", lambda rows: [{**r, "fold": int(fold.get(r["doc_id"], r["fold"]))} for r in rows])


@mutation("half of TUNE is made TRAIN", "PV042", "PV043")
def smaller_tune(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        tune = [r for r in rows if r["role"] == "tune"]
        for row in tune[::2]:
            row["role"] = "train"

    run.parquet("folds.parquet", change)


@mutation("the seed is said to be another one, everywhere", "PV043")
def another_seed(run: Run) -> None:
    def change(manifest: Any) -> None:
        manifest["seed"] = manifest["config"]["seed"] = manifest["seed"] + 1
        manifest["config_hash"] = files.sha256_json(manifest["config"])

    run.json("manifest.json", change)
    manifest = run.manifest()
    run.text("config.yaml", lambda text: text.replace(f"seed: {manifest['seed'] - 1}", f"seed: {manifest['seed']}", 1))
    for name in ("metrics_master.json", "summary.json"):
        run.json(name, lambda found: _named(found, manifest))


def _named(found: Any, manifest: Any) -> None:
    origin = found["meta"].get("run")
    if origin:
        origin.update(seed=manifest["seed"], config_hash=manifest["config_hash"])
