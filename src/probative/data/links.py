"""What is wrong between tables: ids that are not there, and statements that contradict each other."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from probative.data.nearest import Nearest
from probative.data.problems import Problem, Teller
from probative.data.source import ROW

PAIR = ["doc_id", "criterion_id"]


def check(
    typed: Mapping[str, pl.DataFrame],
    marks: Mapping[str, pl.DataFrame],
    sentences: pl.DataFrame,
    files: Mapping[str, str],
) -> list[Problem]:
    """Every problem that two tables have with each other; `marks` are gold and rejected as uids."""
    problems: list[Problem] = []
    told = {name: Teller(name, file) for name, file in files.items()}
    known = typed.get("documents", sentences)
    problems += _documents(typed, known, told)
    problems += _criteria(typed, told)
    for name, frame in marks.items():
        problems += _sentences(frame, sentences, told[name])
    if "gold" in marks and "rejected" in marks:
        problems += _both(marks["gold"], marks["rejected"], told["rejected"], files["gold"])
    if "pairs" in typed:
        for name, frame in marks.items():
            known_marks = frame.join(known, on="doc_id", how="semi", maintain_order="left")
            if "criteria" in typed:
                known_marks = known_marks.join(typed["criteria"], on="criterion_id", how="semi", maintain_order="left")
            problems += _unlabelled(known_marks, typed["pairs"], told[name], files["pairs"])
        if "gold" in marks:
            problems += _contradictions(typed["pairs"], marks["gold"], told["pairs"], files["gold"])
    return problems


def _strangers(frame: pl.DataFrame, known: pl.DataFrame, key: str) -> list[tuple[int, str]]:
    """(row, id) of rows whose id is not known; an empty table is told once, not once a row."""
    if not known.height:
        return []
    other = known.select(key).unique()
    return frame.drop_nulls([key]).join(other, on=key, how="anti", maintain_order="left").select(ROW, key).rows()


def _documents(typed: Mapping[str, pl.DataFrame], known: pl.DataFrame, told: Mapping[str, Teller]) -> list[Problem]:
    nearest = Nearest(known["doc_id"].drop_nulls().unique())
    where = "documents" if "documents" in typed else "sentences"
    problems = []
    for name in ("sentences", "gold", "rejected", "pairs"):
        if name == where or name not in typed:
            continue
        for row, doc_id in _strangers(typed[name], known, "doc_id"):
            what = f"document {doc_id!r} is not in {told[where].file}.{nearest.hint(doc_id)}"
            problems.append(told[name](row, "unknown-document", what, "Correct the id, or add the document."))
    if "documents" in typed and "sentences" in typed:
        for row, doc_id in _strangers(typed["documents"], typed["sentences"], "doc_id"):
            what = f"document {doc_id!r} has no sentences in {told['sentences'].file}."
            problems.append(
                told["documents"](row, "no-sentences", what, "Add its sentences, or take the document out.")
            )
    return problems


def _criteria(typed: Mapping[str, pl.DataFrame], told: Mapping[str, Teller]) -> list[Problem]:
    if "criteria" not in typed:
        return []
    nearest = Nearest(typed["criteria"]["criterion_id"].drop_nulls())
    problems = []
    for name in (name for name in ("gold", "rejected", "pairs") if name in typed):
        for row, criterion_id in _strangers(typed[name], typed["criteria"], "criterion_id"):
            what = f"criterion {criterion_id!r} is not in {told['criteria'].file}.{nearest.hint(criterion_id)}"
            problems.append(told[name](row, "unknown-criterion", what, "Correct the id, or add the criterion."))
    return problems


def _sentences(marks: pl.DataFrame, sentences: pl.DataFrame, teller: Teller) -> list[Problem]:
    homes = sentences.select("sent_uid", pl.col("doc_id").alias("home")).unique("sent_uid", keep="first")
    placed = marks.join(homes, on="sent_uid", how="left", maintain_order="left")
    wrong = placed.filter(pl.col("home").ne_missing(pl.col("doc_id")) & pl.col("doc_id").is_not_null())
    wrong = wrong.join(sentences, on="doc_id", how="semi", maintain_order="left")
    own = sentences.join(wrong, on="doc_id", how="semi").group_by("doc_id").agg("sent_uid")
    nearest = {doc_id: Nearest(uid for uid in uids if uid is not None) for doc_id, uids in own.rows()}
    problems = []
    for row, doc_id, uid, home in wrong.select(ROW, "doc_id", "sent_uid", "home").rows():
        hint = nearest[doc_id].hint(uid)
        if home is None:
            what = f"sentence {uid!r} is not in the corpus.{hint}"
            problems.append(teller(row, "unknown-sentence", what, "Correct the sent_uid, or add the sentence."))
        else:
            what = f"sentence {uid!r} belongs to document {home!r}, not to {doc_id!r}.{hint}"
            problems.append(teller(row, "other-document", what, "Correct doc_id or sent_uid."))
    return problems


def _both(gold: pl.DataFrame, rejected: pl.DataFrame, teller: Teller, gold_file: str) -> list[Problem]:
    keys = [*PAIR, "sent_uid"]
    both = rejected.join(gold.select(*keys, pl.col(ROW).alias("there")), on=keys, how="inner", maintain_order="left")
    return [
        teller(
            row,
            "gold-and-rejected",
            f"sentence {uid!r} is rejected here and gold in {gold_file}, row {there}.",
            "Keep one of the two.",
        )
        for row, uid, there in both.unique(ROW, keep="first", maintain_order=True)
        .select(ROW, "sent_uid", "there")
        .rows()
    ]


def _unlabelled(marks: pl.DataFrame, pairs: pl.DataFrame, teller: Teller, pairs_file: str) -> list[Problem]:
    lone = (
        marks.drop_nulls(PAIR)
        .join(pairs, on=PAIR, how="anti", maintain_order="left")
        .unique(ROW, keep="first", maintain_order=True)
    )
    return [
        teller(
            row,
            "unlabelled-pair",
            f"document {doc_id!r} and criterion {criterion_id!r} are not in {pairs_file}, so the pair is unlabelled.",
            f"Add the pair to {pairs_file}, or take this row out.",
        )
        for row, doc_id, criterion_id in lone.select(ROW, *PAIR).rows()
    ]


def _contradictions(pairs: pl.DataFrame, gold: pl.DataFrame, teller: Teller, gold_file: str) -> list[Problem]:
    if "has_evidence" not in pairs.columns:
        return []
    first = gold.select(*PAIR, pl.col(ROW).alias("there")).unique(PAIR, keep="first", maintain_order=True)
    against = pairs.filter(pl.col("has_evidence") == 0).join(first, on=PAIR, how="inner", maintain_order="left")
    return [
        teller(
            row,
            "contradiction",
            f"has_evidence is 0, but {gold_file}, row {there} names evidence.",
            "Set it to 1, or take the gold out.",
        )
        for row, there in against.select(ROW, "there").rows()
    ]
