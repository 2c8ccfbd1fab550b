"""Rankings, gold and rows that are not those that were predicted."""

from __future__ import annotations

import json
from itertools import pairwise

import polars as pl

from spoilt.run import LISTS, Row, Run, longest, mutation


@mutation("the first two of a ranking change places", "PV044", evaluated=True)
def off_by_one_rank(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next(r for r in rows if len(r["ranked_uids"]) >= 4)
        old, new = row["ranked_uids"][:2], row["ranked_uids"][1::-1]
        swap = dict(zip(old, new, strict=True))
        for name in LISTS:
            if name != "gold_uids":
                row[name] = [swap.get(uid, uid) for uid in row[name]]

    run.queries(change)


@mutation("the gold of one query moves to its best-ranked other sentence", "PV045", evaluated=True)
def moved_gold(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = longest(rows)
        row["gold_uids"] = [next(uid for uid in row["ranked_uids"] if uid not in row["gold_uids"])]

    run.queries(change)


@mutation("a missed gold sentence is forgotten", "PV045", evaluated=True)
def forgotten_gold(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next(r for r in rows if len(r["gold_uids"]) >= 2)
        row["gold_uids"] = row["gold_uids"][:1]

    run.queries(change)


@mutation("a negative query gets gold", "PV045", evaluated=True)
def invented_gold(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next(r for r in rows if not r["gold_uids"] and r.get("has_evidence") in {"0", None})
        row["gold_uids"] = row["ranked_uids"][:1]
        row["has_evidence"] = "1"

    run.queries(change)


@mutation("the gold column of candidates.parquet is moved by one sentence", "PV045")
def moved_candidate_gold(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        for row, following in pairwise(rows):
            same = all(row[k] == following[k] for k in ("fold", "doc_id", "criterion_id"))
            if row["gold"] and not following["gold"] and same:
                row["gold"], following["gold"] = following["gold"], row["gold"]
                return

    run.parquet("candidates.parquet", change)


@mutation("a query with a missed positive is deleted", "PV044", evaluated=True)
def deleted_row(run: Run) -> None:
    def change(rows: list[Row]) -> list[Row]:
        worst = next(r for r in rows if r["gold_uids"] and r["predicted"] == "0")
        return [r for r in rows if r is not worst]

    run.queries(change)


@mutation("a whole document is deleted", "PV041", evaluated=True)
def deleted_document(run: Run) -> None:
    run.queries(lambda rows: [r for r in rows if r["doc_id"] != rows[0]["doc_id"]])


@mutation("one query stands twice", "PV010")
def doubled_row(run: Run) -> None:
    run.queries(lambda rows: [*rows, dict(rows[-1])])


@mutation("n_candidates is one too many", "PV044", evaluated=True)
def wrong_candidate_count(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        rows[0]["n_candidates"] = str(int(rows[0]["n_candidates"]) + 1)

    run.queries(change)


@mutation("the pool is said to have held the gold it lost", "PV044", evaluated=True)
def widened_pool(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next((r for r in rows if set(r["gold_uids"]) - set(r["pool_uids"])), None)
        row = row or next(r for r in rows if len(r["pool_uids"]) < len(r["ranked_uids"]))
        row["pool_uids"] = row["ranked_uids"][: len(row["pool_uids"]) + 1]

    run.queries(change)


@mutation("sentences behind the pool are put out of the retriever's order", "PV044")
def shuffled_rest(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        for row, following in pairwise(rows):
            same = all(row[k] == following[k] for k in ("fold", "doc_id", "criterion_id"))
            if same and not row["in_pool"] and row["retriever_score"] > following["retriever_score"]:
                row["retriever_score"], following["retriever_score"] = (
                    following["retriever_score"],
                    row["retriever_score"],
                )
                return

    run.parquet("candidates.parquet", change)


@mutation("a sentence of another document is ranked", "PV044", "PV010", evaluated=True)
def foreign_sentence(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next(r for r in rows if len(r["ranked_uids"]) > len(r["pool_uids"]) and not r["gold_uids"])
        row["ranked_uids"] = [*row["ranked_uids"][:-1], "from-elsewhere"]

    run.queries(change)


@mutation("a query is taken out of every table", "PV006", evaluated=True)
def query_left_out_everywhere(run: Run) -> None:
    gone: list[tuple[str, str]] = []

    def change(rows: list[Row]) -> list[Row]:
        worst = next(r for r in rows if r["gold_uids"] and r["predicted"] == "0")
        gone.append((worst["doc_id"], worst["criterion_id"]))
        return [r for r in rows if r is not worst]

    run.queries(change)
    for name in ("candidates.parquet", "tune_queries.parquet"):
        run.parquet(name, lambda rows: [r for r in rows if (r["doc_id"], r["criterion_id"]) != gone[0]])


@mutation("a document is taken out of every table", "PV006", "PV043", evaluated=True)
def document_left_out_everywhere(run: Run) -> None:
    doc = pl.read_csv(run.folder / "per_query.csv", infer_schema=False)["doc_id"][0]
    run.queries(lambda rows: [r for r in rows if r["doc_id"] != doc])
    for name in ("candidates.parquet", "tune_queries.parquet", "folds.parquet"):
        run.parquet(name, lambda rows: [r for r in rows if r["doc_id"] != doc])


@mutation("a query of another number of candidates has its gold doubled in one table", "PV010", "PV045")
def doubled_gold(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = longest(rows)
        row["gold_uids"] = [*row["gold_uids"], row["gold_uids"][0]]

    run.queries(change)


@mutation("ranked_scores rise along a ranking", "PV044", evaluated=True)
def rising_scores(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = longest(rows)
        row["ranked_scores"] = json.dumps(sorted(json.loads(row["ranked_scores"])))

    run.queries(change)


@mutation("a probability is above 1", "PV010", "PV051")
def impossible_probability(run: Run) -> None:
    run.queries(lambda rows: rows[0].update(prob="1.25"))


@mutation("an unlocated pair is no positive any more", "PV006", "PV042", "PV047", "PV056", evaluated=True)
def forgotten_evidence(run: Run) -> None:
    def change(rows: list[Row]) -> None:
        row = next((r for r in rows if r["has_evidence"] == "1" and not r["gold_uids"]), None) or longest(rows)
        row["has_evidence"], row["gold_uids"] = "0", []

    run.queries(change)
