"""Contract §§5 and 6 in a scope: what is shown, in every mode."""

from __future__ import annotations

import numpy as np

from probative.evaluation import of_sizes
from probative.evaluation.cut import Cut, Population, mean, spreads
from probative.evaluation.predictions import Selection
from probative.evaluation.totals import Fact, Key, Totals
from probative.metrics import extraction
from probative.segments import BoolArray, IntArray


def add(cut: Cut, totals: Totals) -> None:
    """Every mode that has selections."""
    for mode, selection in cut.predictions.selections.items():
        _evidence(cut, totals, mode, selection)
        of_sizes.add(cut, totals, mode, selection)
        _size_of_passed(cut, totals, mode, selection)
        _deployment(cut, totals, mode, selection)


def passed(cut: Cut, mode: str) -> BoolArray | None:
    """Queries that the gate (raw, gate) or the triage let through."""
    p = cut.predictions
    if mode == "triage":
        return None if p.state is None else p.state[cut.rows] != 0
    return None if p.predicted is None else p.predicted[cut.rows]


def _evidence(cut: Cut, totals: Totals, mode: str, selection: Selection) -> None:
    size, hits = selection.size[cut.rows], selection.hits[cut.rows]
    gold = cut.prepared.gold_size[cut.rows]
    for population, columns in (
        (
            cut.with_gold,
            {
                "evidence_recall": extraction.recall(hits, gold),
                "evidence_precision": extraction.precision(hits, size),
                "evidence_f1": extraction.f1(hits, size, gold),
            },
        ),
        (
            cut.known,
            {
                "evidence_recall_all": extraction.recall_all(hits, size, gold),
                "evidence_precision_all": extraction.precision_all(hits, size, gold),
            },
        ),
    ):
        table = np.stack(list(columns.values()))[:, population.rows]
        for (name, _), values, spread in zip(columns.items(), table, spreads(table), strict=True):
            column = totals.column(f"{name}:{mode}", values, population.rows)
            binary = bool(np.all((values == 0) | (values == 1)))
            mean(totals, Key(name, population.name, mode), column, population, binary=binary, spread=spread)
    _micro(cut, totals, mode, hits, gold)


def _micro(cut: Cut, totals: Totals, mode: str, hits: IntArray, gold: IntArray) -> None:
    population = cut.with_gold
    over = (totals.column(f"hits:{mode}", hits), totals.column(f"gold:{mode}", gold))
    key = Key("evidence_recall_micro", population.name, mode)
    totals.proportion(key, _fact(population), over)
    through = passed(cut, mode)
    if through is None:
        return
    chosen = cut.population("passed_positives", "", cut.located & through, "no query with gold passed")
    over = (
        totals.column(f"hits_passed:{mode}", hits[chosen.rows], chosen.rows),
        totals.column(f"gold_passed:{mode}", gold[chosen.rows], chosen.rows),
    )
    totals.proportion(Key("evidence_recall_micro_passed", chosen.name, mode), _fact(chosen), over)


def _size_of_passed(cut: Cut, totals: Totals, mode: str, selection: Selection) -> None:
    through = passed(cut, mode)
    if through is None:
        return
    inside = (cut.located | ~cut.positive) & through
    size = selection.size[cut.rows].astype(np.float64)
    column = totals.column(f"n_passed:{mode}", inside)
    chosen = cut.population("passed_queries", column, inside, "no query passed")
    name = totals.column(f"k_passed:{mode}", size[chosen.rows], chosen.rows)
    spread = spreads(size[chosen.rows][None])[0]
    mean(totals, Key("k_mean_passed", chosen.name, mode), name, chosen, binary=False, spread=spread)


def _deployment(cut: Cut, totals: Totals, mode: str, selection: Selection) -> None:
    shown, y, name = selection.size[cut.rows] > 0, cut.positive, cut.every.name
    parts = {"tp": shown & y, "fp": shown & ~y, "tn": ~shown & ~y, "fn": ~shown & y}
    for part, values in parts.items():
        column = totals.column(f"deploy_{part}:{mode}", values)
        totals.ratio(Key(f"deploy_{part}", name, mode), _fact(cut.every), (column, None))
    any_shown = totals.column(f"deploy_shown:{mode}", shown)
    twice = totals.column(f"deploy_2tp:{mode}", 2.0 * parts["tp"])
    either = totals.column(f"deploy_either:{mode}", 1.0 * y + shown)
    for metric, top, bottom, empty in (
        ("deploy_fpr", "fp", "n_negative", "no query without evidence"),
        ("deploy_fnr", "fn", "n_positive", "no query with evidence"),
        ("deploy_precision", "tp", any_shown, "nothing is shown"),
        ("deploy_recall", "tp", "n_positive", "no query with evidence"),
    ):
        fact = Fact(n=cut.every.n, n_docs=cut.every.n_docs, empty=empty)
        totals.proportion(Key(metric, name, mode), fact, (f"deploy_{top}:{mode}", bottom))
    fact = Fact(n=cut.every.n, n_docs=cut.every.n_docs, empty="no query has evidence and none is shown")
    totals.ratio(Key("deploy_f1", name, mode), fact, (twice, either))


def _fact(population: Population) -> Fact:
    return Fact(n=population.n, n_docs=population.n_docs, empty=population.empty)
