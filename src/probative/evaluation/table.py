"""metrics_master as text for a terminal: every row with its id, value, std, interval, n and population."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from probative.errors import ConfigError
from probative.evaluation.predictions import MODES
from probative.evaluation.records import MetricsMaster, Record
from probative.metrics import registry

if TYPE_CHECKING:
    from rich.text import Text

PRIMARY = ("3", "5", "10")
SECOND = ("mrr", "recall@10", "precision@10", "hit@10", "map@10", "ndcg@10")
"""What the all-queries half of the ranking table shows."""
SUMMARY = (
    *("ndcg@10", "recall@10", "mrr", "map@10", "auroc", "auprc", "tpr@fpr=0.05", "brier", "ece", "evidence_recall"),
    *("evidence_precision", "screening_sensitivity", "screening_fn_per_1000", "alert_precision"),
)
"""The headline few."""
BESIDE = {
    *("auroc_within", "sensitivity", "specificity", "precision", "f1", "mcc", "brier_skill", "k_mean"),
    *("deploy_precision", "deploy_recall", "deploy_f1", "neg_rate", "uncertain_rate", "pos_rate", "exact_match"),
}
"""Shown although another reading, or none, is the default of their table."""
STEPS = ("recall@10", "mrr", "ndcg@10")
"""Shown for the stages before the final one too."""
PRIOR = ("auroc", "auprc", "brier", "ece")
ABOUT = {"n_queries", "n_positive", "positive_rate"}
POPULATIONS = {"positives_only": "positives only", "all_queries": "all queries; an empty gold scores 0"}
MIN_WIDTH = 72
HEAD = ("id", "value", "std", "95 % interval ", "n", "population")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Which records are shown, and how."""

    everything: bool = False
    brief: bool = False
    """The headline few and nothing around them."""
    explain: bool = False
    criteria: str = "all"
    scopes: tuple[str, ...] = ("pooled",)
    """Patterns: `pooled`, `fold_mean`, `criterion:*`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Rows under one heading."""

    section: str
    heading: str
    rows: tuple[Record, ...]


def render(master: MetricsMaster, view: View, width: int) -> Text:
    """The whole table. Its plain text holds everything; colour only repeats what the words say."""
    from rich.text import Text

    width = max(width, MIN_WIDTH)
    text = Text()
    for line in _about(master, view):
        _wrapped(text, line, width)
    shown = list(blocks(master, view))
    widths = _widths([row for block in shown for row in block.rows])
    for block in shown:
        text.append(f"\n{block.section}", style="bold")
        text.append(f" · {block.heading}\n" if block.heading else "\n")
        _rows(text, block, widths, view, width)
    if not view.brief:
        _targets(text, master, view)
        _not_computed(text, master, width)
    _legend(text, [row for block in shown for row in block.rows], width)
    return text


def blocks(master: MetricsMaster, view: View) -> Iterator[Block]:
    """The shown records in the contract's order, grouped by scope, section and, for ranking, population."""
    shown = [record for record in master.metrics if _shown(record, view, master)]
    order = {entry.id: place for place, entry in enumerate(registry.ENTRIES)}
    for scope in dict.fromkeys(record["scope"] for record in shown):
        found: dict[tuple[str, str], list[Record]] = {}
        for record in shown:
            if record["scope"] == scope:
                entry = registry.lookup(record["id"])
                split = record["population"] if entry.section.startswith("2 ") else record.get("mode") or ""
                found.setdefault((entry.section, split), []).append(record)
        for section, split in sorted(found, key=lambda key: (key[0], _split_order(key[1]))):
            rows = sorted(found[section, split], key=lambda record: _row_order(record, order))
            title = section.partition(" ")[2] or section
            small = "fewer than 20 positives" if any(row.get("small") for row in rows) else ""
            heading = ", ".join(filter(None, (scope if scope != "pooled" else "", _heading(split), small)))
            yield Block(section=title.upper(), heading=heading, rows=tuple(rows))


def _split_order(split: str) -> int:
    return 0 if split in ("", "positives_only", "triage") else 1


def _heading(split: str) -> str:
    return POPULATIONS.get(split, f"mode {split}" if split else "")


