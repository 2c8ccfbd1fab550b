"""LK005 and LK006: run the user's configuration on corpora whose EVAL was spoilt; nothing learned may change.

The experiment is started as a command, so that the audit needs to know nothing of how it works.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

import polars as pl
import yaml

from probative.audit.check import Check, absent, judged
from probative.audit.corpus import TABLES, read_rows
from probative.errors import CheckFailed

POISONED = "Predictions do not depend on EVAL's gold"
REPLACED = "Nothing learned depends on EVAL's text"
DELETED = "No stage changes when EVAL's documents are deleted"
DOCUMENTS = 60
SEED = 13
FIX = "A stage, a threshold or a statistic sees EVAL. Fit it on TRAIN alone, and choose on TUNE alone."
Runner = Callable[[Path, Path, Path], None]
"""(configuration, corpus folder, output folder) → a run folder at the output."""
Prover = Callable[[Path, Path], list[dict[str, Any]]]
"""(configuration, corpus folder) → findings with property, part and held."""
NONSENSE = [
    "lorem",
    "ipsum",
    "dolor",
    "sit",
    "amet",
    "consectetur",
    "adipiscing",
    "elit",
    "sed",
    "do",
    "eiusmod",
    "tempor",
]


def run_command(config: Path, corpus: Path, out: Path) -> None:
    """`probative run`, at its quickest."""
    command = [
        sys.executable,
        "-m",
        "probative",
        "run",
        str(config),
        "--corpus",
        str(corpus),
        "--out",
        str(out),
        "--quick",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CheckFailed(f"probative run failed on the small corpus of the leakage checks: {last}")


def prove_command(config: Path, corpus: Path) -> list[dict[str, Any]]:
    """`python -m probative.experiment.poison`: every stage fitted with EVAL's gold spoilt, and without EVAL."""
    settings = yaml.safe_load(config.read_text(encoding="utf-8")) or {}
    with TemporaryDirectory(prefix="probative-leakage-") as place:
        here = Path(place) / "config.yaml"
        here.write_text(yaml.safe_dump({**settings, "corpus": str(corpus)}), encoding="utf-8")
        command = [sys.executable, "-m", "probative.experiment.poison", str(here)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return list(json.loads(done.stdout)["findings"])
    except (ValueError, KeyError):
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CheckFailed(f"the proof of deletion failed on the small corpus of the leakage checks: {last}") from None


class Trial:
    """A small corpus, the run on it, and runs on spoilt copies of it."""

    def __init__(self, config: Path, corpus: Path, runner: Runner, prover: Prover) -> None:
        self.config = config
        self.corpus = corpus
        self.runner = runner
        self.prover = prover

    def __enter__(self) -> Self:
        self.place = TemporaryDirectory(prefix="probative-leakage-")
        self.root = Path(self.place.name)
        self.small = self.root / "corpus"
        shrink(self.corpus, self.small)
        self.base = self._run(self.small, "base")
        roles = pl.read_parquet(self.base / "folds.parquet")
        self.fold = min(roles["fold"].to_list())
        mine = roles.filter(pl.col("fold") == self.fold)
        self.eval = sorted(mine.filter(pl.col("role") == "eval")["doc_id"].to_list())
        self.train = frozenset(mine.filter(pl.col("role") == "train")["doc_id"].to_list())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.place.cleanup()

    def _run(self, corpus: Path, name: str) -> Path:
        out = self.root / name
        self.runner(self.config, corpus, out)
        return out

    def poisoned(self) -> Check:
        """LK005: shuffle EVAL's gold; its predictions must keep their bytes."""
        other = self.root / "corpus-poisoned"
        poison(self.small, other, self.eval)
        return self._compare("LK005", POISONED, self._run(other, "poisoned"), predictions=True)

    def replaced(self) -> Check:
        """LK006: put other words in EVAL's place; everything chosen on TUNE must keep its bytes."""
        other = self.root / "corpus-replaced"
        replace_text(self.small, other, self.eval)
        return self._compare("LK006", REPLACED, self._run(other, "replaced"), predictions=False)

    def deleted(self) -> Check:
        """LK007: fit every stage without EVAL's documents; models and decisions must keep their bytes."""
        found = self.prover(self.config, self.small)
        lines = [f"{f['property']}: {f['part']} is not what it was" for f in found if not f["held"]]
        parts = ", ".join(dict.fromkeys(str(f["part"]) for f in found))
        return judged("LK007", DELETED, lines, good=f"byte-identical: {parts}", fix=FIX)

    def _compare(self, code: str, title: str, run: Path, *, predictions: bool) -> Check:
        if read(self.base / "folds.parquet") != read(run / "folds.parquet"):
            why = "the folds themselves follow from gold or text here (balanced or near-duplicate folds)"
            return absent(code, title, why)
        found = list(differences(self.base, run, self.fold, predictions=predictions))
        good = f"fold {self.fold}: TUNE's scores, calibration and thresholds are byte-identical"
        good += ", and so are EVAL's predictions" if predictions else ""
        return judged(code, title, found, good=good, fix=FIX)


def read(path: Path) -> list[dict[str, Any]]:
    return pl.read_parquet(path).to_dicts()


GOLD = {"gold_uids", "has_evidence", "gold"}


def differences(base: Path, other: Path, fold: Any, *, predictions: bool) -> Iterator[str]:
    """What a fold of two runs does not have in common, gold aside."""
    names = ["tune_queries.parquet", *(["per_query.csv", "candidates.parquet"] if predictions else [])]
    for name in names:
        left, right = _rows(base / name, fold), _rows(other / name, fold)
        if len(left) != len(right):
            yield f"{name}: {len(left)} rows become {len(right)}"
            continue
        for a, b in zip(left, right, strict=True):
            changed = sorted(column for column in a if a[column] != b[column])
            if changed:
                place = f"document {a['doc_id']!r}, criterion {a['criterion_id']!r}"
                yield f"{name}, fold {fold}, {place}: {', '.join(changed)} changed"
                break
    if _facts(base, fold) != _facts(other, fold):
        yield f"manifest.json, fold {fold}: calibrator, thresholds or policy changed"


def _rows(path: Path, fold: Any) -> list[dict[str, Any]]:
    frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)
    kept = frame.filter(pl.col("fold").cast(pl.String) == str(fold))
    order = [name for name in ("doc_id", "criterion_id", "rank") if name in kept.columns]
    return kept.drop([name for name in GOLD if name in kept.columns]).sort(order).to_dicts()


