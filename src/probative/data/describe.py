"""What a corpus holds, as one dictionary and as text."""

from __future__ import annotations

from typing import Any

import polars as pl

from probative.data.corpus import Corpus

PAIR = ["doc_id", "criterion_id"]


def describe(corpus: Corpus) -> dict[str, Any]:
    """Counts, prevalence and lengths; every count of what is not scored stands beside them."""
    queries = corpus.pairs.height
    positive = int(corpus.pairs["has_evidence"].sum())
    lengths = corpus.sentences.group_by("doc_id").len()["len"]
    criteria = _criteria(corpus)
    return {
        "name": corpus.meta.name,
        "version": corpus.meta.version,
        "licence": corpus.meta.licence,
        "language": corpus.meta.language,
        "source": corpus.meta.source,
        "synthetic": corpus.meta.synthetic,
        "exclude_from_training": list(corpus.meta.exclude_from_training),
        "fingerprint": corpus.fingerprint,
        "documents": corpus.documents.height,
        "sentences": corpus.sentences.height,
        "criteria": corpus.criteria.height,
        "queries": queries,
        "positive": positive,
        "positive_rate": positive / queries if queries else 0.0,
        "unlocated": sum(row["unlocated"] for row in criteria),
        "unlabelled": corpus.documents.height * corpus.criteria.height - queries,
        "gold": corpus.gold.height,
        "rejected": corpus.rejected.height,
        "candidates": int(corpus.pairs.join(_lengths(corpus), on="doc_id")["len"].sum()),
        "sentences_per_document": {
            "min": _whole(lengths.min()),
            "median": lengths.median(),
            "mean": lengths.mean(),
            "max": _whole(lengths.max()),
        },
        "grouping_columns": [name for name in corpus.documents.columns if name != "doc_id"],
        "by_criterion": criteria,
    }


def _whole(value: Any) -> int:
    return int(value)


def _lengths(corpus: Corpus) -> pl.DataFrame:
    return corpus.sentences.group_by("doc_id").len()


def _criteria(corpus: Corpus) -> list[dict[str, Any]]:
    located = corpus.gold.group_by(PAIR).len("gold")
    pairs = corpus.pairs.join(located, on=PAIR, how="left")
    counts = pairs.group_by("criterion_id").agg(
        queries=pl.len(),
        positive=pl.col("has_evidence").cast(pl.Int64).sum(),
        unlocated=((pl.col("has_evidence") == 1) & pl.col("gold").is_null()).sum(),
        gold=pl.col("gold").sum(),
    )
    rejected = corpus.rejected.group_by("criterion_id").len("rejected")
    whole = (
        corpus.criteria.select("criterion_id", "name")
        .join(counts, on="criterion_id", how="left", maintain_order="left")
        .join(rejected, on="criterion_id", how="left", maintain_order="left")
        .with_columns(pl.exclude("criterion_id", "name").fill_null(0).cast(pl.Int64))
    )
    rate = pl.when(pl.col("queries") > 0).then(pl.col("positive") / pl.col("queries")).otherwise(0.0)
    return whole.with_columns(positive_rate=rate).to_dicts()


def lines(facts: dict[str, Any]) -> list[str]:
    """The facts for a reader, one statement a line; the criteria stand below as a table."""
    title = " ".join(part for part in (facts["name"], facts["version"]) if part)
    size = facts["sentences_per_document"]
    told = [
        title + (" (synthetic: generated, not real data)" if facts["synthetic"] else ""),
        *(f"{name}: {facts[name]}" for name in ("licence", "source") if facts[name]),
        f"language {facts['language']}, fingerprint {facts['fingerprint'][:16]}",
        f"{facts['documents']:,} documents, {facts['criteria']:,} criteria, {facts['queries']:,} queries, "
        f"{facts['positive_rate']:.1%} positive ({facts['positive']:,})".replace("%", " %"),
        f"{facts['sentences']:,} sentences, {size['min']} to {size['max']} a document "
        f"(median {size['median']:g}, mean {size['mean']:.1f}); {facts['candidates']:,} candidates",
        f"{facts['gold']:,} gold rows, {facts['rejected']:,} rejected; {facts['unlocated']:,} queries unlocated, "
        f"{facts['unlabelled']:,} pairs unlabelled",
    ]
    if facts["grouping_columns"]:
        told.append(f"grouping columns: {', '.join(facts['grouping_columns'])}")
    if facts["exclude_from_training"]:
        told.append(f"excluded from training: {', '.join(facts['exclude_from_training'])}")
    return told


def by_criterion(facts: dict[str, Any]) -> list[str]:
    """The table of criteria, aligned."""
    head = ["criterion", "queries", "positive", "rate", "unlocated", "gold", "rejected", "name"]
    rows = [
        [
            row["criterion_id"],
            *(f"{row[name]:,}" for name in ("queries", "positive")),
            f"{row['positive_rate']:.1%}".replace("%", " %"),
            *(f"{row[name]:,}" for name in ("unlocated", "gold", "rejected")),
            row["name"],
        ]
        for row in facts["by_criterion"]
    ]
    widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head))]
    last = len(head) - 1
    return [
        "  ".join(
            cell.ljust(width) if place in (0, last) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [head, *rows]
    ]
