"""The scalar columns of a query: fold, probabilities, thresholds, decision and state; typed, defaulted and checked."""

from __future__ import annotations

import numpy as np
import polars as pl

from probative.evaluation.predictions import NEG, POS, STATES, UNCERTAIN
from probative.segments import BoolArray, FloatArray, IntArray

from .problems import Problems
from .tables import ROW, Table

PROBABILITIES = ("prob", "prob_raw", "prior")
LIMITS = ("threshold", "tau_neg", "tau_pos")
BUDGET = "threshold@fpr="
DEFAULT_THRESHOLD = 0.5


def read_decisions(source: Table, problems: Problems) -> pl.DataFrame:
    """Doc, criterion and row of every query, with those of the scalar columns that the table has or implies."""
    columns: dict[str, pl.Series] = {name: source.frame[name] for name in (ROW, "doc_id", "criterion_id")}
    for name in PROBABILITIES:
        if filled(source, name):
            columns[name] = pl.Series(_probability(source, name, problems))
    for name in (*LIMITS, *(name for name in source.frame.columns if name.startswith(BUDGET))):
        if filled(source, name) or (name.startswith(BUDGET) and source.has(name)):
            columns[name] = pl.Series(_number(source, name, problems))
    if filled(source, "fold"):
        columns["fold"] = pl.Series(whole(source, "fold", problems))
        _check_folds(source, columns["fold"], problems)
    if filled(source, "predicted"):
        columns["predicted"] = pl.Series(flag(source, "predicted", problems))
    if filled(source, "state"):
        columns["state"] = pl.Series(_state(source, problems))
    _decide(source, columns, problems)
    return pl.DataFrame(columns)


def filled(source: Table, name: str) -> bool:
    """Whether a column is there and says anything."""
    if not source.has(name):
        return False
    column = source.frame[name]
    empty = column.null_count()
    if column.dtype == pl.String:
        empty += int((column == "").sum() or 0)
    return empty < len(column) or not len(column)


def _where(source: Table, i: int) -> str:
    doc, criterion = source.frame.select("doc_id", "criterion_id").row(i)
    return f"document {doc!r}, criterion {criterion!r}"


def note(
    source: Table, bad: BoolArray, problems: Problems, text: str, *values: FloatArray | IntArray | pl.Series
) -> None:
    """Note a problem for every marked row; `{}` in the text stand for the values of the row."""
    at = np.flatnonzero(bad)
    problems.add(
        source.origin,
        source.rows[at],
        lambda i: f"{text.format(*(value[int(at[i])] for value in values))} ({_where(source, int(at[i]))})",
    )


def _number(source: Table, name: str, problems: Problems) -> FloatArray:
    """Numbers, NaN where the cell is empty."""
    column = source.frame[name]
    if column.dtype == pl.String:
        column = column.str.strip_chars().replace("", None)
    numbers = column.cast(pl.Float64, strict=False)
    broken = (numbers.is_null() & column.is_not_null()).to_numpy()
    note(source, broken, problems, f"{name} is {{!r}}, not a number", column)
    return numbers.fill_null(float("nan")).to_numpy()


def _probability(source: Table, name: str, problems: Problems) -> FloatArray:
    before = source.frame[name].cast(pl.String, strict=False).fill_null("").str.strip_chars()
    values = _number(source, name, problems)
    missing = np.isnan(values) & (before.str.to_lowercase().is_in(["", "nan"])).to_numpy()
    note(source, missing, problems, f"{name} is missing (NaN); give every query one or leave the column out")
    outside = (values < 0) | (values > 1)
    note(source, outside, problems, f"{name} {{}} is outside [0, 1]; put logits through a sigmoid first", values)
    return values


