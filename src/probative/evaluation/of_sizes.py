"""Contract §5's numbers of sentences shown, for every population."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from probative.evaluation.cut import Cut, Population, spreads
from probative.evaluation.predictions import STATES, Selection
from probative.evaluation.totals import Array, Fact, Key, Totals
from probative.metrics import extraction
from probative.segments import FloatArray, IntArray

NAMES = ("k_mean", "k_std", *extraction.QUANTILES)


def add(cut: Cut, totals: Totals, mode: str, selection: Selection) -> None:
    """Mean, spread and quantiles of the sizes, from one histogram a group of queries.

    A group is evidence or not, in one state: every population is a union of groups, so no query is counted twice.
    """
    size = selection.size[cut.rows].astype(np.float64)
    state = np.zeros(len(size), dtype=np.int64) if cut.predictions.state is None else cut.predictions.state[cut.rows]
    group = 2 * state + cut.positive
    distinct = np.unique(size[cut.known.rows])
    bars: list[tuple[int, int, str]] = []
    for number in range(2 * len(STATES)):
        rows = cut.known.rows[group[cut.known.rows] == number]
        for place in np.unique(np.searchsorted(distinct, size[rows])):
            chosen = rows[size[rows] == distinct[place]]
            bars.append((number, int(place), totals.column(f"k={place}:{number}:{mode}", 1.0, chosen)))
    populations = _populations(cut, group)
    keys = [Key(name, population.name, mode) for population, _ in populations for name in NAMES]
    facts = [fact for population, _ in populations for fact in _facts(population, size[population.rows])]

    def shape(sums: Mapping[str, Array]) -> Array:
        histogram = np.zeros((2 * len(STATES), len(distinct), len(sums["n"])), dtype=sums["n"].dtype)
        for number, place, column in bars:
            histogram[number, place] = sums[column]
        side_by_side = np.concatenate([histogram[groups].sum(axis=0) for _, groups in populations], axis=1)
        found = _shape(side_by_side, distinct).reshape(len(NAMES), len(populations), -1)
        return np.asarray(found.swapaxes(0, 1).reshape(len(keys), -1))

    totals.finish(keys, facts, shape)
    for population, _ in populations:
        _ends(totals, Key("", population.name, mode), population, size[population.rows])


def _populations(cut: Cut, group: IntArray) -> list[tuple[Population, list[int]]]:
    """Every population with the groups that it is made of."""
    everything, without, within = [0, 1, 2, 3, 4, 5], [0, 2, 4], [1, 3, 5]
    found = [(cut.known, everything), (cut.with_gold, within), (cut.without, without)]
    if cut.predictions.state is not None:
        known = cut.located | ~cut.positive
        for number, name in enumerate(STATES):
            inside = known & (group // 2 == number)
            population = cut.population(f"state:{name}", "", inside, f"no query is {name}")
            found.append((population, [2 * number, 2 * number + 1]))
    return found


def _shape(counts: Array, sizes: FloatArray) -> FloatArray:
    """(6, b) mean, standard deviation and quantiles of weighted histograms."""
    if not len(sizes):
        return np.full((len(NAMES), counts.shape[1]), np.nan)
    # Double precision: where nearly all sizes are equal, the variance is a small difference of large sums.
    n, total, square = np.stack([np.ones(len(sizes)), sizes, sizes**2]) @ counts
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / n  # 0 / 0 is NaN: nothing to show
        std = np.sqrt(np.maximum(square / n - mean**2, 0))
    return np.vstack([mean, std, extraction.quantiles(counts, sizes, list(extraction.QUANTILES.values()))])


def _facts(population: Population, size: FloatArray) -> list[Fact]:
    facts = [_fact(population) for _ in NAMES]
    facts[0].spread = spreads(size[None])[0]
    if len(size):
        facts[1].exact = float(size.std())
    return facts


def _ends(totals: Totals, key: Key, population: Population, size: FloatArray) -> None:
    """k_min and k_max, which have no interval."""
    facts = [_fact(population), _fact(population)]
    for fact, value in zip(facts, (size.min(), size.max()) if len(size) else (np.nan, np.nan), strict=True):
        fact.interval, fact.exact = False, float(value)
    keys = [key._replace(id="k_min"), key._replace(id="k_max")]
    totals.finish(keys, facts, lambda sums: np.full((2, len(sums["n"])), np.nan))


def _fact(population: Population) -> Fact:
    return Fact(n=population.n, n_docs=population.n_docs, empty=population.empty)
