"""Errors: confident misses, false alarms and needless UNCERTAIN, each in its document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from probative.report import parts, words
from probative.report.folder import RunFolder
from probative.report.texts import Texts

if TYPE_CHECKING:
    import polars as pl

SHOWN = 12
AROUND = 1
HEAD = (
    *("document", "criterion", "p", "state", "threshold", "rank of first gold", "gold shown", "sentences shown"),
    "candidates",
)


def section(run: RunFolder, texts: Texts | None) -> parts.Part:
    """What goes wrong, one query at a time."""
    title = "Errors"
    intro = f"The worst queries of each kind, at most {SHOWN}, most confident first. p is the probability of evidence."
    table = run.queries
    if table is None or "prob" not in table.columns:
        why = "there is no per_query.csv with prob in this folder."
        return parts.section("errors", title, intro, parts.missing("Single queries", why))
    marked = _marked(table)
    counted = {row["kind"]: row["n"] for row in run.rows("errors")}
    kinds = [_kind(*kind, counted.get(kind[0]), texts) for kind in _kinds(marked)]
    return parts.section("errors", title, intro, _about_text(texts), *kinds)


def _about_text(texts: Texts | None) -> parts.Part:
    if texts is None:
        said = "Document text is left out. `probative report RUN --show-text --corpus PATH` shows it on this page."
        return parts.note(said)
    return parts.note("This page contains document text. Keep it where the documents may be kept.", "warn")


def _marked(table: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    has = pl.col("gold_uids") != "[]"
    if "has_evidence" in table.columns:
        has = pl.col("has_evidence") == 1
    state = pl.col("state") if "state" in table.columns else pl.lit(None, dtype=pl.String)
    cut = pl.col("threshold") if "threshold" in table.columns else pl.lit(0.5)
    predicted = pl.col("predicted") == 1 if "predicted" in table.columns else pl.col("prob") >= cut
    return table.with_columns(
        has.alias("_has"), state.alias("state"), predicted.fill_null(value=False).alias("_predicted"), cut.alias("_cut")
    )


def _kinds(table: pl.DataFrame) -> Iterator[tuple[str, str, str, pl.DataFrame]]:
    import polars as pl

    by_state = table["state"].null_count() < table.height
    missed = pl.col("state") == "NEG" if by_state else ~pl.col("_predicted")
    alarmed = pl.col("state") == "POS" if by_state else pl.col("_predicted")
    ties = ["doc_id", "criterion_id"]
    yield (
        "misses",
        "Confident misses",
        "There is evidence, and the query was set aside.",
        table.filter(pl.col("_has") & missed).sort("prob", *ties),
    )
    yield (
        "alarms",
        "False alarms",
        "There is no evidence, and an alert was raised.",
        table.filter(~pl.col("_has") & alarmed).sort("prob", *ties, descending=[True, False, False]),
    )
    right = (pl.col("state") == "UNCERTAIN") & (pl.col("_predicted") == pl.col("_has"))
    far = (pl.col("prob") - pl.col("_cut")).abs()
    if by_state:
        yield (
            "needless",
            "Needless UNCERTAIN",
            "The operating threshold alone would have been right, by a wide margin, yet a person has to look.",
            table.filter(right).sort(far, *ties, descending=[True, False, False], nulls_last=True),
        )


def _kind(name: str, title: str, why: str, found: pl.DataFrame, count: int | None, texts: Texts | None) -> parts.Part:
    rows = list(found.head(SHOWN).iter_rows(named=True))
    label = title if count is None else f"{title} ({words.count(count)})"
    if not rows:
        return {"kind": "group", "parts": [parts.heading(label), parts.text("None.")]}
    table = parts.table(f"errors_{name}", why, HEAD, [_cells(row) for row in rows])
    shown = [parts.heading(label), table]
    if texts is not None:
        shown += [_case(row, texts) for row in rows]
    return {"kind": "group", "parts": shown}


def _list(row: dict[str, Any], column: str) -> list[str]:
    return list(json.loads(row.get(column) or "[]"))


def _shown(row: dict[str, Any]) -> list[str]:
    column = next((c for c in ("selected_triage", "selected_gate", "selected_raw") if row.get(c) is not None), "")
    return _list(row, column)


def _cells(row: dict[str, Any]) -> list[parts.Cell]:
    ranked, gold, shown = _list(row, "ranked_uids"), set(_list(row, "gold_uids")), _shown(row)
    first = next((place for place, uid in enumerate(ranked, start=1) if uid in gold), None)
    return [
        str(row["doc_id"]),
        str(row["criterion_id"]),
        parts.cell(words.chance(row["prob"]), sort=row["prob"]),
        row["state"] or words.NONE,
        words.number(row["_cut"], 2),
        parts.cell(words.count(first), sort=first),
        f"{len(gold & set(shown))} of {len(gold)}" if gold else words.NONE,
        words.count(len(shown)),
        words.count(row.get("n_candidates") or len(ranked)),
    ]


def _case(row: dict[str, Any], texts: Texts) -> parts.Part:
    """The document around gold and shown sentences."""
    gold, shown = set(_list(row, "gold_uids")), set(_shown(row))
    sentences = texts.sentences(str(row["doc_id"]))
    wanted = gold | shown or set(_list(row, "ranked_uids")[:3])
    near = {
        place + step for place, (uid, _) in enumerate(sentences) if uid in wanted for step in range(-AROUND, AROUND + 1)
    }
    lines = []
    before = -1
    for place in sorted(place for place in near if 0 <= place < len(sentences)):
        uid, text = sentences[place]
        lines.append(
            {"gap": place > before + 1, "text": texts.cut(text), "gold": uid in gold, "shown": uid in shown, "uid": uid}
        )
        before = place
    return {
        "kind": "case",
        "title": f"{row['doc_id']} · {row['criterion_id']}",
        "question": texts.criterion(str(row["criterion_id"])),
        "lines": lines,
        "more": before < len(sentences) - 1,
    }
