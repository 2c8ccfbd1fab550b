"""A tiny finished run, made without models: scores are drawn, decisions are made by the product's own Decider."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

from probative import files
from probative.data.folds import FoldSettings, make_folds
from probative.decide import Decider, DecideSettings, Decisions, sigmoid
from probative.evaluation.api import evaluate_source
from probative.evaluation.readers import read_path
from probative.evaluation.settings import EvaluateSettings

CRITERIA = ("A.1", "A.10", "A.2")
EXCLUDED = ("A.10",)
FOLDS = 2
DOCUMENTS = 45
POOL = 5
SEED = 7
SPLIT = FoldSettings(n_folds=FOLDS)


class Drawn:
    """A corpus of ids alone, with scores that know a little about its gold."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.documents = [f"d{i:03d}" for i in range(DOCUMENTS)]
        self.sentences = {d: [f"{d}.s{i}" for i in range(int(self.rng.integers(1, 13)))] for d in self.documents}
        self.gold = {(d, c): self._gold(d) for d in self.documents for c in CRITERIA}
        self.gold |= {(d, "A.10"): [] for d in self.documents[::3]}
        self.unlocated = {(d, "A.2") for d in self.documents[:2] if not self.gold[d, "A.2"]}
        del self.gold[self.documents[5], "A.1"]
        self.scores = {key: self._scores(*key) for key in self.gold}

    def _gold(self, document: str) -> list[str]:
        uids = self.sentences[document]
        count = int(self.rng.choice([0, 0, 1, 2]))
        chosen = sorted(self.rng.choice(len(uids), size=min(count, len(uids)), replace=False).tolist())
        return [uids[i] for i in chosen]

    def _scores(self, document: str, criterion: str) -> dict[str, Any]:
        uids = self.sentences[document]
        truth = np.array([uid in self.gold[document, criterion] for uid in uids], dtype=float)
        retrieve, rerank, graph = (np.round(self.rng.normal(k * truth), 2) for k in (1.0, 1.8, 2.2))
        gate = float(self.rng.normal(1.6 * self.positive(document, criterion) - 1.0))
        return {"retrieve": retrieve, "rerank": rerank, "graph": graph, "gate": gate, "stage": gate + self.rng.normal()}

    def positive(self, document: str, criterion: str) -> bool:
        return bool(self.gold[document, criterion]) or (document, criterion) in self.unlocated

    def roles(self) -> pl.DataFrame:
        return make_folds(SimpleNamespace(documents=pl.DataFrame({"doc_id": self.documents})), SPLIT, SEED)

    def ranking(self, key: tuple[str, str], stage: str) -> tuple[list[int], list[bool]]:
        """Positions of the sentences in order, and which are in the pool."""
        scores = self.scores[key]
        first = sorted(range(len(scores["retrieve"])), key=lambda i: -scores["retrieve"][i])
        pool = set(first[:POOL])
        if stage == "retrieve":
            return first, [i in pool for i in first]
        inside = sorted((i for i in first if i in pool), key=lambda i: -scores[stage][i])
        order = inside + [i for i in first if i not in pool]
        return order, [i in pool for i in order]


def _fold(drawn: Drawn, roles: pl.DataFrame, fold: int, settings: DecideSettings) -> dict[str, Any]:
    of = {role: set(roles.filter(fold=fold, role=role)["doc_id"]) for role in ("train", "tune", "eval")}
    keys = sorted(drawn.gold)
    tune = [key for key in keys if key[0] in of["tune"]]
    usable = [key for key in tune if key[1] not in EXCLUDED]
    decider = Decider(settings).fit(
        [drawn.scores[key]["gate"] for key in usable],
        [drawn.positive(*key) for key in usable],
        [key[0] for key in usable],
    )
    held = [key for key in keys if key[0] in of["eval"]]
    train = [key for key in keys if key[0] in of["train"] and key[1] not in EXCLUDED]
    return {
        "facts": {"fold": fold, "scheme": "holdout", **decider.to_dict()},
        "tune": [_tune_row(drawn, decider, fold, key) for key in tune],
        "tables": _tables(drawn, decider, fold, held, _rates(drawn, train)),
        "candidates": [row for key in held for row in _candidate_rows(drawn, fold, key)],
    }


