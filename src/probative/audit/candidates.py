"""PV044 to PV047: rankings and gold against the candidates and the corpus they came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from probative.audit.check import Check, absent, judged
from probative.audit.corpus import Annotated
from probative.audit.queries import Query, Table, parquet
from probative.audit.source import Source

FIX = "The table and what it was made from disagree. Restore the run, or run it again."
KEYS = ("fold", "doc_id", "criterion_id")
SCORES = ("retriever_score", "reranker_score", "graph_score", "node_prob")
COLUMNS = (*KEYS, "sent_uid", *SCORES, "rank", "in_pool", "gold")


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of one query in the order of their rank."""

    uids: list[str]
    ranks: list[int]
    in_pool: list[bool]
    gold: list[bool]
    retriever: list[float | None]
    reranker: list[float | None]
    graph: list[float | None]
    node: list[float | None]

    def of(self, stage: str) -> list[float | None]:
        """The scores that a stage gave."""
        return {"retrieve": self.retriever, "rerank": self.reranker, "graph": self.graph}[stage]


def read(source: Source) -> dict[tuple[str, str, str], Candidates]:
    """candidates.parquet by fold, document and criterion."""
    import polars as pl

    frame = parquet(source.path("candidates.parquet"), list(COLUMNS))
    lists = frame.sort([*KEYS, "rank"]).group_by(KEYS, maintain_order=True).agg(pl.all())
    out = {}
    for fold, doc, criterion, uids, *scores, ranks, pool, gold in lists.iter_rows():
        out[str(fold), str(doc), str(criterion)] = Candidates(uids, ranks, pool, gold, *scores)
    return out


def ranking(table: Table, found: Mapping[tuple[str, str, str], Candidates] | None) -> Check:
    """PV044."""
    title = "Rankings are the candidates in their order"
    if found is None:
        return absent("PV044", title, "there is no candidates.parquet")
    good = f"{len(table.queries):,} rankings, pools and candidate counts are those of candidates.parquet"
    return judged("PV044", title, _rankings(table, found), good=good, fix=FIX)


def _rankings(table: Table, found: Mapping[tuple[str, str, str], Candidates]) -> Iterator[str]:
    for q in table.queries:
        its = found.get((q.fold or "", q.doc_id, q.criterion_id))
        where = f"{table.path.name}, {q.where}"
        if its is None:
            yield f"{where}: has no rows in candidates.parquet"
            continue
        if its.ranks != list(range(1, len(its.uids) + 1)):
            yield f"candidates.parquet, {q.where}: the ranks are not 1 to {len(its.uids)}"
        if its.uids != q.ranked:
            place = next((i for i, (a, b) in enumerate(zip(its.uids, q.ranked, strict=False)) if a != b), 0)
            yield f"{where}: ranked_uids leaves the order of candidates.parquet at place {place + 1}"
        if q.n != len(its.uids):
            yield f"{where}: n_candidates is {q.n}, but there are {len(its.uids)} candidates"
        yield from (f"{where}: {problem}" for problem in _pool(q, its))
    known = {(q.fold or "", q.doc_id, q.criterion_id) for q in table.queries}
    for fold, doc, criterion in found.keys() - known:
        yield f"candidates.parquet: document {doc!r}, criterion {criterion!r}, fold {fold} is not in {table.path.name}"


def _pool(q: Query, its: Candidates) -> Iterator[str]:
    size = sum(its.in_pool)
    if not all(its.in_pool[:size]):
        yield "a sentence outside the pool stands before one inside it"
    if q.pool is not None and set(q.pool) != {uid for uid, inside in zip(its.uids, its.in_pool, strict=True) if inside}:
        yield "pool_uids is not the pool of candidates.parquet"
    rest = [score for score in its.retriever[size:] if score is not None]
    if any(after > before for before, after in pairwise(rest)):
        yield "the sentences behind the pool are not in the retriever's order"
    if q.scores is not None and any(b > a for a, b in pairwise(q.scores)):
        yield "ranked_scores rises along the ranking"