def _facts(run: Path, fold: Any) -> Any:
    facts = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["folds"]
    return [{k: v for k, v in entry.items() if k != "seconds"} for entry in facts if str(entry["fold"]) == str(fold)]


def _copy(source: Path, target: Path, change: Callable[[str, list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    """A corpus folder with changed rows; tables become Parquet."""
    target.mkdir(parents=True)
    if (source / "corpus.toml").is_file():
        shutil.copy(source / "corpus.toml", target / "corpus.toml")
    for name in TABLES:
        rows = read_rows(source, name)
        if rows:
            pl.DataFrame(change(name, rows), infer_schema_length=None).write_parquet(target / f"{name}.parquet")


def shrink(source: Path, target: Path, documents: int = DOCUMENTS) -> None:
    """A random part of the documents, those with gold first so that a small corpus still has some of each."""
    ids = sorted({str(row["doc_id"]) for row in read_rows(source, "sentences") or ()})
    with_gold = {str(row["doc_id"]) for row in read_rows(source, "gold") or ()}
    shuffled = random.Random(SEED).sample(ids, len(ids))  # noqa: S311 - a reproducible choice, not a secret
    kept = set(sorted(shuffled, key=lambda doc: doc not in with_gold)[:documents])

    def change(name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row for row in rows if name == "criteria" or str(row["doc_id"]) in kept]

    _copy(source, target, change)


def poison(source: Path, target: Path, documents: list[str]) -> None:
    """Move the gold of these documents to other sentences, at random; whether a pair has evidence moves too."""
    chosen = set(documents)
    sentences: dict[str, list[str]] = {}
    for row in read_rows(source, "sentences") or ():
        sentences.setdefault(str(row["doc_id"]), []).append(str(row["sent_uid"]))
    criteria = [str(row["criterion_id"]) for row in read_rows(source, "criteria") or ()]
    generator = random.Random(SEED)  # noqa: S311 - reproducible noise, not a secret
    pairs = read_rows(source, "pairs")
    asked = {(str(r["doc_id"]), str(r["criterion_id"])) for r in pairs} if pairs else None
    noise = [
        {"doc_id": doc, "criterion_id": criterion, "sent_uid": generator.choice(sentences[doc])}
        for doc in sorted(chosen)
        for criterion in criteria
        if (asked is None or (doc, criterion) in asked) and generator.random() < 0.5
    ]
    marked = {(row["doc_id"], row["criterion_id"]) for row in noise}

    def change(name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if name == "gold":
            keys = ("doc_id", "criterion_id", "sent_uid")
            kept = [{k: str(row[k]) for k in keys} for row in rows if str(row["doc_id"]) not in chosen]
            return [*kept, *noise]
        if name == "rejected":
            return [row for row in rows if str(row["doc_id"]) not in chosen] or rows[:0]
        if name == "pairs" and "has_evidence" in rows[0]:
            return [_said(row, marked) if str(row["doc_id"]) in chosen else row for row in rows]
        return rows

    _copy(source, target, change)


def _said(row: dict[str, Any], marked: set[tuple[str, str]]) -> dict[str, Any]:
    value = int((str(row["doc_id"]), str(row["criterion_id"])) in marked)
    return {**row, "has_evidence": type(row["has_evidence"])(value) if row["has_evidence"] is not None else None}


def replace_text(source: Path, target: Path, documents: list[str]) -> None:
    """Other words in every sentence of these documents."""
    chosen = set(documents)
    generator = random.Random(SEED)  # noqa: S311 - reproducible noise, not a secret

    def change(name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if name == "documents":
            return [{k: v for k, v in row.items() if k != "text"} for row in rows]
        if name != "sentences":
            return rows
        out = []
        for row in rows:
            kept = {k: v for k, v in row.items() if k not in {"start", "end"}}
            if str(row["doc_id"]) in chosen:
                kept["text"] = " ".join(generator.choices(NONSENSE, k=8)).capitalize() + "."
            out.append(kept)
        return out

    _copy(source, target, change)