def _rates(drawn: Drawn, train: list[tuple[str, str]]) -> Callable[[str], float]:
    def rate(criterion: str) -> float:
        asked = [key for key in train if key[1] == criterion] or train
        return sum(drawn.positive(*key) for key in asked) / len(asked)

    return rate


def _tune_row(drawn: Drawn, decider: Decider, fold: int, key: tuple[str, str]) -> dict[str, Any]:
    gate = drawn.scores[key]["gate"]
    return {
        "fold": fold,
        "doc_id": key[0],
        "criterion_id": key[1],
        "prob_raw": float(sigmoid(gate)),
        "prob": float(decider.calibrator_.predict([gate])[0]),
        "has_evidence": int(drawn.positive(*key)),
        "excluded": key[1] in EXCLUDED,
    }


def _node(drawn: Drawn, key: tuple[str, str]) -> np.ndarray:
    return sigmoid(drawn.scores[key]["graph"] - 1.0).astype(np.float32).astype(np.float64)


def _candidate_rows(drawn: Drawn, fold: int, key: tuple[str, str]) -> list[dict[str, Any]]:
    order, pool = drawn.ranking(key, "graph")
    scores, uids, node = drawn.scores[key], drawn.sentences[key[0]], _node(drawn, key)
    return [
        {
            "fold": fold,
            "doc_id": key[0],
            "criterion_id": key[1],
            "sent_uid": uids[i],
            "retriever_score": scores["retrieve"][i],
            "reranker_score": scores["rerank"][i],
            "graph_score": scores["graph"][i],
            "node_prob": node[i],
            "rank": place,
            "in_pool": inside,
            "gold": int(uids[i] in drawn.gold[key]),
        }
        for place, (i, inside) in enumerate(zip(order, pool, strict=True), start=1)
    ]


def _tables(
    drawn: Drawn, decider: Decider, fold: int, held: list[tuple[str, str]], rate: Callable[[str], float]
) -> dict[str, list[dict[str, Any]]]:
    tables: dict[str, list[dict[str, Any]]] = {"final": [], "retrieve": []}
    for key in held:
        order, pool = drawn.ranking(key, "graph")
        mask = np.zeros(len(order), dtype=bool)
        mask[order] = pool
        decided = decider.decide(
            [drawn.scores[key]["gate"]], np.array(order), _node(drawn, key), mask, np.array([0, len(order)])
        )
        tables["final"].append(_final_row(drawn, decided, fold, key, rate(key[1]), order, pool))
        gate = drawn.scores[key]["stage"]
        row = _shared(drawn, fold, key, drawn.ranking(key, "retrieve")[0])
        tables["retrieve"].append(row | {"prob_raw": float(sigmoid(gate)), "prob": float(sigmoid(gate / 2))})
    return tables


def _shared(drawn: Drawn, fold: int, key: tuple[str, str], order: list[int]) -> dict[str, Any]:
    uids = drawn.sentences[key[0]]
    return {
        "fold": fold,
        "doc_id": key[0],
        "criterion_id": key[1],
        "ranked_uids": [uids[i] for i in order],
        "gold_uids": drawn.gold[key],
        "has_evidence": int(drawn.positive(*key)),
    }


def _final_row(
    drawn: Drawn, decided: Decisions, fold: int, key: tuple[str, str], prior: float, order: list[int], pool: list[bool]
) -> dict[str, Any]:
    row = _shared(drawn, fold, key, order)
    ranked = row["ranked_uids"]
    graph = drawn.scores[key]["graph"][order]
    floor = graph[: sum(pool)].min(initial=0.0)
    scores = [
        float(s) if inside else float(floor - 1 - place)
        for place, (s, inside) in enumerate(zip(graph, pool, strict=True))
    ]
    row |= {
        "prob_raw": float(decided.prob_raw[0]),
        "prob": float(decided.prob[0]),
        "prior": prior,
        "threshold": decided.threshold,
        "predicted": int(decided.predicted[0]),
        "tau_neg": decided.tau_neg,
        "tau_pos": decided.tau_pos,
        "state": ("NEG", "UNCERTAIN", "POS")[decided.state[0]],
        "n_candidates": len(ranked),
        "pool_uids": [uid for uid, inside in zip(ranked, pool, strict=True) if inside],
        "ranked_scores": scores,
    }
    row |= {f"selected_{mode}": ranked[: int(size[0])] for mode, size in decided.size.items()}
    return row | {f"threshold@fpr={budget}": value for budget, value in decided.budget_thresholds.items()}


