"""No leak survives two properties: noise in EVAL's gold changes no prediction, EVAL's absence changes no model.

`python -m probative.experiment.poison CONFIG.yaml` prints what it found as JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from probative import files
from probative.data import Corpus, folds
from probative.encode import vectors_for
from probative.experiment.run import load_corpus, only, reduced
from probative.experiment.settings import settle
from probative.pipeline.learn import learn
from probative.pipeline.pipeline import fit_decider
from probative.pipeline.settings import PipelineSettings
from probative.types import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One property of one part of the system, and whether it held."""

    property: str
    part: str
    held: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trace:
    """Hashes of what a fold learned and predicted."""

    models: dict[str, str]
    decider: str
    predictions: dict[str, str]


def check(corpus: Corpus, settings: PipelineSettings, fold: int = 0) -> list[Finding]:
    """Fit the fold as it is, with poisoned EVAL gold, and with the EVAL documents deleted; all without caches."""
    vectors_for(corpus.view(corpus.doc_ids, Role.NEW, gold=False), settings.encode)
    table = folds.make_folds(corpus, settings.folds, settings.seed)
    held_out = folds.roles(table, fold)[Role.EVAL]
    base = _trace(corpus, table, fold, settings)
    noisy = _trace(poisoned(corpus, held_out, settings.seed), table, fold, settings)
    gone = pl.col("doc_id").is_in(held_out)
    rest = only(corpus, [doc_id for doc_id in corpus.doc_ids if doc_id not in set(held_out)])
    absent = _trace(rest, table.filter(~gone), fold, settings)
    findings = [
        Finding(property="poisoning", part=name, held=base.predictions[name] == noisy.predictions[name])
        for name in base.predictions
    ]
    findings.append(Finding(property="poisoning", part="decide", held=base.decider == noisy.decider))
    findings += [
        Finding(property="deletion", part=name, held=base.models[name] == absent.models[name]) for name in base.models
    ]
    return [*findings, Finding(property="deletion", part="decide", held=base.decider == absent.decider)]


def poisoned(corpus: Corpus, doc_ids: list[str], seed: int) -> Corpus:
    """The corpus with the gold of some documents replaced by a random choice of their sentences."""
    rng = np.random.default_rng(seed)
    pairs = corpus.pairs.filter(pl.col("doc_id").is_in(doc_ids)).select("doc_id", "criterion_id")
    uids = {key[0]: frame["sent_uid"].to_list() for key, frame in corpus.sentences.group_by("doc_id")}
    noise = [
        (doc_id, criterion_id, uids[doc_id][rng.integers(len(uids[doc_id]))])
        for doc_id, criterion_id in pairs.iter_rows()
        if rng.random() < 0.5
    ]
    made = pl.DataFrame(noise, schema=corpus.gold.select("doc_id", "criterion_id", "sent_uid").schema, orient="row")
    marks = made.select("doc_id", "criterion_id", pl.lit(1, dtype=corpus.pairs["has_evidence"].dtype).alias("noise"))
    labelled = corpus.pairs.join(marks, on=["doc_id", "criterion_id"], how="left", maintain_order="left")
    changed = pl.when(pl.col("doc_id").is_in(doc_ids)).then(pl.col("noise").fill_null(0)).otherwise("has_evidence")
    return replace(
        corpus,
        gold=pl.concat([corpus.gold.filter(~pl.col("doc_id").is_in(doc_ids)), made], how="vertical_relaxed").sort(
            "doc_id", "criterion_id", "sent_uid"
        ),
        rejected=corpus.rejected.filter(~pl.col("doc_id").is_in(doc_ids)),
        pairs=labelled.with_columns(changed.cast(corpus.pairs["has_evidence"].dtype).alias("has_evidence")).drop(
            "noise"
        ),
    )


def _trace(corpus: Corpus, table: pl.DataFrame, fold: int, settings: PipelineSettings) -> _Trace:
    with tempfile.TemporaryDirectory() as cold:
        _, scored = learn(corpus, table, fold, settings, files.Store(Path(cold)), lambda stage: None)
        models = {name: _folder_hash(folder) for name, folder in scored.models.items()}
    evaluation = scored.eval
    arrays: dict[str, Any] = {} if evaluation is None else {**evaluation.scores, **evaluation.gates}
    return _Trace(
        models=models,
        decider=files.sha256_json(fit_decider(scored, settings).to_dict()),
        predictions={name: files.sha256_bytes(np.ascontiguousarray(a).tobytes()) for name, a in arrays.items()},
    )


def _folder_hash(folder: Path) -> str:
    found = sorted(p for p in folder.rglob("*") if p.is_file())
    return files.sha256_json([[p.relative_to(folder).as_posix(), files.sha256_file(p)] for p in found])


def main(config: str) -> int:
    """Check the small version of a configuration and print the findings as JSON."""
    settings = settle(Path(config), quick=True).settings
    findings = check(reduced(load_corpus(settings.corpus), settings), settings)
    values = [{"property": f.property, "part": f.part, "held": f.held} for f in findings]
    sys.stdout.write(json.dumps({"findings": values}) + "\n")
    return 0 if all(f.held for f in findings) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
