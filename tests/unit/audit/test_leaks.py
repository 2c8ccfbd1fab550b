"""The leakage checks pass an honest little system and catch leaking ones, each with the check one would expect."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from probative.audit import leakage
from probative.audit.leaks import words
from probative.errors import ConfigError

TOPICS = ("sleep", "weight", "energy", "guilt")
FILLER = ("today", "we", "walked", "to", "market", "and", "bought", "bread", "for", "evening", "meal", "friends")


def sentence(number: int, topic: str | None) -> str:
    rest = [FILLER[(number * 7 + i * 3) % len(FILLER)] for i in range(6)] + [f"w{number}", f"v{number * 3 % 101}"]
    return " ".join([*rest, topic] if topic else rest)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    sentences, gold = [], []
    for d in range(24):
        for i in range(5):
            topic = TOPICS[(d + i) % 4] if i == d % 5 else None
            sentences.append(
                {"doc_id": f"d{d:02d}", "sent_idx": i, "sent_uid": f"d{d:02d}-{i}", "text": sentence(5 * d + i, topic)}
            )
            if topic:
                gold.append({"doc_id": f"d{d:02d}", "criterion_id": topic, "sent_uid": f"d{d:02d}-{i}"})
    criteria = [{"criterion_id": t, "text": f"something about {t}"} for t in TOPICS]
    for name, rows in (("sentences", sentences), ("gold", gold), ("criteria", criteria)):
        pl.DataFrame(rows).write_csv(folder / f"{name}.csv")
    return folder


@pytest.fixture
def config(tmp_path: Path, corpus: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({"corpus": str(corpus)}))
    return path


def system(
    *, idf_on: str = "train", threshold_on: str = "tune", peek: bool = False
) -> Callable[[Path, Path, Path], None]:
    """A runner: word overlap weighted by IDF, one threshold; its leaks are chosen by the caller."""

    def run(config: Path, corpus: Path, out: Path) -> None:
        out.mkdir()
        sentences = pl.read_parquet(corpus / "sentences.parquet").to_dicts()
        criteria = pl.read_parquet(corpus / "criteria.parquet").to_dicts()
        gold = {(r["criterion_id"], r["sent_uid"]) for r in pl.read_parquet(corpus / "gold.parquet").to_dicts()}
        docs = sorted({r["doc_id"] for r in sentences})
        role = {d: ("eval", "tune", "train", "train")[i % 4] for i, d in enumerate(docs)}
        known = [r for r in sentences if role[r["doc_id"]] == "train" or idf_on == "everything"]
        counts = Counter(w for r in known for w in set(words(r["text"])))
        queries = []
        for d in docs:
            for c in criteria:
                asked = set(words(c["text"]))
                mine = [r for r in sentences if r["doc_id"] == d]
                found = {
                    r["sent_uid"]: sum(math.log(len(known) / (1 + counts[w])) for w in asked & set(words(r["text"])))
                    for r in mine
                }
                if peek:
                    found = {uid: s + ((c["criterion_id"], uid) in gold) for uid, s in found.items()}
                positive = any((c["criterion_id"], uid) in gold for uid in found)
                queries.append(
                    {
                        "doc_id": d,
                        "criterion_id": c["criterion_id"],
                        "prob": max(found.values()),
                        "positive": positive,
                        "found": found,
                    }
                )
        side = [q for q in queries if role[q["doc_id"]] == threshold_on and q["positive"]]
        threshold = min((q["prob"] for q in side), default=0.0)
        write(out, queries, role, threshold)

    return run


def write(out: Path, queries: list[dict[str, Any]], role: dict[str, str], threshold: float) -> None:
    keys = ("doc_id", "criterion_id", "prob")
    held = [{"fold": 0, **{k: q[k] for k in keys}} for q in queries if role[q["doc_id"]] == "eval"]
    pl.DataFrame([{**row, "predicted": row["prob"] >= threshold} for row in held]).write_csv(out / "per_query.csv")
    tune = [{"fold": 0, **{k: q[k] for k in keys}} for q in queries if role[q["doc_id"]] == "tune"]
    pl.DataFrame(tune).write_parquet(out / "tune_queries.parquet")
    ranked = [
        {
            "fold": 0,
            "doc_id": q["doc_id"],
            "criterion_id": q["criterion_id"],
            "rank": i,
            "sent_uid": uid,
            "score": q["found"][uid],
        }
        for q in queries
        if role[q["doc_id"]] == "eval"
        for i, uid in enumerate(sorted(q["found"], key=lambda u: -q["found"][u]))
    ]
    pl.DataFrame(ranked).write_parquet(out / "candidates.parquet")
    pl.DataFrame([{"doc_id": d, "fold": 0, "role": r} for d, r in role.items()]).write_parquet(out / "folds.parquet")
    (out / "manifest.json").write_text(json.dumps({"folds": [{"fold": 0, "threshold": threshold}]}))


def proven(config: Path, corpus: Path) -> list[dict[str, Any]]:
    return [{"property": "deletion", "part": "retrieve", "held": True}]


def failed(config: Path, **how: Any) -> list[str]:
    return list(leakage(config, runner=system(**how), prover=proven)["failed"])


def test_an_honest_system_passes(config: Path) -> None:
    assert [] == failed(config)


def test_idf_fitted_on_everything_is_caught_by_other_words_in_eval(config: Path) -> None:
    assert ["LK006"] == failed(config, idf_on="everything")


def test_a_threshold_fitted_on_eval_is_caught_by_other_gold_in_eval(config: Path) -> None:
    assert "LK005" in failed(config, threshold_on="eval")


def test_a_score_that_sees_gold_is_caught_by_other_gold_in_eval(config: Path) -> None:
    assert "LK005" in failed(config, peek=True)


def test_a_stage_that_changes_when_eval_is_deleted_is_named(config: Path) -> None:
    def disproven(config: Path, corpus: Path) -> list[dict[str, Any]]:
        return [*proven(config, corpus), {"property": "deletion", "part": "graph", "held": False}]

    found = leakage(config, runner=system(), prover=disproven)
    assert ["LK007"] == found["failed"]
    assert "graph" in found["checks"][-1]["why"]


def change(corpus: Path, name: str, make: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    path = corpus / f"{name}.csv"
    make(pl.read_csv(path)).write_csv(path)


def test_the_same_document_under_two_names_is_caught(config: Path, corpus: Path) -> None:
    def double(table: pl.DataFrame) -> pl.DataFrame:
        copy = table.filter(pl.col("doc_id") == "d03").with_columns(
            doc_id=pl.lit("d99"), sent_uid="x" + pl.col("sent_uid")
        )
        return pl.concat([table, copy])

    change(corpus, "sentences", double)
    found = leakage(config, quick=True)
    assert {"LK001", "LK002"} == set(found["failed"])
    assert any("'d03' and 'd99'" in c["why"] for c in found["checks"])


def test_near_duplicates_that_folds_keep_together_are_no_leak(config: Path, corpus: Path) -> None:
    def nearly(table: pl.DataFrame) -> pl.DataFrame:
        copy = table.filter(pl.col("doc_id") == "d03").with_columns(
            doc_id=pl.lit("d99"), sent_uid="x" + pl.col("sent_uid")
        )
        return pl.concat(
            [
                table,
                copy.with_columns(
                    text=pl.col("text") + pl.when(pl.col("sent_idx") == 4).then(pl.lit(" end")).otherwise(pl.lit(""))
                ),
            ]
        )

    change(corpus, "sentences", nearly)
    assert ["LK002"] == leakage(config, quick=True)["failed"]
    config.write_text(yaml.safe_dump({"corpus": str(corpus), "folds": {"near_duplicates": 0.8}}))
    assert [] == leakage(config, quick=True)["failed"]


def test_a_criterion_that_quotes_its_gold_is_caught(config: Path, corpus: Path) -> None:
    quoted = pl.read_csv(corpus / "sentences.csv").filter(pl.col("sent_uid") == "d00-0")["text"].item()
    change(
        corpus,
        "criteria",
        lambda t: t.with_columns(
            text=pl.when(pl.col("criterion_id") == "sleep").then(pl.lit(f"such as: {quoted}")).otherwise("text")
        ),
    )
    assert ["LK003"] == leakage(config, quick=True)["failed"]


def test_a_column_that_knows_the_gold_is_caught(config: Path, corpus: Path) -> None:
    gold = pl.read_csv(corpus / "gold.csv")["sent_uid"].to_list()
    change(
        corpus,
        "sentences",
        lambda t: t.with_columns(score=pl.col("sent_uid").is_in(gold).cast(pl.Int64)).with_columns(
            score=pl.col("score") * 7 + pl.col("sent_idx")
        ),
    )
    pl.read_csv(corpus / "sentences.csv").write_parquet(corpus / "sentences.parquet")
    assert ["LK004"] == leakage(config, quick=True)["failed"]


def test_a_configuration_without_a_corpus_says_how_to_give_one(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("seed: 1\n")
    with pytest.raises(ConfigError, match="--corpus"):
        leakage(path)
