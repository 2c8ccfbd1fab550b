"""Ranking: both protocols by K, every stage beside the first one."""

from __future__ import annotations

from probative.report import parts
from probative.report.folder import RunFolder
from probative.report.plots import curves

KS = ("1", "3", "5", "10", "20")
FAMILIES = ("recall", "precision", "hit", "map", "ndcg", "mrr")
READINGS = ("map", "map_found", "map_gold", "precision", "precision_keff", "recall", "recall_inpool", "mrr")
BY_STAGE = ("ndcg@3", "ndcg@5", "ndcg@10", "mrr", "map@10", "recall@5", "recall@10", "recall@20", "hit@1")


def section(run: RunFolder) -> parts.Part:
    """Which sentences come first."""
    if run.value("ndcg@10", population="positives_only") is None:
        why = "no query with a marked gold sentence was ranked."
        return parts.section("ranking", "Ranking", "", parts.missing("Ranking metrics", why))
    return parts.section(
        "ranking",
        "Ranking",
        "Are the evidence sentences at the top? The headline counts queries that have evidence; the second table "
        "counts all queries, where an empty gold scores 0, so its values are lower by construction.",
        _by_k(run, "positives_only"),
        parts.folded("The same over all queries (an empty gold scores 0)", _by_k(run, "all_queries")),
        parts.figures(_recall(run)),
        _stages(run),
        parts.folded("Other readings of the same names at K = 10", _readings(run)),
    )


def _by_k(run: RunFolder, population: str) -> parts.Part:
    rows = []
    for family in FAMILIES:
        found = [run.record(f"{family}@{k}", population=population) for k in KS]
        if any(record is not None for record in found):
            rows.append([parts.metric(f"{family}@K"), *(parts.measured(record) for record in found)])
    whole = run.record("mrr", population=population)
    after = f" mrr over the whole ranking: {parts.measured(whole)['text']}." if whole else ""
    n = parts.basis(run.record("ndcg@10", population=population))
    head = ["metric", *(f"K = {k}" for k in KS)]
    title = f"Ranking by K, population {population}, with 95 % intervals"
    return parts.table(f"ranking_{population}", title, head, rows, f"{n}{after}")


def _recall(run: RunFolder) -> parts.Part | None:
    found = {stage: rows for stage in run.stages if (rows := run.rows("recall_by_k", stage=stage))}
    if not found:
        return None
    final = found.get("final") or next(iter(found.values()))
    data = [(stage, *row.values()) for stage, rows in found.items() for row in rows]
    return parts.figure(
        curves.recall_by_k(found),
        "Recall by K",
        f"Recall at every K up to {final[-1]['k']} for {', '.join(found)}, below the oracle line.",
        ["stage", *final[0]],
        data,
        "Band: 95 %. The oracle ranks every gold sentence first; below one it lacks room, not knowledge. "
        + parts.basis(run.record("recall@10", population="positives_only")),
    )


def _stages(run: RunFolder) -> parts.Part | None:
    if len(run.stages) < 2:
        return None
    rows = [
        [
            parts.metric(name),
            *(parts.measured(run.record(name, population="positives_only", stage=s)) for s in run.stages),
        ]
        for name in BY_STAGE
    ]
    first = run.stages[0]
    return parts.table(
        "ranking_stages",
        f"Each stage beside the baseline ({first}), population positives_only",
        ["metric", *run.stages],
        rows,
        "With 95 % intervals. Each stage ranks the same candidates. Whether a difference is more than chance stands in "
        f"Stages. {parts.basis(run.record('ndcg@10', population='positives_only'))}",
    )


def _readings(run: RunFolder) -> parts.Part:
    rows = []
    for family in READINGS:
        name = f"{family}@10"
        record = run.record(name, population="positives_only")
        if record is not None:
            rows.append([parts.metric(name), parts.measured(record), ", ".join(record.get("source") or ())])
    coverage = run.record("pool_coverage", population="positives_only")
    if coverage is not None:
        rows.append([parts.metric("pool_coverage"), parts.measured(coverage), ", ".join(coverage.get("source") or ())])
    return parts.table("readings", "Readings that differ between documents", ["metric", "value", "defined so by"], rows)