def write_per_query(path: Path, rows: list[dict[str, Any]]) -> None:
    """CSV with lists as JSON, as a run folder has it."""
    frame = pl.DataFrame(rows, infer_schema_length=None).sort("fold", "doc_id", "criterion_id")
    lists = [name for name, kind in frame.schema.items() if kind == pl.List or isinstance(kind, pl.List)]
    texts = [pl.Series(name, [json.dumps(v.to_list()) for v in frame[name]], dtype=pl.String) for name in lists]
    frame.with_columns(texts).write_csv(path)


def seal(folder: Path) -> None:
    """Sign everything anew: the manifest first, then checksums.txt."""
    manifest = json.loads((folder / "manifest.json").read_text())
    found = sorted(p for p in folder.rglob("*") if p.is_file() and p.name not in {"manifest.json", "checksums.txt"})
    manifest["files"] = {p.relative_to(folder).as_posix(): files.sha256_file(p) for p in found}
    files.write_json(folder / "manifest.json", manifest)
    lines = [f"{files.sha256_file(p)}  {p.relative_to(folder).as_posix()}" for p in [*found, folder / "manifest.json"]]
    files.write_text(folder / "checksums.txt", "\n".join(sorted(lines)) + "\n")


def make_run(
    folder: Path, seed: int = 3, resamples: int = 1000, method: str = "grid", criteria_limit: int = 200
) -> Path:
    """A whole run folder that nothing is wrong with."""
    folder.mkdir(parents=True)
    drawn = Drawn(seed)
    roles = drawn.roles()
    settings = DecideSettings.model_validate({"triage": {"method": method, "screening_sensitivity": 0.9}})
    made = [_fold(drawn, roles, fold, settings) for fold in range(FOLDS)]
    roles.write_parquet(folder / "folds.parquet")
    pl.DataFrame([row for fold in made for row in fold["candidates"]]).write_parquet(folder / "candidates.parquet")
    pl.DataFrame([row for fold in made for row in fold["tune"]]).write_parquet(folder / "tune_queries.parquet")
    write_per_query(folder / "per_query.csv", [row for fold in made for row in fold["tables"]["final"]])
    (folder / "stages").mkdir()
    rows = [row for fold in made for row in fold["tables"]["retrieve"]]
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(folder / "stages" / "retrieve.parquet")
    asked = EvaluateSettings(bootstrap=resamples, criteria_limit=criteria_limit)
    parts = {"folds": SPLIT, "decide": settings, "evaluate": asked}
    config = {"seed": SEED, "threads": 1, "corpus": None}
    config |= {name: part.model_dump(mode="json") for name, part in parts.items()}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    positives = sum(drawn.positive(*key) for key in drawn.gold)
    manifest = {
        "schema_version": 1,
        "kind": "run",
        "probative": "0.1.0",
        "config": config,
        "config_hash": files.sha256_json(config),
        "corpus": {
            "name": "drawn",
            "fingerprint": "0" * 64,
            "synthetic": True,
            "exclude_from_training": list(EXCLUDED),
            "n_documents": DOCUMENTS,
            "n_sentences": sum(map(len, drawn.sentences.values())),
            "n_queries": len(drawn.gold),
            "n_positive": positives,
            "n_unlocated": len(drawn.unlocated),
            "n_unlabelled": 1,
            "licence": "CC0",
            "source": "drawn at random",
        },
        "seed": SEED,
        "threads": 1,
        "jobs": 1,
        "environment": {"python": "3.11", "platform": "test", "packages": {"numpy": "2"}},
        "timings": [],
        "folds": [fold["facts"] for fold in made],
        "files": {},
    }
    files.write_json(folder / "manifest.json", manifest)
    evaluate_source(read_path(folder), asked).write(folder)
    seal(folder)
    return folder


@pytest.fixture(scope="session")
def clean_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that must pass; never changed by a test."""
    return make_run(tmp_path_factory.mktemp("runs") / "clean")


@pytest.fixture
def run_copy(clean_run: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    return Path(shutil.copytree(clean_run, tmp_path / "run"))


@pytest.fixture(scope="session")
def guaranteed_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean run that promises something, and too few documents for what was asked."""
    return make_run(tmp_path_factory.mktemp("runs") / "guaranteed", method="guaranteed")