def _row_order(record: Record, order: Mapping[str, int]) -> tuple[int, float, str]:
    family, at, parameter = record["id"].partition("@")
    pattern = next((p for p in (record["id"], f"{family}@K", f"{family}@fpr=α") if p in order), "")
    number = parameter.removeprefix("fpr=").removeprefix("p=")
    cutoff = float("inf") if number == "all" else float(number or 0) if at else 0.0
    return order.get(pattern, len(order)), cutoff, record.get("stage", "final")


def check_view(master: MetricsMaster, view: View) -> None:
    """Refuse a view that would show nothing, and say what there is."""
    records = [record for record in master.metrics if record.get("criteria", "all") == view.criteria]
    if not records:
        raise ConfigError(f"--criteria {view.criteria}: no criterion was excluded from training; leave the option out.")
    scopes = dict.fromkeys(record["scope"] for record in records)
    for pattern in view.scopes:
        if not any(_named(scope, pattern) for scope in scopes):
            kinds = dict.fromkeys(f"{scope.partition(':')[0]}:*" if ":" in scope else scope for scope in scopes)
            raise ConfigError(f"--scope {pattern}: there is no such scope. There are {', '.join(kinds)}.")


def _named(scope: str, pattern: str) -> bool:
    return scope == pattern or fnmatchcase(scope, pattern)


def _shown(record: Record, view: View, master: MetricsMaster) -> bool:
    if record.get("criteria", "all") != view.criteria:
        return False
    if not any(_named(record["scope"], pattern) for pattern in view.scopes):
        return False
    stage = record.get("stage", "final")
    if view.everything:
        return True
    if record["id"] in ABOUT:
        return False
    if view.brief and (record["id"] not in SUMMARY or not record["default"] or stage != "final"):
        return False
    if stage == "prior":
        return record["id"] in PRIOR
    if stage != "final":
        return record["id"] in STEPS and record["population"] == registry.lookup(record["id"]).population
    return _is_headline(record, master)


def _is_headline(record: Record, master: MetricsMaster) -> bool:
    entry = registry.lookup(record["id"])
    if not entry.default and record["id"] not in BESIDE:
        return False
    cutoff = record["id"].partition("@")[2]
    if entry.section.startswith("2 ") and record["population"] != entry.population:
        return record["id"] in SECOND
    if record["population"] != entry.population or (entry.section.startswith("2 ") and cutoff not in ("", *PRIMARY)):
        return False
    return not entry.by_mode or record.get("mode") == headline_mode(master)


def headline_mode(master: MetricsMaster) -> str | None:
    """triage, or what comes nearest to it."""
    present = {record.get("mode") for record in master.metrics}
    return next((mode for mode in reversed(MODES) if mode in present), None)


def number(value: float | int | None, *, count: bool = False, digits: int = 4) -> str:
    """A value as the tables print it; – where there is none."""
    if value is None:
        return "–"
    if count and float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:.{digits}f}" if abs(value) < 10 else f"{value:,.1f}"


def interval(record: Record, *, count: bool = False) -> str:
    """The interval; * marks Clopper–Pearson."""
    if record.get("ci_low") is None:
        return ""
    low, high = (number(record[name], count=count, digits=3) for name in ("ci_low", "ci_high"))
    return f"[{low}, {high}]{_mark(record)}"


def _mark(record: Record) -> str:
    return "*" if (record.get("ci_method") or "").startswith("clopper_pearson") else " "


def cells(record: Record) -> tuple[str, str, str, str, str, str]:
    """id, value, std, interval, n and population of one record."""
    count = registry.lookup(record["id"]).high is None
    std = next((record[name] for name in ("std", "std_sample") if record.get(name) is not None), None)
    stage = record.get("stage", "final")
    label = record["id"] if stage == "final" else f"{record['id']} ({stage})"
    return (
        label,
        number(record["value"], count=count),
        "" if std is None else number(std),
        interval(record, count=count),
        f"{record['n']:,}",
        record["population"],
    )


def _widths(shown: Sequence[Record]) -> list[int]:
    return [max(len(row[i]) for row in (HEAD, *map(cells, shown))) for i in range(5)]