def gold(table: Table, found: Mapping[tuple[str, str, str], Candidates] | None) -> Check:
    """PV045."""
    title = "Gold is the gold of the candidates"
    if found is None:
        return absent("PV045", title, "there is no candidates.parquet")
    return judged(
        "PV045",
        title,
        _gold(table, found),
        good="gold_uids and the gold of candidates.parquet agree in every row",
        fix=FIX,
    )


def _gold(table: Table, found: Mapping[tuple[str, str, str], Candidates]) -> Iterator[str]:
    for q in table.queries:
        its = found.get((q.fold or "", q.doc_id, q.criterion_id))
        if its is None:
            continue
        marked = {uid for uid, is_gold in zip(its.uids, its.gold, strict=True) if is_gold}
        if marked != set(q.gold):
            one = min(marked ^ set(q.gold))
            yield f"{table.path.name}, {q.where}: sentence {one!r} is gold here or in candidates.parquet, not in both"


def stages(table: Table, found: Mapping[str, Table]) -> Check:
    """PV047."""
    title = "Earlier stages answer the same queries"
    if not found:
        return absent("PV047", title, "there are no tables of earlier stages")
    findings = [line for stage, other in found.items() for line in _stage(table, stage, other)]
    good = f"{', '.join(found)}: the same queries, candidates and gold as the final table"
    return judged("PV047", title, findings, good=good, fix=FIX)


def _stage(table: Table, stage: str, other: Table) -> Iterator[str]:
    where = f"stages/{stage}.parquet"
    for q in other.queries:
        known = table.by_key.get(q.key)
        if known is None:
            yield f"{where}, {q.where}: is not in {table.path.name}"
        elif q.fold != known.fold:
            yield f"{where}, {q.where}: is in fold {q.fold}, in {table.path.name} in {known.fold}"
        elif set(q.gold) != set(known.gold) or q.positive != known.positive:
            yield f"{where}, {q.where}: its gold is not that of {table.path.name}"
        elif set(q.ranked) != set(known.ranked) or len(q.ranked) != len(known.ranked):
            yield f"{where}, {q.where}: ranks other candidates than {table.path.name}"
    for key in table.by_key.keys() - other.by_key.keys():
        yield f"{where}: document {key[0]!r}, criterion {key[1]!r} has no row"


def corpus(table: Table, annotated: Annotated | None, why: str, *, every_document: bool) -> Check:
    """PV046."""
    title = "The table covers the corpus, with the corpus's gold"
    if annotated is None:
        return absent("PV046", title, why)
    findings = _corpus(table, annotated, every_document=every_document)
    return judged(
        "PV046", title, findings, good="documents, candidates, labels and gold are those of the corpus", fix=FIX
    )


def _corpus(table: Table, annotated: Annotated, *, every_document: bool) -> Iterator[str]:
    labels = annotated.labels()
    for q in table.queries:
        where = f"{table.path.name}, {q.where}"
        sentences = annotated.sentences.get(q.doc_id)
        if sentences is None:
            yield f"{where}: the document is not in the corpus"
            continue
        if set(q.ranked) - set(sentences) or q.n != len(sentences):
            yield f"{where}: its candidates are not the sentences of the document"
        if q.key not in labels:
            yield f"{where}: the corpus has no label for this pair"
            continue
        if annotated.gold is not None and annotated.gold.get(q.key, set()) != set(q.gold):
            one = min(annotated.gold.get(q.key, set()) ^ set(q.gold))
            yield f"{where}: sentence {one!r} is gold here or in the corpus, not in both"
        elif labels[q.key] != q.positive:
            yield f"{where}: the pair {'has' if q.positive else 'has no'} evidence here, not so in the corpus"
    if every_document:
        rows = {q.key for q in table.queries}
        for doc, criterion in sorted(labels.keys() - rows):
            yield f"{table.path.name}: document {doc!r}, criterion {criterion!r} of the corpus has no row"
