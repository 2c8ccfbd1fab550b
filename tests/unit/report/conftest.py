"""A run folder made by simulation: real records and series, made-up documents with hostile words and names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from probative.evaluation.api import evaluate
from probative.files import write_json

CRITERIA = ("A.1", "A.2", '=cmd("calc")', "<script>alert(1)</script>")
HOSTILE = (
    "<script>document.title = 'taken'</script>",
    "right \u202eto left\u202c override",
    "w" * 10_000,
    "=cmd('calc')",
    "<img src=https://example.org/x onerror=alert(1)>",
)
N_DOCUMENTS, N_SENTENCES = 60, 8


def queries(seed: int = 0) -> pl.DataFrame:
    """A per_query table of three folds whose gate knows something."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(N_DOCUMENTS):
        doc_id = f"d{number:03d}" if number else "=d000<b>"
        uids = [f"{doc_id}_{place}" for place in range(N_SENTENCES)]
        for place, criterion in enumerate(CRITERIA):
            positive = rng.random() < (0.6 - 0.15 * place)
            gold = sorted(rng.choice(uids, size=rng.integers(1, 3), replace=False).tolist()) if positive else []
            ranked = sorted(uids, key=lambda uid: rng.normal() - 2 * (uid in gold))
            raw = float(1 / (1 + np.exp(-rng.normal(1.2 if positive else -1.2, 1.5))))
            state = "NEG" if raw < 0.25 else "POS" if raw >= 0.75 else "UNCERTAIN"
            rows.append(
                {
                    "fold": number % 3, "doc_id": doc_id, "criterion_id": criterion,
                    "ranked_uids": ranked, "gold_uids": gold, "prob_raw": raw, "prob": raw, "prior": 0.4,
                    "threshold": 0.5, "predicted": int(raw >= 0.5), "tau_neg": 0.25, "tau_pos": 0.75, "state": state,
                    "n_candidates": N_SENTENCES, "pool_uids": ranked[:6], "selected_raw": ranked[:3],
                    "selected_gate": ranked[:3] if raw >= 0.5 else [],
                    "selected_triage": [] if state == "NEG" else ranked[: 2 if state == "POS" else 4],
                    **{f"threshold@fpr={alpha}": 0.5 for alpha in ("0.01", "0.03", "0.05", "0.1")},
                }
            )  # fmt: skip
    return pl.DataFrame(rows)


def make_run(folder: Path) -> Path:
    """Write the run folder."""
    folder.mkdir(parents=True)
    table = queries()
    lists = [name for name, kind in table.schema.items() if kind == pl.List(pl.String)]
    as_json = [pl.col(name).map_elements(lambda v: json.dumps(v.to_list()), return_dtype=pl.String) for name in lists]
    table.with_columns(as_json).write_csv(folder / "per_query.csv")
    evaluate(folder / "per_query.csv", bootstrap=200).write(folder)
    docs = sorted(table["doc_id"].unique())
    roles = [
        {"doc_id": d, "fold": f, "role": "eval" if n % 3 == f else ("train", "tune", "stop")[n % 4 % 3], "part": None}
        for f in range(3)
        for n, d in enumerate(docs)
    ]
    pl.DataFrame(roles, schema_overrides={"part": pl.Int64}).write_parquet(folder / "folds.parquet")
    write_json(folder / "manifest.json", MANIFEST)
    return folder


MANIFEST = {
    "schema_version": 1,
    "probative": "0.1.0",
    "kind": "run",
    "seed": 42,
    "threads": 1,
    "jobs": 2,
    "config_hash": "c" * 64,
    "config": {
        "seed": 42,
        "folds": {"scheme": "holdout"},
        "decide": {"calibration": ["platt"], "fpr_budget": 0.05, "triage": {"method": "grid"}},
        "retrieve": {"method": "both", "pool": 6},
        "corpus": None,
    },
    "corpus": {
        "name": "made <b>up</b>",
        "version": "1",
        "licence": "CC0-1.0",
        "source": "a test",
        "synthetic": True,
        "exclude_from_training": [],
        "fingerprint": "f" * 64,
        "n_sentences": N_DOCUMENTS * N_SENTENCES,
        "n_unlabelled": 0,
    },
    "environment": {"python": "3.11", "platform": "Linux", "packages": {"numpy": "2"}},
    "timings": [{"fold": 0, "stage": "retrieve", "seconds": 1.25, "cached": True}],
    "folds": [
        {
            "fold": 0,
            "scheme": "holdout",
            "calibrator": {"kind": "platt", "cv_log_loss": {"platt": 0.5}},
            "triage": {"method": "grid", "guarantee": None},
        }
    ],
    "files": {"per_query.csv": "a" * 64},
}


def write_corpus(folder: Path) -> Path:
    """The documents of the run, with hostile sentences in each."""
    folder.mkdir(parents=True)
    docs = sorted(queries()["doc_id"].unique())
    rows = [
        {"doc_id": d, "sent_idx": n, "sent_uid": f"{d}_{n}", "text": (*HOSTILE, "six", "seven", "eight")[n]}
        for d in docs
        for n in range(N_SENTENCES)
    ]
    pl.DataFrame(rows).write_parquet(folder / "sentences.parquet")
    criteria = [{"criterion_id": c, "text": f"Is {c} said?"} for c in CRITERIA]
    pl.DataFrame(criteria).write_parquet(folder / "criteria.parquet")
    gold = queries().select("doc_id", "criterion_id", pl.col("gold_uids").alias("sent_uid")).explode("sent_uid")
    gold.drop_nulls("sent_uid").write_parquet(folder / "gold.parquet")
    return folder


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder; not to be written into."""
    return make_run(tmp_path_factory.mktemp("report") / "run")


@pytest.fixture
def fresh_run(run_folder: Path, tmp_path: Path) -> Callable[[], Path]:
    """Makes a copy that may be written into."""
    import shutil

    return lambda: Path(shutil.copytree(run_folder, tmp_path / "run"))
