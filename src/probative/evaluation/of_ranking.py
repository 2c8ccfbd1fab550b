"""Contract §2 in a scope."""

from __future__ import annotations

import numpy as np

from probative.evaluation.cut import Cut, mean, spreads
from probative.evaluation.totals import Key, Totals


def add(cut: Cut, totals: Totals) -> None:
    """Every ranking metric over queries with gold, and over all queries."""
    place = np.searchsorted(cut.prepared.located, cut.rows[cut.located])
    values = {name: column[place] for name, column in cut.prepared.ranking.items()}
    table = np.stack(list(values.values()))
    binary = ((table == 0) | (table == 1)).all(axis=1)
    zeros = cut.known.n - cut.with_gold.n
    among_positives, among_all = spreads(table), spreads(table, zeros)
    for row, (name, column) in enumerate(values.items()):
        totals.column(name, column, cut.with_gold.rows)
        for population, spread in ((cut.with_gold, among_positives[row]), (cut.known, among_all[row])):
            mean(totals, Key(name, population.name), name, population, binary=bool(binary[row]), spread=spread)
