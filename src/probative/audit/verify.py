"""`verify`: read everything, recompute everything, and say what does not hold."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from probative.audit import (
    ablation,
    candidates,
    configured,
    expected,
    intervals,
    invariants,
    orders,
    origin,
    pages,
    printed,
    ranking,
    records,
    roles,
    rows,
    seals,
    series,
    splitting,
    states,
    targets,
    thresholds,
)
from probative.audit.check import Check, absent, guarded
from probative.audit.corpus import Annotated, read_corpus, read_rows
from probative.audit.frame import Frame, prior_frame, stage_frame
from probative.audit.queries import Query, Table, read_table
from probative.audit.recompute import Recomputation
from probative.audit.source import Source, opened

STAGES = ("retrieve", "rerank", "graph")
CRITERIA_LIMIT = 200
"""Above so many criteria an evaluation gives no records of single ones, unless its configuration says otherwise."""
NO_MASTER = "there is no metrics_master.json beside the table"


@dataclass(frozen=True)
class Case:
    """Everything that is checked, read when a check asks for it."""

    source: Source
    corpus_path: Path | None = None

    @cached_property
    def table(self) -> Table:
        assert self.source.per_query is not None  # noqa: S101 - opened() has made sure
        return read_table(self.source.per_query)

    @cached_property
    def excluded(self) -> frozenset[str]:
        stated = (self.source.manifest or {}).get("corpus", {}).get("exclude_from_training")
        if stated is None:
            stated = (self.source.master or {}).get("meta", {}).get("excluded", ())
        return frozenset(stated)

    @cached_property
    def stage_tables(self) -> dict[str, Table]:
        paths = {stage: self.source.path(f"stages/{stage}.parquet") for stage in STAGES}
        return {stage: read_table(path) for stage, path in paths.items() if self.source.has(f"stages/{stage}.parquet")}

    @cached_property
    def frames(self) -> dict[str, Frame]:
        as_trec = self.meta.get("ties") == "trec"
        queries = _in_trec_order(self.table.queries) if as_trec else self.table.queries
        found = {"final": Frame("final", queries, self.excluded)}
        if "prior" in self.table.columns:
            found["prior"] = prior_frame(self.table.queries, self.excluded)
        for stage, table in self.stage_tables.items():
            queries = _in_trec_order(table.queries) if as_trec else table.queries
            found[stage] = stage_frame(stage, queries, self.table, self.excluded)
        return found

    @cached_property
    def stated(self) -> list[dict[str, Any]]:
        """The records to be checked. A ranking averaged over the orders of ties is not worked out a second time."""
        found = list((self.source.master or {}).get("metrics", []))
        if not self.ranked:
            found = [r for r in found if ranking.measure(str(r.get("id"))) is None]
        return found

    @cached_property
    def answers(self) -> Recomputation:
        return Recomputation(self.frames)

    @cached_property
    def meta(self) -> dict[str, Any]:
        return dict((self.source.master or {}).get("meta", {}))

    @property
    def ranked(self) -> bool:
        """Whether rankings stand in one order, rather than in the mean of all orders of equal scores."""
        return self.meta.get("ties") != "expected"

    @property
    def single(self) -> bool:
        """Whether there are records of single criteria: an evaluation leaves them out where they are too many."""
        limit = (self.config.get("evaluate") or {}).get("criteria_limit", CRITERIA_LIMIT)
        return len(self.frames["final"].criteria("all")) <= int(limit)

    @cached_property
    def compared(self) -> list[records.Comparison]:
        return records.compare(self.stated, self.answers)

    @cached_property
    def folds(self) -> roles.Folds | None:
        return roles.Folds.read(self.source) if self.source.has("folds.parquet") else None

    @cached_property
    def choices(self) -> list[dict[str, Any]]:
        return list((self.source.manifest or {}).get("folds", []))

    @property
    def config(self) -> dict[str, Any]:
        return dict((self.source.manifest or {}).get("config") or {})

    @cached_property
    def tuned(self) -> list[roles.Tuned] | None:
        there = self.source.has("tune_queries.parquet") and self.source.manifest is not None
        return roles.tuned(self.source, self.excluded) if there else None

    @cached_property
    def pools(self) -> dict[tuple[str, str, str], candidates.Candidates] | None:
        return candidates.read(self.source) if self.source.has("candidates.parquet") else None

    @cached_property
    def corpus(self) -> tuple[Annotated | None, str]:
        path = self.corpus_path or self._named_corpus()
        if path is None or not path.is_dir():
            return None, "no corpus was given; --corpus PATH compares with it"
        found = read_corpus(path)
        return found, "" if found else f"{path} is not a corpus folder whose gold names sentences"

    @cached_property
    def groups(self) -> dict[str, str] | None:
        """Document → the group that keeps it on one side, where the corpus is at hand."""
        column = (self.config.get("folds") or {}).get("group_by")
        path = self.corpus_path or self._named_corpus()
        if column is None or path is None or not path.is_dir():
            return None
        rows = read_rows(path, "documents") or []
        return {str(row["doc_id"]): str(row[column]) for row in rows if row.get(column) not in (None, "")}

    def _named_corpus(self) -> Path | None:
        config = (self.source.manifest or {}).get("config") or {}
        named = config.get("corpus")
        named = named.get("path") if isinstance(named, dict) else named
        return Path(named) if isinstance(named, str) else None

    @cached_property
    def labels(self) -> dict[tuple[str, str], bool]:
        annotated = self.corpus[0]
        return annotated.labels() if annotated else {q.key: q.positive for q in self.table.queries}


Make = Callable[[], Check]


def _plan(case: Case) -> Iterable[tuple[str, str, Make]]:
    """Every check in order, as (code, title, how)."""
    source = case.source
    yield "PV001", "checksums.txt agrees with the files", lambda: seals.checksums(source)
    yield "PV002", "manifest.json agrees with the files", lambda: seals.manifest(source)
    yield "PV003", "The run folder is complete", lambda: seals.complete(source)
    yield "PV004", "config.yaml is the configuration of the manifest", lambda: seals.config(source)
    yield (
        "PV005",
        "metrics_master.json says how its numbers were made",
        lambda: origin.head(source, case.table, case.excluded),
    )
    yield "PV006", "The manifest's facts are those of the tables", lambda: origin.facts(source, case.table, case.folds)
    yield "PV010", "Each row of the per_query table holds together", lambda: rows.shape(case.table)
    yield "PV011", "predicted and state follow from the probability", lambda: rows.decisions(case.table)
    yield "PV012", "What is shown follows from the decision", lambda: rows.selections(case.table)
    yield "PV013", "Per-query metric columns are recomputed", lambda: rows.columns(case.table)
    yield "PV014", "per_query says the same in every format", lambda: rows.formats(source, case.table)
    yield from _record_checks(case)
    yield from _split_checks(case)
    yield from _decision_checks(case)


def _record_checks(case: Case) -> Iterable[tuple[str, str, Make]]:
    makes: list[tuple[str, str, Make]] = [
        ("PV020", "Every record is recomputed", lambda: records.values(case.compared)),
        ("PV021", "n, n_docs and spreads are recomputed", lambda: records.counts(case.compared)),
        (
            "PV022",
            intervals.TITLE,
            lambda: intervals.intervals(case.compared, case.frames, case.answers, case.source.master or {}),
        ),
        (
            "PV023",
            series.TITLE,
            lambda: series.series(
                (case.source.master or {}).get("series", []),
                case.frames,
                case.answers,
                ranked=case.ranked,
                single=case.single,
            ),
        ),
        ("PV024", "No record stands twice", lambda: records.unique(case.stated)),
        (
            "PV025",
            "No record is missing",
            lambda: expected.missing(
                [c.key for c in case.compared], case.frames, ranked=case.ranked, single=case.single
            ),
        ),
        ("PV030", "Every number is inside its range", lambda: invariants.ranges(case.stated)),
        ("PV031", "Confusion counts add up and give their ratios", lambda: invariants.confusion(case.stated)),
        ("PV032", "Ranking metrics keep their order in K", lambda: invariants.order(case.stated)),
        ("PV033", "Counts of folds and criteria add up to the whole", lambda: invariants.totals(case.stated)),
        ("PV034", "The pitfalls of the documents are avoided", lambda: invariants.labelled(case.stated)),
        (
            "PV035",
            "Headlines, marks and methods are those of the contract",
            lambda: origin.marks(case.stated, case.source.master or {}, case.table.queries, case.excluded),
        ),
    ]
    for code, title, make in makes:
        yield code, title, make if case.source.master is not None else _without(code, title)
    yield "PV070", "Targets and reference ranges", lambda: targets.targets(case.stated)


def _without(code: str, title: str) -> Make:
    return lambda: absent(code, title, NO_MASTER)


def _split_checks(case: Case) -> Iterable[tuple[str, str, Make]]:
    schemes = {str(fold["fold"]): str(fold.get("scheme")) for fold in case.choices}
    yield "PV040", "Folds and roles are disjoint and complete", lambda: roles.disjoint(case.source, case.folds)
    yield (
        "PV041",
        "Each document is predicted in the fold that holds it out",
        lambda: roles.predicted(case.table, case.folds),
    )
    yield (
        "PV042",
        "Thresholds were chosen on TUNE alone",
        lambda: roles.tune_side(case.table, case.folds, case.tuned, schemes, case.excluded),
    )
    yield "PV043", splitting.TITLE, lambda: splitting.redrawn(case.source.manifest, case.folds, case.groups)
    yield "PV044", "Rankings are the candidates in their order", lambda: candidates.ranking(case.table, case.pools)
    yield "PV045", "Gold is the gold of the candidates", lambda: candidates.gold(case.table, case.pools)
    yield "PV047", "Earlier stages answer the same queries", lambda: candidates.stages(case.table, case.stage_tables)
    yield "PV048", orders.TITLE, lambda: orders.stages(case.table, case.stage_tables, case.pools, case.config)
    every = case.folds is not None and case.folds.is_cross_validation
    yield (
        "PV046",
        "The table covers the corpus, with the corpus's gold",
        lambda: candidates.corpus(case.table, *case.corpus, every_document=every),
    )


def _decision_checks(case: Case) -> Iterable[tuple[str, str, Make]]:
    yield (
        "PV050",
        "The calibrator is the best one that TUNE gives",
        lambda: thresholds.calibrator(case.choices, case.tuned),
    )
    yield (
        "PV051",
        "Every probability is its calibrated raw score",
        lambda: thresholds.applied(case.choices, case.tuned, case.table),
    )
    yield (
        "PV052",
        "Operating thresholds are those that TUNE gives",
        lambda: thresholds.thresholds(case.choices, case.tuned),
    )
    yield "PV053", "The rows carry the thresholds of their fold", lambda: thresholds.carried(case.choices, case.table)
    yield "PV054", "The thresholds of triage are those that TUNE gives", lambda: states.triage(case.choices, case.tuned)
    yield (
        "PV055",
        "As many sentences are shown as the policy says",
        lambda: states.policies(case.choices, case.table, case.pools),
    )
    yield (
        "PV056",
        "The prior is each criterion's rate on TRAIN",
        lambda: thresholds.priors(case.table, case.folds, case.excluded, case.labels),
    )
    yield "PV057", configured.ASKED, lambda: configured.asked(case.choices, case.config)
    yield "PV058", configured.REACHED, lambda: configured.reached(case.choices, case.tuned)
    yield "PV064", "The pages beside the run say what the manifest says", lambda: pages.pages(case.source)
    yield "PV065", "audit.json is an audit of these records", lambda: pages.quoted(case.source)
    yield (
        "PV080",
        ablation.TITLE,
        lambda: ablation.ablation(
            case.source.ablation, case.source.master, (case.source.manifest or {}).get("config_hash")
        ),
    )


def _in_trec_order(queries: list[Query]) -> list[Query]:
    """Equal scores by falling identifier, as trec_eval has them."""
    out = []
    for q in queries:
        if q.scores is None:
            out.append(q)
            continue
        pairs = sorted(zip(q.ranked, q.scores, strict=True), key=lambda pair: pair[0], reverse=True)
        pairs.sort(key=lambda pair: -pair[1])
        out.append(replace(q, ranked=[uid for uid, _ in pairs], scores=[score for _, score in pairs]))
    return out


def checks(case: Case, only: Collection[str] | None = None) -> list[Check]:
    """Every check, or those with the given codes, in the order of the codes."""
    found = [guarded(code, title, make) for code, title, make in _plan(case) if only is None or code in only]
    if only is None or any(code in printed.CODES for code in only):
        found += printed.all_printed(case.source)
    return sorted(found, key=lambda check: check.code)


def audit(path: str | Path, corpus: str | Path | None = None) -> dict[str, Any]:
    """Check a run folder, a zip of one or a per_query file; nothing is written anywhere.

    The result holds `status` ("passed" or "failed"), how many records were recomputed, and every check.
    """
    started = time.perf_counter()
    with opened(Path(path)) as source:
        case = Case(source, None if corpus is None else Path(corpus))
        found = checks(case)
        recomputed = sum(c.answer is not None for c in case.compared) if source.master is not None else 0
        n_series = len((source.master or {}).get("series", []))
    failed = [check.code for check in found if check.failed]
    counted = f"{recomputed:,} records and {n_series} series recomputed from {len(case.table.queries):,} queries"
    verdict = f"{len(failed)} checks failed" if failed else "nothing contradicts them"
    return {
        "schema_version": 1,
        "status": "failed" if failed else "passed",
        "records": recomputed,
        "series": n_series,
        "queries": len(case.table.queries),
        "failed": failed,
        "summary": f"{counted}; {verdict}.",
        "checks": [check.as_dict() for check in found],
        "seconds": round(time.perf_counter() - started, 3),
    }