def whole(source: Table, name: str, problems: Problems) -> IntArray:
    """Whole numbers; an empty cell is a problem."""
    values = _number(source, name, problems)
    wrong = ~(np.isfinite(values) & (values == np.floor(values)))
    note(source, wrong, problems, f"{name} must be a whole number, not {{!r}}", source.frame[name])
    return np.where(wrong, 0, values).astype(np.int64)


def flag(source: Table, name: str, problems: Problems) -> BoolArray:
    """0/1 or true/false; anything else is a problem."""
    text = source.frame[name].cast(pl.String, strict=False).fill_null("").str.strip_chars().str.to_lowercase()
    yes = text.is_in(["1", "1.0", "true"]).to_numpy()
    no = text.is_in(["0", "0.0", "false"]).to_numpy()
    note(source, ~(yes | no), problems, f"{name} must be 0 or 1, not {{!r}}", text)
    return yes


def _state(source: Table, problems: Problems) -> IntArray:
    text = source.frame["state"].cast(pl.String, strict=False).fill_null("").str.strip_chars()
    known = {name: code for code, name in enumerate(STATES)}
    codes = text.replace_strict(known, default=-1, return_dtype=pl.Int64).to_numpy()
    note(source, codes < 0, problems, f"state {{!r}} is unknown; the states are {', '.join(STATES)}", text)
    return codes


def _check_folds(source: Table, fold: pl.Series, problems: Problems) -> None:
    frame = source.frame.select(ROW, "doc_id").with_columns(fold.alias("fold"))
    first = pl.col("fold").sort_by(ROW).first().over("doc_id")
    stray = frame.with_columns(first.alias("first")).with_row_index("at").filter(pl.col("fold") != pl.col("first"))
    problems.add(
        source.origin,
        stray[ROW].to_numpy(),
        lambda i: "document {!r} is in fold {} here and in fold {} above; a document belongs to one fold.".format(
            *stray.select("doc_id", "fold", "first").row(i)
        ),
    )


def _decide(source: Table, columns: dict[str, pl.Series], problems: Problems) -> None:
    """Fill in `predicted` and `state` where they follow, and note those that contradict their thresholds."""
    if "prob" not in columns:
        return
    prob = columns["prob"].to_numpy()
    known = ~np.isnan(prob)
    if "threshold" in columns or "predicted" not in columns:
        limit = columns["threshold"].to_numpy() if "threshold" in columns else np.full(len(prob), DEFAULT_THRESHOLD)
        implied = prob >= limit
        if "predicted" in columns:
            given = columns["predicted"].to_numpy()
            text = "predicted {:d} contradicts prob {} against threshold {}"
            note(source, known & (given != implied), problems, text, given, prob, limit)
        else:
            columns["predicted"] = pl.Series(implied)
    if "tau_neg" in columns and "tau_pos" in columns:
        _triage(source, columns, prob, known, problems)


def _triage(
    source: Table, columns: dict[str, pl.Series], prob: FloatArray, known: BoolArray, problems: Problems
) -> None:
    low, high = columns["tau_neg"].to_numpy(), columns["tau_pos"].to_numpy()
    note(source, low > high, problems, "tau_neg {} is above tau_pos {}", low, high)
    implied = np.where(prob < low, NEG, np.where(prob >= high, POS, UNCERTAIN)).astype(np.int64)
    if "state" not in columns:
        columns["state"] = pl.Series(implied)
        return
    given = columns["state"].to_numpy()
    wrong = known & (given >= 0) & (given != implied) & ~(low > high)
    names = pl.Series([STATES[max(code, 0)] for code in given[wrong]])
    spread = np.cumsum(wrong) - 1
    at = np.flatnonzero(wrong)
    problems.add(
        source.origin,
        source.rows[at],
        lambda i: (
            f"state {names[int(spread[at[i]])]} contradicts prob {prob[at[i]]} with tau_neg {low[at[i]]} and "
            f"tau_pos {high[at[i]]}, which give {STATES[implied[at[i]]]} ({_where(source, int(at[i]))})"
        ),
    )