def _rows(text: Text, block: Block, widths: Sequence[int], view: View, width: int) -> None:
    text.append(f" {_line(HEAD, widths)}\n", style="dim")
    for record in block.rows:
        text.append(f" {_line(cells(record), widths)}\n")
        if record["reason"]:
            _wrapped(text, f"({record['reason']})", width, indent=6, style="dim")
        if record.get("note"):
            _wrapped(text, f"({record['note']})", width, indent=6, style="dim")
        if view.explain:
            _wrapped(text, registry.lookup(record["id"]).interpretation, width, indent=6, style="italic")


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    name, value, std, inside, n = (
        cell.rjust(size) if place else cell.ljust(size)
        for place, (cell, size) in enumerate(zip(row, widths, strict=False))
    )
    return f"{name}  {value}  {std}  {inside} {n}  {row[5]}"


def _wrapped(text: Text, line: str, width: int, indent: int = 0, style: str = "") -> None:
    pad = " " * indent
    for piece in textwrap.wrap(line, width, initial_indent=pad, subsequent_indent=pad) or [""]:
        text.append(f"{piece}\n", style=style)


def _about(master: MetricsMaster, view: View) -> Iterator[str]:
    meta = master.meta
    record = master.get("n_queries", criteria=view.criteria)
    positive = master.value("n_positive", criteria=view.criteria)
    rate = master.value("positive_rate", criteria=view.criteria)
    if record is not None and record["value"] is not None and positive is not None and rate is not None:
        said = f"{record['value']:,.0f} queries in {record['n_docs']:,} documents; {positive:,.0f} have evidence"
        yield f"{said} ({rate:.1%})." + (" Trained criteria only." if view.criteria == "trained" else "")
    if meta.get("n_unlabelled"):
        yield f"{meta['n_unlabelled']:,} unlabelled queries are not scored."
    yield _resampling(meta.get("bootstrap"))
    yield from meta.get("flags", ())


def _resampling(drawn: Mapping[str, Any] | None) -> str:
    if not drawn:
        return "No intervals were asked for."
    folds = " within folds" if drawn["within_folds"] else ""
    return (
        f"95 % intervals: {drawn['resamples']:,} resamples of {drawn['unit']}{folds}, seed {drawn['seed']}. "
        f"{drawn['note']}"
    )


def _targets(text: Text, master: MetricsMaster, view: View) -> None:
    found = list(targets(master, view.criteria))
    if not found or "pooled" not in view.scopes:
        return
    text.append("\nTARGETS\n", style="bold")
    wide = max(len(record["id"]) for record, _, _ in found)
    for record, target, met in found:
        verdict = "met" if met else "not met"
        line = f"  {record['id'].ljust(wide)}  {number(record['value']):>7}  {target:<9} "
        text.append(line)
        text.append(f"{verdict}\n", style="green" if met else "red")


def targets(master: MetricsMaster, criteria: str = "all") -> Iterator[tuple[Record, str, bool]]:
    """Every headline record that has a target, the target, and whether it is met."""
    mode = headline_mode(master)
    for entry in registry.ENTRIES:
        if entry.target is None:
            continue
        record = master.get(
            entry.id, population=entry.population, mode=mode if entry.by_mode else None, criteria=criteria
        )
        if record is not None and record["value"] is not None and not record["reason"]:
            yield record, str(entry.target), entry.target.met(record["value"])


def _not_computed(text: Text, master: MetricsMaster, width: int) -> None:
    missing = list(not_computed(master))
    if not missing:
        return
    text.append("\nNOT COMPUTED\n", style="bold")
    for columns, ids in missing:
        _wrapped(text, f"{', '.join(ids)}: needs {columns}", width, indent=2)


def not_computed(master: MetricsMaster) -> Iterable[tuple[str, list[str]]]:
    """The missing column and the metrics that wait for it."""
    grouped: dict[str, list[str]] = {}
    for item in master.meta.get("not_computed", ()):
        grouped.setdefault(item["missing"], []).extend(item["ids"])
    return grouped.items()


def _legend(text: Text, shown: Sequence[Record], width: int) -> None:
    said = []
    if any(_mark(record) == "*" for record in shown):
        said.append("* Clopper–Pearson on the effective number of documents: too near 0 or 1 to resample.")
    if any(record.get("dropped") for record in shown):
        said.append("Resamples in which a metric is undefined are dropped; --json counts them.")
    if said:
        text.append("\n")
        _wrapped(text, " ".join(said), width, style="dim")
